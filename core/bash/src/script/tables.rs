//! The languages, and which of their calls do what a shell command would.

use super::languages;
use super::lexer::Style;

/// What a call comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Effect {
    /// The first argument is shell text, or a list of words.
    Shell,
    /// The arguments are a program and its words, lists opened.
    Words,
    /// These words, then so many of the arguments.
    Becomes(&'static [&'static str], usize),
    /// `rm`, recursive when the options say so.
    Remove,
    /// Writes the file that is the first argument.
    Write,
    Append,
    /// Reads the file that is the first argument.
    Read,
    /// Opens a file: writes it when the mode says so, reads it otherwise.
    Open,
    /// A method whose first argument is SQL; the receiver is the database, where it is known.
    Sql,
    /// A process and a signal, or the other way round.
    Kill,
    SignalFirst,
    /// The first argument is code of the same language.
    Code,
}

pub(super) struct Language {
    pub(super) name: &'static str,
    pub(super) style: Style,
    /// Options whose value is code.
    pub(super) inline: &'static [&'static str],
    /// Other options that take a value.
    pub(super) valued: &'static [&'static str],
    /// Calls may stand without parentheses.
    pub(super) bare: bool,
    /// Functions, by their full name.
    pub(super) calls: &'static [(&'static str, Effect)],
    /// Methods of a path, by name: the receiver is the first argument.
    pub(super) methods: &'static [(&'static str, Effect)],
}

pub(super) const RM: Effect = Effect::Becomes(&["rm"], 1);
pub(super) const RM_RF: Effect = Effect::Becomes(&["rm", "-rf"], 1);
pub(super) const RMDIR: Effect = Effect::Becomes(&["rmdir"], 1);
pub(super) const MV: Effect = Effect::Becomes(&["mv"], 2);
pub(super) const CP: Effect = Effect::Becomes(&["cp"], 2);
const HTTP_DELETE: Effect = Effect::Becomes(&["curl", "-X", "DELETE"], 1);
const FLUSHALL: Effect = Effect::Becomes(&["redis-cli", "FLUSHALL"], 0);
const DROP_DATABASE: Effect = Effect::Becomes(&["mongosh", "--eval", "db.dropDatabase()"], 0);

pub(super) const SCRIPTS: Style = Style {
    hash_comments: true,
    slash_comments: false,
    lines: true,
    backquote_runs: true,
    sigils: false,
    q_quotes: false,
    prefixes: false,
    interpolates: true,
    patterns: true,
};

static PYTHON: Language = Language {
    name: "python",
    style: Style { backquote_runs: false, prefixes: true, interpolates: false, patterns: false, ..SCRIPTS },
    inline: &["-c"],
    valued: &["-W", "-X", "-m"],
    bare: false,
    calls: &[
        ("os.system", Effect::Shell),
        ("os.popen", Effect::Shell),
        ("subprocess.run", Effect::Shell),
        ("subprocess.call", Effect::Shell),
        ("subprocess.check_call", Effect::Shell),
        ("subprocess.check_output", Effect::Shell),
        ("subprocess.Popen", Effect::Shell),
        ("subprocess.getoutput", Effect::Shell),
        ("subprocess.getstatusoutput", Effect::Shell),
        ("asyncio.create_subprocess_shell", Effect::Shell),
        ("asyncio.create_subprocess_exec", Effect::Words),
        ("commands.getoutput", Effect::Shell),
        ("pty.spawn", Effect::Shell),
        ("pexpect.run", Effect::Shell),
        ("pexpect.spawn", Effect::Shell),
        ("pexpect.spawnu", Effect::Shell),
        ("os.posix_spawnp", Effect::Words),
        ("os.link", Effect::Becomes(&["ln"], 2)),
        ("os.execv", Effect::Words),
        ("os.execvp", Effect::Words),
        ("os.execl", Effect::Words),
        ("os.execlp", Effect::Words),
        ("os.remove", RM),
        ("os.unlink", RM),
        ("os.rmdir", RMDIR),
        ("os.removedirs", RMDIR),
        ("shutil.rmtree", RM_RF),
        ("shutil.move", MV),
        ("shutil.copy", CP),
        ("shutil.copy2", CP),
        ("shutil.copyfile", CP),
        ("shutil.copytree", Effect::Becomes(&["cp", "-r"], 2)),
        ("shutil.chown", Effect::Becomes(&["chown"], 1)),
        ("os.rename", MV),
        ("os.replace", MV),
        ("os.symlink", Effect::Becomes(&["ln", "-s"], 2)),
        ("os.kill", Effect::Kill),
        ("os.killpg", Effect::Kill),
        // A connection put in the place of the standard input.
        ("os.dup2", Effect::Becomes(&["nc", "-e", "sh"], 0)),
        ("os.truncate", Effect::Write),
        ("os.chmod", Effect::Becomes(&["chmod", "?"], 1)),
        ("os.chown", Effect::Becomes(&["chown", "?"], 1)),
        ("open", Effect::Open),
        ("io.open", Effect::Open),
        ("codecs.open", Effect::Open),
        ("requests.delete", HTTP_DELETE),
        ("httpx.delete", HTTP_DELETE),
        ("exec", Effect::Code),
        ("eval", Effect::Code),
    ],
    methods: &[
        ("flushall", FLUSHALL),
        ("flushdb", FLUSHALL),
        ("drop_database", DROP_DATABASE),
        ("unlink", RM),
        ("rmdir", RMDIR),
        ("write_text", Effect::Write),
        ("write_bytes", Effect::Write),
        ("rmtree", RM_RF),
        ("execute", Effect::Sql),
        ("executescript", Effect::Sql),
        ("read_text", Effect::Read),
        ("read_bytes", Effect::Read),
    ],
};

static NODE: Language = Language {
    name: "node",
    style: Style { hash_comments: false, slash_comments: true, backquote_runs: false, interpolates: false, ..SCRIPTS },
    inline: &["-e", "--eval", "-p", "--print", "-pe"],
    valued: &["-r", "--require", "--import", "--loader"],
    bare: false,
    calls: &[
        ("child_process.exec", Effect::Shell),
        ("child_process.execSync", Effect::Shell),
        ("child_process.spawn", Effect::Words),
        ("child_process.spawnSync", Effect::Words),
        ("child_process.execFile", Effect::Words),
        ("child_process.execFileSync", Effect::Words),
        ("execSync", Effect::Shell),
        ("spawnSync", Effect::Words),
        ("execFileSync", Effect::Words),
        ("fs.rm", Effect::Remove),
        ("fs.rmSync", Effect::Remove),
        ("fs.rmdir", Effect::Remove),
        ("fs.rmdirSync", Effect::Remove),
        ("rmSync", Effect::Remove),
        ("rmdirSync", Effect::Remove),
        ("fs.unlink", RM),
        ("fs.unlinkSync", RM),
        ("unlinkSync", RM),
        ("fs.rename", MV),
        ("fs.renameSync", MV),
        ("fs.copyFileSync", CP),
        ("fs.cpSync", CP),
        ("fs.writeFile", Effect::Write),
        ("fs.writeFileSync", Effect::Write),
        ("writeFileSync", Effect::Write),
        ("fs.truncateSync", Effect::Write),
        ("fs.createWriteStream", Effect::Write),
        ("fs.appendFile", Effect::Append),
        ("fs.appendFileSync", Effect::Append),
        ("fs.readFile", Effect::Read),
        ("fs.readFileSync", Effect::Read),
        ("readFileSync", Effect::Read),
        ("fs.createReadStream", Effect::Read),
        ("Deno.readTextFile", Effect::Read),
        ("Deno.readTextFileSync", Effect::Read),
        ("Bun.file", Effect::Read),
        ("fs-extra.removeSync", RM_RF),
        ("fs-extra.remove", RM_RF),
        ("fs.removeSync", RM_RF),
        ("fs.emptyDirSync", RM_RF),
        ("fs.symlink", Effect::Becomes(&["ln", "-s"], 2)),
        ("fs.symlinkSync", Effect::Becomes(&["ln", "-s"], 2)),
        ("fs.linkSync", Effect::Becomes(&["ln"], 2)),
        ("rimraf", RM_RF),
        ("rimraf.sync", RM_RF),
        ("process.kill", Effect::Kill),
        ("fs.chmodSync", Effect::Becomes(&["chmod", "?"], 1)),
        ("Deno.remove", Effect::Remove),
        ("Deno.removeSync", Effect::Remove),
        ("Deno.writeTextFile", Effect::Write),
        ("Deno.writeTextFileSync", Effect::Write),
        ("Bun.write", Effect::Write),
        ("Bun.spawn", Effect::Words),
        ("Bun.spawnSync", Effect::Words),
        ("axios.delete", HTTP_DELETE),
        ("Function", Effect::Code),
        ("eval", Effect::Code),
    ],
    methods: &[],
};

static PERL: Language = Language {
    name: "perl",
    style: Style { lines: false, sigils: true, q_quotes: true, ..SCRIPTS },
    inline: &["-e", "-E"],
    valued: &["-I", "-M", "-m"],
    bare: true,
    calls: &[
        ("system", Effect::Shell),
        ("exec", Effect::Shell),
        ("readpipe", Effect::Shell),
        ("unlink", Effect::Becomes(&["rm"], 64)),
        ("rmdir", RMDIR),
        ("rmtree", RM_RF),
        ("remove_tree", RM_RF),
        ("rename", MV),
        ("move", MV),
        ("open", Effect::Open),
        ("truncate", Effect::Write),
        ("kill", Effect::SignalFirst),
        ("chmod", Effect::Becomes(&["chmod"], 64)),
        ("chown", Effect::Becomes(&["chown"], 64)),
        ("eval", Effect::Code),
    ],
    methods: &[],
};

static RUBY: Language = Language {
    name: "ruby",
    style: Style { q_quotes: true, ..SCRIPTS },
    inline: &["-e"],
    valued: &["-I", "-r"],
    bare: true,
    calls: &[
        ("system", Effect::Shell),
        ("exec", Effect::Shell),
        ("spawn", Effect::Shell),
        ("Kernel.system", Effect::Shell),
        ("Kernel.exec", Effect::Shell),
        ("IO.popen", Effect::Shell),
        ("Open3.capture2", Effect::Shell),
        ("Open3.capture2e", Effect::Shell),
        ("Open3.capture3", Effect::Shell),
        ("Process.spawn", Effect::Shell),
        ("PTY.spawn", Effect::Shell),
        ("PTY.getpty", Effect::Shell),
        ("FileUtils.ln_s", Effect::Becomes(&["ln", "-s"], 2)),
        ("FileUtils.ln_sf", Effect::Becomes(&["ln", "-sf"], 2)),
        ("FileUtils.ln", Effect::Becomes(&["ln"], 2)),
        ("File.symlink", Effect::Becomes(&["ln", "-s"], 2)),
        ("File.link", Effect::Becomes(&["ln"], 2)),
        ("FileUtils.rm", RM),
        ("FileUtils.rm_f", RM),
        ("FileUtils.remove", RM),
        ("FileUtils.safe_unlink", RM),
        ("FileUtils.rm_r", RM_RF),
        ("FileUtils.rm_rf", RM_RF),
        ("FileUtils.rmtree", RM_RF),
        ("FileUtils.remove_dir", RM_RF),
        ("FileUtils.remove_entry", RM_RF),
        ("FileUtils.remove_entry_secure", RM_RF),
        ("FileUtils.rmdir", RMDIR),
        ("FileUtils.mv", MV),
        ("FileUtils.cp", CP),
        ("rm_rf", RM_RF),
        ("File.delete", Effect::Becomes(&["rm"], 64)),
        ("File.unlink", Effect::Becomes(&["rm"], 64)),
        ("File.rename", MV),
        ("File.write", Effect::Write),
        ("IO.write", Effect::Write),
        ("File.truncate", Effect::Write),
        ("File.read", Effect::Read),
        ("File.readlines", Effect::Read),
        ("File.foreach", Effect::Read),
        ("File.binread", Effect::Read),
        ("IO.read", Effect::Read),
        ("IO.readlines", Effect::Read),
        ("File.open", Effect::Open),
        ("File.new", Effect::Open),
        ("open", Effect::Open),
        ("Dir.rmdir", RMDIR),
        ("Dir.delete", RMDIR),
        ("Dir.unlink", RMDIR),
        ("Process.kill", Effect::SignalFirst),
        ("eval", Effect::Code),
    ],
    methods: &[("rmtree", RM_RF), ("unlink", RM)],
};

static PHP: Language = Language {
    name: "php",
    style: Style { slash_comments: true, lines: false, sigils: true, patterns: false, ..SCRIPTS },
    inline: &["-r"],
    valued: &["-d", "-c", "-f"],
    bare: false,
    calls: &[
        ("system", Effect::Shell),
        ("exec", Effect::Shell),
        ("shell_exec", Effect::Shell),
        ("passthru", Effect::Shell),
        ("popen", Effect::Shell),
        ("proc_open", Effect::Shell),
        ("unlink", RM),
        ("rmdir", RMDIR),
        ("rename", MV),
        ("copy", CP),
        ("file_put_contents", Effect::Write),
        ("file_get_contents", Effect::Read),
        ("readfile", Effect::Read),
        ("file", Effect::Read),
        ("fopen", Effect::Open),
        ("posix_kill", Effect::Kill),
        ("eval", Effect::Code),
    ],
    methods: &[],
};

static AWK: Language = Language {
    name: "awk",
    style: Style { backquote_runs: false, interpolates: false, ..SCRIPTS },
    inline: &["-e", "--source"],
    valued: &["-F", "-v", "-f", "--field-separator", "--assign"],
    bare: false,
    calls: &[("system", Effect::Shell)],
    methods: &[],
};

static LUA: Language = Language {
    name: "lua",
    style: Style { hash_comments: false, backquote_runs: false, interpolates: false, patterns: false, ..SCRIPTS },
    inline: &["-e"],
    valued: &["-l"],
    bare: false,
    calls: &[
        ("os.execute", Effect::Shell),
        ("io.popen", Effect::Shell),
        ("os.remove", RM),
        ("os.rename", MV),
        ("io.open", Effect::Open),
        ("io.lines", Effect::Read),
    ],
    methods: &[],
};

/// The language a program runs.
pub(super) fn language(program: &str) -> Option<&'static Language> {
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match bare {
        "python" | "pypy" | "ipython" | "micropython" => &PYTHON,
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => &NODE,
        "perl" => &PERL,
        "ruby" | "jruby" => &RUBY,
        "php" => &PHP,
        "awk" | "gawk" | "mawk" | "nawk" => &AWK,
        "lua" | "luajit" | "texlua" => &LUA,
        "crystal" => &RUBY,
        "Rscript" | "R" | "littler" => &languages::R,
        "julia" => &languages::JULIA,
        "elixir" | "iex" | "erl" => &languages::ELIXIR,
        "groovy" | "kotlin" | "kotlinc" | "scala" | "scala-cli" => &languages::JVM,
        "swift" => &languages::SWIFT,
        _ => return None,
    })
}

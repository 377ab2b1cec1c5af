//! What a shell or interpreter would run besides its own words: its input, substitutions, downloads.

use crate::args::text;
use crate::rule::RuleInput;
use crate::target::Target;
use crate::unpacked;
use bash::{Command, Reading, Word, WordPiece};
use std::sync::Arc;

/// Programs that run text they are given.
pub(crate) const EXECUTORS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell", "eval",
    "source", ".", "python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua",
    "osascript", "iex", "Invoke-Expression", "tclsh", "Rscript",
];

/// Programs that bring text from another machine.
const FETCHERS: &[&str] = &[
    "curl", "wget", "fetch", "http", "https", "xh", "aria2c", "lwp-request", "GET", "lynx", "links", "w3m", "nc",
    "ncat", "netcat", "socat", "telnet", "ftp", "tftp", "iwr", "irm", "Invoke-WebRequest", "Invoke-RestMethod",
    "wget2", "axel", "curlie",
];

pub(crate) fn fetches(command: &Command) -> bool {
    let Some(name) = command.program() else { return false };
    let word = |at: usize| command.args().get(at).map(text).unwrap_or_default();
    let to_output = || command.args().last().is_some_and(|word| text(word) == "-");
    match name.as_str() {
        "gh" => word(0) == "api" || (word(0) == "gist" && word(1) == "view"),
        "aws" | "gcloud" => to_output() || command.args().iter().any(|word| text(word) == "cat"),
        "gsutil" | "rclone" | "mc" | "s3cmd" => {
            command.args().iter().any(|word| matches!(text(word).as_ref(), "cat" | "-"))
        }
        "ssh" => command.args().len() > 1,
        "dig" | "host" | "nslookup" => true,
        name => FETCHERS.contains(&name),
    }
}

/// Whether a command decodes what it reads.
pub(crate) fn decodes(command: &Command) -> bool {
    let flag = |letters: &str, long: &str| {
        command.args().iter().map(text).any(|word| match word.strip_prefix("--") {
            Some(name) => !name.is_empty() && long.starts_with(name),
            None => word.starts_with('-') && word.chars().any(|letter| letters.contains(letter)),
        })
    };
    match command.program().as_deref() {
        Some("base64" | "base32" | "basenc" | "gbase64") => flag("dD", "decode"),
        Some("xxd") => flag("r", "revert"),
        Some("openssl") => command.args().iter().any(|word| matches!(text(word).as_ref(), "-d" | "-decrypt" | "-D")),
        Some(
            "gunzip" | "zcat" | "bzcat" | "xzcat" | "unxz" | "bunzip2" | "zstdcat" | "uudecode" | "rev" | "gpg"
            | "gpg2" | "age",
        ) => true,
        Some("gzip" | "xz" | "bzip2" | "zstd") => flag("d", "decompress"),
        _ => false,
    }
}

/// Whether inline code prints what comes out: on its way into a shell that is as unreadable as a code.
pub(crate) fn generates(command: &Command) -> bool {
    let given = |options: &[&str]| command.args().iter().any(|word| options.contains(&text(word).as_ref()));
    match command.program().as_deref() {
        Some("python" | "python3" | "python2" | "pypy3" | "perl" | "ruby" | "node" | "php") => {
            given(&["-c", "-e", "-E", "-r"])
        }
        Some("awk" | "gawk" | "mawk") => !given(&["-f"]),
        // Commands kept as data, taken out and run unread.
        Some("jq" | "yq" | "xq" | "gojq" | "tr" | "xclip" | "xsel" | "pbpaste" | "wl-paste") => true,
        _ => false,
    }
}

/// Whether an executor would run what comes down the pipe as code.
pub(crate) fn executes_input(sight: &RuleInput<'_>) -> bool {
    let item =
        |word: &&Word| word.pieces.iter().any(|piece| matches!(piece, WordPiece::Unknown(source) if source == "{}"));
    // `… | xargs sh -c`: each item is code.
    let as_items = sight.seen.program.is_some() && code_words(sight).iter().any(item);
    // `… | while read line; do eval "$line"; done`
    let read = sight.program() == "eval" && sight.command.args().iter().any(Word::has_unknown);
    as_items || read || runs_its_input(sight)
}

/// What the substitutions an executor would run as code are made of.
pub(crate) fn executed_sources(sight: &RuleInput<'_>) -> Vec<Arc<Reading>> {
    let substitutions = &sight.parsed_call.substitutions;
    if sight.seen.program.is_none() {
        return sight.command.words.first().map(|word| substitutions.of(word)).unwrap_or_default();
    }
    code_words(sight).into_iter().flat_map(|word| substitutions.of(word)).collect()
}

/// The file a command would run as code, downloaded in the same line.
pub(crate) fn downloaded_script(sight: &RuleInput<'_>) -> bool {
    let Some(script) = script_word(sight) else { return false };
    let target = Target::of(script, sight.command.cwd.as_deref());
    let Some(path) = unnamed(&target).or(target.path.as_deref()) else { return false };
    sight.index.downloads(sight.parsed_call, path, sight.at) || unpacked::holds_script(sight, path)
}

/// A file that `mktemp` names: `F=$(mktemp); curl -o $F …; sh $F`.
pub(crate) fn unnamed(target: &Target) -> Option<&str> {
    Some(target.shown.as_str()).filter(|shown| shown.contains("mktemp"))
}

/// The words of a command told apart as an executor does: whether code was given by option, and the operands.
struct Given<'a> {
    code: Vec<&'a Word>,
    operands: Vec<&'a Word>,
    from_input: bool,
}

fn given<'a>(sight: &RuleInput<'a>) -> Given<'a> {
    let shell = !matches!(sight.program(), "eval" | "source" | "." | "iex" | "Invoke-Expression");
    let words = sight.command.args();
    if !shell {
        return Given { code: words.iter().collect(), operands: words.iter().collect(), from_input: false };
    }
    let is_shell = sight.program().ends_with("sh") && sight.program() != "tclsh";
    let mut given = Given { code: Vec::new(), operands: Vec::new(), from_input: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let shown = text(word);
        // `bash -euo pipefail`: the `o` among the letters takes the next word.
        let cluster = is_shell && !word.quoted && shown.starts_with('-') && !shown.starts_with("--");
        if cluster && given.operands.is_empty() && shown.len() > 2 && shown.contains(['o', 'O']) {
            words.next();
        }
        let code = if is_shell {
            shown.starts_with('-') && !shown.starts_with("--") && shown.contains('c')
        } else {
            matches!(
                shown.as_ref(),
                "-c" | "-e" | "-E" | "-r" | "--eval" | "-p" | "--print" | "-ne" | "-pe" | "-lne" | "-nle" | "eval"
            )
        };
        match shown.as_ref() {
            _ if !given.operands.is_empty() => given.operands.push(word),
            "-m" if !is_shell => {
                given.operands.extend(words.by_ref());
            }
            // Only the syntax is checked.
            "-n" if is_shell => {
                given.operands.extend(std::iter::once(word).chain(words.by_ref()));
            }
            // `deno run -`, `bun run x.ts`
            "run" if matches!(sight.program(), "deno" | "bun") => {}
            "-s" if is_shell => given.from_input = true,
            "-o" | "-O" | "+o" | "--rcfile" | "--init-file" if is_shell => {
                words.next();
            }
            _ if code => given.code.extend(words.next()),
            "-" | "/dev/stdin" | "/proc/self/fd/0" | "/dev/fd/0" => given.from_input = true,
            shown if shown.starts_with('-') && !word.quoted => {}
            _ => given.operands.push(word),
        }
        if given.from_input {
            break;
        }
    }
    given
}

pub(crate) fn runs_its_input(sight: &RuleInput<'_>) -> bool {
    match sight.program() {
        "" => false,
        "iex" | "Invoke-Expression" => true,
        "eval" => false,
        "source" | "." => sight
            .command
            .args()
            .first()
            // Without a file fish reads what comes down the pipe.
            .is_none_or(|word| matches!(text(word).as_ref(), "/dev/stdin" | "/dev/fd/0" | "-")),
        _ => {
            let given = given(sight);
            given.from_input || (given.code.is_empty() && given.operands.is_empty())
        }
    }
}

fn code_words<'a>(sight: &RuleInput<'a>) -> Vec<&'a Word> {
    let given = given(sight);
    let script = given.operands.first().copied().filter(|_| given.code.is_empty());
    let words = given.code.into_iter().chain(script);
    words.filter(|word| word.has_unknown()).collect()
}

/// The file an executor would run.
fn script_word<'a>(sight: &RuleInput<'a>) -> Option<&'a Word> {
    let first = sight.command.words.first()?;
    if text(first).contains('/') && !EXECUTORS.contains(&sight.program()) {
        return Some(first);
    }
    if !EXECUTORS.contains(&sight.program()) || sight.program() == "eval" {
        return None;
    }
    let given = given(sight);
    let sourced = matches!(sight.program(), "source" | ".");
    given.operands.first().copied().filter(|_| given.code.is_empty() || sourced)
}

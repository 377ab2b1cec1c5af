//! Languages whose one-liners are rarer: their tables are short.

use super::lexer::Style;
use super::tables::{CP, Effect, Language, MV, RM, RM_RF, RMDIR, SCRIPTS};

const SHORT: Style = Style { patterns: false, interpolates: false, backquote_runs: false, ..SCRIPTS };
const CURLY: Style = Style { hash_comments: false, slash_comments: true, ..SHORT };

pub(super) static R: Language = Language {
    name: "r",
    style: SHORT,
    inline: &["-e"],
    valued: &["-f", "-g"],
    bare: false,
    calls: &[
        ("system", Effect::Shell),
        ("shell", Effect::Shell),
        ("system2", Effect::Words),
        ("processx.run", Effect::Words),
        ("unlink", Effect::Remove),
        ("base.unlink", Effect::Remove),
        ("file.remove", RM),
        ("dir_delete", RM_RF),
        ("fs.dir_delete", RM_RF),
        ("fs.file_delete", RM),
        ("file.rename", MV),
        ("file.copy", CP),
    ],
    methods: &[],
};

pub(super) static JULIA: Language = Language {
    name: "julia",
    style: Style { backquote_runs: true, ..SHORT },
    inline: &["-e", "-E", "--eval", "--print"],
    valued: &["-L", "-p", "-t", "-J"],
    bare: false,
    calls: &[("rm", Effect::Remove), ("Base.rm", Effect::Remove), ("mv", MV), ("cp", CP)],
    methods: &[],
};

pub(super) static ELIXIR: Language = Language {
    name: "elixir",
    style: SHORT,
    inline: &["-e", "--eval", "-eval"],
    valued: &["-r", "-S", "-pa", "-pr", "-s", "--name", "--sname"],
    bare: true,
    calls: &[
        ("System.cmd", Effect::Words),
        ("System.shell", Effect::Shell),
        ("os.cmd", Effect::Shell),
        ("File.rm", RM),
        ("File.rm_rf", RM_RF),
        ("File.rmdir", RMDIR),
        ("File.rename", MV),
        ("File.cp", CP),
        ("File.write", Effect::Write),
        ("file.delete", RM),
        ("file.del_dir", RMDIR),
        ("file.del_dir_r", RM_RF),
    ],
    methods: &[],
};

pub(super) static JVM: Language = Language {
    name: "jvm",
    style: CURLY,
    inline: &["-e", "-script"],
    valued: &["-cp", "-classpath"],
    bare: false,
    calls: &[
        ("Process", Effect::Shell),
        ("scala.sys.process.Process", Effect::Shell),
        ("sys.process.Process", Effect::Shell),
        ("os.remove.all", RM_RF),
    ],
    methods: &[("deleteDir", RM_RF), ("deleteRecursively", RM_RF), ("execute", Effect::Shell)],
};

pub(super) static SWIFT: Language = Language {
    name: "swift",
    style: CURLY,
    inline: &["-e"],
    valued: &[],
    bare: false,
    calls: &[("FileManager.default.removeItem", RM_RF), ("system", Effect::Shell)],
    methods: &[],
};

/// The code as the tables know it: a language's own marks for the same call are taken off.
pub(super) fn plain_code(language: &Language, code: &str, home: Option<&str>) -> String {
    match (language.name, home) {
        // `File.rm_rf!(x)` is `File.rm_rf(x)`, `:os.cmd` and Erlang's `os:cmd` are `os.cmd`.
        ("elixir", _) => code.replace("!(", "(").replace("! ", " ").replace(" :", " ").replace(':', "."),
        // R puts the home folder in by itself.
        ("r", Some(home)) => {
            code.replace("::", ".").replace("\"~", &format!("\"{home}")).replace("'~", &format!("'{home}"))
        }
        ("r", None) => code.replace("::", "."),
        ("swift", _) => code.replace("atPath:", "").replace("at:", "").replace("try!", "").replace("try?", ""),
        ("jvm", _) => code.replace("new File(", "File(").replace("java.io.File(", "File("),
        _ => code.to_string(),
    }
}

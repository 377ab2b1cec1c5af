//! Commands of PowerShell as the shell commands that do the same.

use crate::reading::{Via, Word, WordPiece};
use crate::walk::{Place, Walker};

/// What a cmdlet comes to.
#[derive(Clone, Copy)]
enum Becomes {
    /// `rm`, recursive when it says so.
    Remove,
    /// These words, then its paths.
    Words(&'static [&'static str]),
    /// `cp` or `mv`, from the first path to the second.
    Pair(&'static str),
    /// `ln`, when a link is made.
    Link,
    /// `kill` by number, `pkill` by name.
    Kill,
    /// The program it names, with its arguments.
    Start,
    /// Text it runs.
    Text,
}

const DISK: Becomes = Becomes::Words(&["mkfs", "/dev/disk"]);

/// Cmdlets in lower case, their aliases, and what they come to. Aliases are words of other shells too, so they count in
/// PowerShell's own text only.
const CMDLETS: &[(&str, &[&str], Becomes)] = &[
    ("remove-item", &["ri", "rd", "del", "erase", "rmdir"], Becomes::Remove),
    ("set-content", &["sc"], Becomes::Words(&["tee"])),
    ("out-file", &[], Becomes::Words(&["tee"])),
    ("export-csv", &[], Becomes::Words(&["tee"])),
    ("add-content", &["ac"], Becomes::Words(&["tee", "-a"])),
    ("clear-content", &["clc"], Becomes::Words(&["truncate", "-s", "0"])),
    ("get-content", &["gc", "type"], Becomes::Words(&["cat"])),
    ("move-item", &["mi", "move"], Becomes::Pair("mv")),
    ("rename-item", &["rni", "ren"], Becomes::Pair("mv")),
    ("copy-item", &["cpi", "copy"], Becomes::Pair("cp")),
    ("new-item", &["ni"], Becomes::Link),
    ("stop-process", &["spps"], Becomes::Kill),
    ("stop-computer", &[], Becomes::Words(&["shutdown", "now"])),
    ("restart-computer", &[], Becomes::Words(&["reboot"])),
    ("format-volume", &[], DISK),
    ("clear-disk", &[], DISK),
    ("initialize-disk", &[], DISK),
    ("remove-partition", &[], DISK),
    ("start-process", &["saps", "start"], Becomes::Start),
    ("invoke-expression", &["iex"], Becomes::Text),
];

/// Parameters that take a value, and whether that is a path: those that are not named here are switches.
const PARAMETERS: &[(&str, bool)] = &[
    ("path", true),
    ("literalpath", true),
    ("filepath", true),
    ("destination", true),
    ("newname", true),
    ("target", true),
    ("value", false),
    ("itemtype", false),
    ("name", false),
    ("id", false),
    ("argumentlist", false),
    ("encoding", false),
    ("erroraction", false),
    ("ea", false),
    ("filter", false),
    ("include", false),
    ("exclude", false),
    ("inputobject", false),
    ("width", false),
    ("number", false),
    ("driveletter", false),
    ("delimiter", false),
    ("totalcount", false),
    ("tail", false),
    ("workingdirectory", false),
    ("windowstyle", false),
    ("computername", false),
    ("disknumber", false),
    ("partitionnumber", false),
    ("verb", false),
    ("command", false),
];

/// The words of a cmdlet told apart.
#[derive(Default)]
struct Given {
    /// Parameters with a value, by their full names.
    named: Vec<(&'static str, Word)>,
    operands: Vec<Word>,
    recurse: bool,
}

impl Given {
    fn of(args: &[Word]) -> Self {
        let mut given = Self::default();
        let mut rest = args.iter();
        while let Some(word) = rest.next() {
            let shown = word.shown();
            let Some(name) = shown.strip_prefix('-').filter(|name| !name.is_empty() && !word.quoted) else {
                given.operands.push(word.clone());
                continue;
            };
            let name = name.trim_end_matches(':').to_ascii_lowercase();
            given.recurse |= "recurse".starts_with(&name);
            let known = PARAMETERS.iter().find(|(full, _)| *full == name).or_else(|| {
                let fits = |(full, _): &&(&str, bool)| name.len() > 1 && full.starts_with(&name);
                PARAMETERS.iter().find(fits)
            });
            if let Some((full, _)) = known.filter(|_| !"recurse".starts_with(&name)) {
                given.named.extend(rest.next().map(|value| (*full, value.clone())));
            }
        }
        given
    }

    fn value(&self, names: &[&str]) -> Option<Word> {
        self.named.iter().find(|(name, _)| names.contains(name)).map(|(_, word)| word.clone())
    }

    /// The path it is about: by parameter, or the first operand.
    fn path(&self) -> Option<Word> {
        self.value(&["path", "literalpath", "filepath"]).or_else(|| self.operands.first().cloned())
    }

    /// Where something goes: by parameter, or the operand behind the path.
    fn destination(&self) -> Option<Word> {
        let by_name = usize::from(self.value(&["path", "literalpath"]).is_none());
        self.value(&["destination", "newname"]).or_else(|| self.operands.get(by_name).cloned())
    }
}

/// What a name comes to: a cmdlet anywhere, an alias in PowerShell's own text.
fn becomes(name: &str, place: &Place) -> Option<Becomes> {
    let dashed = name.contains('-');
    let own = || place.via.iter().any(|via| matches!(via, Via::Shell(shell) if shell == "pwsh"));
    if !dashed && !own() {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let fits = |(cmdlet, aliases, _): &&(&str, &[&str], Becomes)| {
        if dashed { *cmdlet == name } else { aliases.contains(&name.as_str()) }
    };
    CMDLETS.iter().find(fits).map(|(_, _, becomes)| *becomes)
}

impl Walker {
    /// Opens `name` when it is a cmdlet; `false` when it is none.
    pub(super) fn open_cmdlet(&mut self, name: &str, args: &[Word], place: &Place) -> bool {
        let Some(becomes) = becomes(name, place) else { return false };
        // It only says what it would do.
        if args.iter().any(|word| word.shown().eq_ignore_ascii_case("-whatif")) {
            return true;
        }
        let given = Given::of(args);
        let words = match becomes {
            Becomes::Remove => {
                let flag = if given.recurse { "-rf" } else { "-f" };
                let by_name = given.value(&["path", "literalpath"]);
                let mut words = vec![Word::text("rm"), Word::text(flag)];
                words.extend(by_name.into_iter().chain(given.operands.iter().cloned()).flat_map(|word| list(&word)));
                if words.len() == 2 {
                    words.push(Word { pieces: vec![WordPiece::Unknown("{}".to_string())], quoted: true });
                }
                words
            }
            Becomes::Words(words) => {
                let paths = given.path().filter(|_| !words.contains(&"/dev/disk") && !words.contains(&"now"));
                words.iter().map(|word| Word::text(*word)).chain(paths).collect()
            }
            Becomes::Pair(program) => {
                let recursive = (program == "cp" && given.recurse).then(|| Word::text("-r"));
                let ends = given.path().into_iter().chain(given.destination());
                std::iter::once(Word::text(program)).chain(recursive).chain(ends).collect()
            }
            Becomes::Link => link(&given),
            Becomes::Kill => match given.value(&["name"]) {
                Some(name) => vec![Word::text("pkill"), name],
                None => {
                    let id = given.value(&["id"]).or_else(|| given.operands.first().cloned());
                    std::iter::once(Word::text("kill")).chain(id).collect()
                }
            },
            Becomes::Start => {
                let behind = given.operands.iter().skip(usize::from(given.value(&["filepath"]).is_none())).cloned();
                let args = given.value(&["argumentlist"]).into_iter().chain(behind);
                given.path().into_iter().chain(args.flat_map(|word| list(&word))).collect()
            }
            Becomes::Text => {
                let text = given.value(&["command"]).or_else(|| given.operands.first().cloned());
                if let Some(text) = text.and_then(|word| word.known()) {
                    self.inner_text(&super::powershell::shell(&text), Via::Shell("pwsh".to_string()), place);
                }
                return true;
            }
        };
        if words.len() > 1 || matches!(becomes, Becomes::Start | Becomes::Words(_)) {
            self.inner(&words, Vec::new(), Via::Wrapper("pwsh".to_string()), place);
        }
        true
    }
}

fn link(given: &Given) -> Vec<Word> {
    let kind = given.value(&["itemtype"]).map(|word| word.shown().to_ascii_lowercase()).unwrap_or_default();
    let hard = kind == "hardlink";
    let target = given.value(&["target", "value"]);
    match (given.path(), target) {
        (Some(path), Some(target)) if hard => vec![Word::text("ln"), target, path],
        (Some(path), Some(target)) if matches!(kind.as_str(), "symboliclink" | "junction") => {
            vec![Word::text("ln"), Word::text("-s"), target, path]
        }
        _ => Vec::new(),
    }
}

/// `a,b` is two words.
fn list(word: &Word) -> Vec<Word> {
    match word.known() {
        Some(text) if text.contains(',') => {
            text.split(',').map(|part| Word::text(part.trim().trim_matches(['"', '\'']))).collect()
        }
        _ => vec![word.clone()],
    }
}

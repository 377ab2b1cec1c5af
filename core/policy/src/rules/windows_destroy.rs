//! `windows-destroy`: what Windows needs to start, to be restored and to know its programs.

use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "windows-destroy",
    pack: Pack::Devices,
    kind: RuleKind::Deny,
    title: "Removing what Windows needs to be restored",
    doc: "Stops the removal of shadow copies and backups (`vssadmin delete shadows`, `wbadmin delete`, `wmic \
          shadowcopy delete`), of the boot configuration (`bcdedit`), of registry keys (`reg delete`), wiping what was \
          deleted (`cipher /w`), and `wsl --unregister`, which removes a distribution with all files in it. Looking at \
          any of them passes.",
    instead: "See what is there: `reg query HKCU\\Software\\Acme`, or `wsl --list`.",
    denies: &[
        "vssadmin delete shadows /all /quiet", "wmic shadowcopy delete", "wbadmin delete catalog -quiet",
        "bcdedit /deletevalue safeboot", "reg delete HKLM\\\\Software\\\\Acme /f", "cipher /w:C",
        "wsl --unregister Ubuntu", "cmd /c \"vssadmin delete shadows /all\"", "bcdedit /set recoveryenabled no",
    ],
    passes: &[
        "vssadmin list shadows", "reg query HKLM\\\\Software", "wsl --list", "bcdedit /enum", "wmic cpu get name",
        "cipher /e docs", "wbadmin get versions", "wsl ls",
    ],
    watch: RuleTrigger::Programs(&["vssadmin", "wmic", "wbadmin", "bcdedit", "reg", "cipher", "wsl", "fsutil"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let words: Vec<String> = sight.command.args().iter().map(|word| word.shown().to_ascii_lowercase()).collect();
    let any = |wanted: &str| words.iter().any(|word| word == wanted);
    let first = words.first().map(String::as_str).unwrap_or_default();
    let destroys = match sight.program() {
        "vssadmin" => matches!(first, "delete" | "resize"),
        "wmic" => any("shadowcopy") && any("delete"),
        "wbadmin" => first == "delete",
        "bcdedit" => {
            let switch = first.trim_start_matches(['/', '-']);
            matches!(switch, "delete" | "deletevalue" | "import")
                || (switch == "set"
                    && words.iter().any(|word| matches!(word.as_str(), "recoveryenabled" | "bootstatuspolicy")))
        }
        "reg" => first == "delete",
        "cipher" => words.iter().any(|word| word.starts_with("/w")),
        "wsl" => first == "--unregister",
        _ => first == "usn" && any("deletejournal"),
    };
    if destroys {
        report(sight, "What Windows would be restored from, or needs to start, is removed.", hits);
    }
}

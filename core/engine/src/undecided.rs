//! Where no verdict could be had: the call could not be read, or not be judged in time. That is not a pass.

use model::event::{Body, Envelope, EventKind};
use model::reply::GateStop;
use model::{Finding, RuleKind};
use policy::{Answering, OnFailure};

/// What such a finding is called in the record.
pub const RULE: &str = "no-verdict";

/// What is known where nothing could be judged.
#[derive(Debug, Clone, Copy)]
pub struct Undecided<'a> {
    pub why: &'a str,
    pub on_failure: OnFailure,
    pub answering: Answering,
}

impl Undecided<'_> {
    /// What stands against the event all the same; `None` where it neither runs nor writes anything, or where the user
    /// wants such calls to pass. What plainly looks like the end of everything is denied even then.
    pub fn finding(&self, envelope: &Envelope) -> Option<Finding> {
        let Body::Tool(call) = &envelope.body else { return None };
        if envelope.kind != EventKind::PreToolUse || !call.acts() {
            return None;
        }
        let fatal = call.command().filter(|line| looks_fatal(line));
        let kind = match (fatal, self.kind()) {
            (Some(_), _) => RuleKind::Floor,
            (None, kind) => kind?,
        };
        let mut reason = format!("Taut could not judge this call ({})", self.why);
        reason.push_str(match (kind, self.on_failure) {
            (RuleKind::Floor, _) => ", and it looks as if it removes or overwrites a whole system or home.",
            (RuleKind::Deny, OnFailure::Ask) => ". Nobody is there to be asked, so it is denied.",
            _ => ".",
        });
        Some(Finding {
            rule: RULE.to_string(),
            kind,
            reason,
            subject: call.name.clone(),
            instead: Some("Try it once more; if that does not help, `taut doctor` says what is wrong.".to_string()),
            intent: None,
            file: None,
            writes_only: Vec::new(),
        })
    }

    /// How a payload is answered that no event could be made of.
    pub fn stop(&self) -> Option<GateStop> {
        let reason = format!("Taut could not read this call ({}). `taut doctor` says what is wrong.", self.why);
        match self.kind()? {
            RuleKind::Ask => Some(GateStop::Ask { reason }),
            _ => Some(GateStop::Deny { reason, halt: None }),
        }
    }

    fn kind(&self) -> Option<RuleKind> {
        match (self.on_failure, self.answering) {
            (OnFailure::Open, _) => None,
            (OnFailure::Ask, Answering::Somebody) => Some(RuleKind::Ask),
            (OnFailure::Ask, Answering::Nobody) | (OnFailure::Closed, _) => Some(RuleKind::Deny),
        }
    }
}

/// Words that end a command.
const ENDS: &[char] = &[';', '|', '&', '\n', '(', ')', '`'];

/// What stands for everything, however it is quoted.
const EVERYTHING: &[&str] =
    &["/", "/*", "/.", "//", "~", "~/", "~/*", "$HOME", "${HOME}", "$HOME/", "$HOME/*", "${HOME}/*"];

/// A look at the bare words, once through: for the time when the line cannot be read properly. It says yes to what is
/// certain to be fatal, and no to everything else.
fn looks_fatal(line: &str) -> bool {
    if line.contains("--no-preserve-root") || line.replace([' ', '\t'], "").contains(":(){:|:&};:") {
        return true;
    }
    line.split(ENDS).any(|command| {
        let mut words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '\\']));
        let Some(program) = words.find(|word| is_fatal_program(word)) else { return false };
        if program.ends_with("rm") { removes_everything(words) } else { words.any(is_device) }
    })
}

fn is_fatal_program(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    matches!(name, "rm" | "dd" | "wipefs") || name == "mkfs" || name.starts_with("mkfs.")
}

fn removes_everything<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let (mut recursive, mut everything) = (false, false);
    for word in words {
        recursive |=
            word == "--recursive" || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']));
        everything |= EVERYTHING.contains(&word);
    }
    recursive && everything
}

fn is_device(word: &str) -> bool {
    let path = word.strip_prefix("of=").unwrap_or(word);
    let disks = ["/dev/sd", "/dev/nvme", "/dev/vd", "/dev/hd", "/dev/xvd", "/dev/mmcblk", "/dev/disk", "/dev/mapper/"];
    disks.iter().any(|disk| path.starts_with(disk)) && !word.starts_with("if=")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::envelope;
    use serde_json::json;

    const BLIND: Undecided<'_> =
        Undecided { why: "time is up", on_failure: OnFailure::Ask, answering: Answering::Somebody };

    fn call(name: &str, command: &str) -> Envelope {
        let call = agents::claude_code::tools::call(name.into(), json!({"command": command}));
        envelope(EventKind::PreToolUse, Body::Tool(call))
    }

    fn kind(undecided: Undecided<'_>, envelope: &Envelope) -> Option<RuleKind> {
        undecided.finding(envelope).map(|finding| finding.kind)
    }

    /// T1, as a table: who could answer, what the user wants, and what is answered.
    #[test]
    fn t1_a_call_that_could_not_be_judged_is_asked_about_and_denied_where_nobody_answers() {
        use Answering::{Nobody, Somebody};
        use OnFailure::{Ask, Closed, Open};
        for (on_failure, answering, expected) in [
            (Ask, Somebody, Some(RuleKind::Ask)),
            (Ask, Nobody, Some(RuleKind::Deny)),
            (Closed, Somebody, Some(RuleKind::Deny)),
            (Closed, Nobody, Some(RuleKind::Deny)),
            (Open, Somebody, None),
            (Open, Nobody, None),
        ] {
            let undecided = Undecided { why: "x", on_failure, answering };
            for tool in ["Bash", "Write", "WebFetch", "mcp__x__run", "", "Unheard"] {
                assert_eq!(kind(undecided, &call(tool, "ls")), expected, "{tool} {on_failure:?} {answering:?}");
            }
            let stop = undecided.stop();
            assert_eq!(stop.is_some(), expected.is_some());
            assert_eq!(matches!(stop, Some(GateStop::Ask { .. })), expected == Some(RuleKind::Ask));
            // The floor is the floor.
            assert_eq!(kind(undecided, &call("Bash", "rm -rf /")), Some(RuleKind::Floor));
        }
    }

    #[test]
    fn t1_what_only_looks_and_what_is_no_call_is_left_alone() {
        for tool in ["Read", "Grep", "Glob", "AskUserQuestion"] {
            assert_eq!(kind(BLIND, &call(tool, "rm -rf /")), None, "{tool}");
        }
        for kind_of_event in [EventKind::PostToolUse, EventKind::PermissionRequest, EventKind::Stop] {
            assert!(BLIND.finding(&Envelope { kind: kind_of_event, ..call("Bash", "ls") }).is_none());
        }
    }

    #[test]
    fn t1_the_floor_is_seen_without_reading_the_line() {
        for fatal in [
            "rm -rf /", "rm -fr ~", "rm -r -f \"$HOME\"", "cd x; rm -rf /*", "cd x && sudo rm --recursive --force /",
            "ls; /bin/rm -Rf '/'", "$(rm -rf ~/)", "a | \\rm -rf ${HOME}/*", "rm -rf x --no-preserve-root /",
            ":(){ :|:& };:", "dd if=/dev/zero of=/dev/sda bs=1M", "mkfs.ext4 /dev/nvme0n1",
            "sudo mkfs -t xfs /dev/vdb1", "wipefs -a /dev/sdb",
        ] {
            assert!(looks_fatal(fatal), "{fatal}");
        }
        for harmless in [
            "rm -rf ./target", "rm /tmp/x", "rm -rf /tmp/x", "ls /", "dd if=/dev/sda of=copy", "echo rmdir -r /",
            "mkfs.ext4 image",
        ] {
            assert!(!looks_fatal(harmless), "{harmless}");
        }
    }
}

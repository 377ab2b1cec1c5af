//! `taut` without a word, started by a host that dropped the words of our hook line: told by what comes on stdin.

use crate::stdin::{self, StdinText};
use std::io::IsTerminal;
use std::time::Duration;

/// How long an open and silent stdin keeps somebody waiting who wants the overview. A host writes its payload at once.
const SILENCE: Duration = Duration::from_millis(300);

/// A hook's payload, where one is on stdin. What else is there is nobody's: the overview reads nothing.
pub fn payload() -> Option<StdinText> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    if is_set_for_a_hook() {
        // Whatever comes, nothing but an answer may be printed.
        return Some(stdin::read());
    }
    let read = stdin::read_while(SILENCE, agents::may_be_payload);
    agents::ALL.is_payload(&read.bytes).then_some(read)
}

/// Hosts tell their hooks the folder of the project, and nothing else that they start.
fn is_set_for_a_hook() -> bool {
    let names = agents::ALL.0.iter().flat_map(|dialect| dialect.profile.variables.project);
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    names.clone().any(is_set)
}

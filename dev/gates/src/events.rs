//! All events are listed once, in `core/model/src/event.rs`: everything else asks that table.

use std::collections::BTreeSet;

use crate::source::{Keep, closing, production, words};
use crate::{SourceFile, Violation};

const TABLE: &str = "core/model/src/event.rs";

/// An agent's dialect says what its own events look like, so it names them.
const DIALECTS: &str = "core/agents/src/";

/// A file that names this many is on its way to becoming a second list.
const MOST: usize = 14;

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let Some(table) = files.iter().find(|file| file.path == TABLE) else {
        return vec![Violation { path: TABLE.to_owned(), line: 0, what: "the table of events is gone".to_owned() }];
    };
    let names = listed(&table.text);
    if names.len() <= MOST {
        return vec![table.breaks(0, format!("only {} events found in `events! {{…}}`", names.len()))];
    }
    files.iter().filter(|file| may_not_list(file)).filter_map(|file| of_file(file, &names)).collect()
}

/// The first word of each line of `events! { … }`.
fn listed(text: &str) -> BTreeSet<String> {
    let code = production(text, Keep::Code);
    let Some(start) = code.find("\nevents! {") else { return BTreeSet::new() };
    let open = start + "\nevents! ".len();
    let lines = code[open + 1..closing(&code, open)].split(';');
    lines.filter_map(|line| line.split_whitespace().next()).filter(|word| *word != "}").map(str::to_owned).collect()
}

fn may_not_list(file: &SourceFile) -> bool {
    let source = ["rs", "sql", "toml", "sh"].iter().any(|end| file.path.ends_with(&format!(".{end}")));
    let exempt =
        file.path == TABLE || file.path.starts_with(DIALECTS) || file.path.starts_with("docs/") || file.is_test();
    source && !exempt
}

fn of_file(file: &SourceFile, names: &BTreeSet<String>) -> Option<Violation> {
    let text = if file.is_rust() { production(&file.text, Keep::CodeAndStrings) } else { file.text.clone() };
    let named: BTreeSet<&str> = words(&text).map(|(_, word)| word).filter(|word| names.contains(*word)).collect();
    let what = format!("names {} events, more than {MOST}: take them from model::event", named.len());
    (named.len() > MOST).then(|| file.breaks(0, what))
}

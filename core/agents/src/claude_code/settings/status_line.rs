//! Our line in the client's status bar: put in, beside one that is there already, and taken out again.

use super::{Edited, SettingsError, SettingsPlan};
use crate::hook_file::jsonc::{Document, Node};
use crate::hook_file::place;
use crate::hook_file::splice::{Layout, Splice};
use crate::hook_file::step::{SettingsEdit, object_member, put_member};
use crate::hook_file::{is_taut, shell_words};
use crate::settings::StatusLineSetting;
use model::text::shell_word;
use serde_json::json;

pub(super) const STATUS_LINE: StatusLineSetting = StatusLineSetting { edit, inspect };

const KEY: &str = "statusLine";
const WORD: &str = "statusline";
/// What the client says is read once and given to both; the client shows every line that is printed.
const THEIRS: &str = "j=$(cat); printf '%s' \"$j\" | sh -c ";
const OURS: &str = "; printf '%s' \"$j\" | ";

/// Our line as it stands in the settings.
struct OurLine {
    program: String,
    /// The line that was there before.
    theirs: Option<String>,
}

fn edit(text: &str, program: &str) -> Result<Edited, SettingsError> {
    let document = Document::read(text)?;
    let mut edited = Edited::unchanged(text);
    let Some(entry) = object_member(&document, KEY)? else {
        let member = format!("\"type\": \"command\", \"command\": {}", json!(line(program, None)));
        edited.take(SettingsEdit::of(text, put_member(&document, &Layout::of(&document), KEY, |_| member)));
        return Ok(edited);
    };
    let Some((command, there)) = command(entry) else {
        let why = format!("`{KEY}` is of a kind that nothing can be put beside; take it out to have Taut's line there");
        return Err(SettingsError::at(text, entry.span.start, why));
    };
    let theirs = read(there).map_or_else(|| Some(there.to_owned()), |ours| ours.theirs);
    let wanted = line(program, theirs.as_deref());
    if wanted != there {
        edited.take(SettingsEdit::of(text, vec![replaced(command, &wanted)]));
    }
    Ok(edited)
}

fn inspect(text: &str) -> Result<Option<String>, SettingsError> {
    let document = Document::read(text)?;
    let entry = object_member(&document, KEY)?;
    Ok(entry.and_then(command).and_then(|(_, line)| read(line)).map(|ours| ours.program))
}

/// Brings the line up to date where it is.
pub(super) fn kept(mut edited: Edited, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
    // What is no object is somebody else's matter.
    if let Ok(Some(_)) = inspect(&edited.text) {
        edited.text = edit(&edited.text, &plan.command)?.text;
    }
    Ok(edited)
}

/// Takes our line out, and leaves the one that was there before.
pub(super) fn without(text: &str) -> Result<Edited, SettingsError> {
    let document = Document::read(text)?;
    let mut edited = Edited::unchanged(text);
    let Some(found) = place::root_member(&document, KEY) else { return Ok(edited) };
    let Some((command, there)) = command(found.node) else { return Ok(edited) };
    match read(there) {
        Some(OurLine { theirs: Some(theirs), .. }) => {
            edited.take(SettingsEdit::of(text, vec![replaced(command, &theirs)]));
        }
        Some(OurLine { theirs: None, .. }) => {
            edited.take(SettingsEdit::removing(&document, found.removal(&document)));
        }
        None => {}
    }
    Ok(edited)
}

fn command(entry: &Node) -> Option<(&Node, &str)> {
    let command = &entry.member("command")?.node;
    Some((command, command.text()?))
}

fn replaced(command: &Node, line: &str) -> Splice {
    Splice { span: command.span.clone(), with: json!(line).to_string() }
}

fn line(program: &str, theirs: Option<&str>) -> String {
    let ours = format!("{} {WORD}", shell_word(program));
    theirs.map_or(ours.clone(), |theirs| format!("{THEIRS}{}{OURS}{ours}", shell_word(theirs)))
}

fn read(line: &str) -> Option<OurLine> {
    let (theirs, ours) = match line.strip_prefix(THEIRS).and_then(|rest| rest.rsplit_once(OURS)) {
        Some((theirs, ours)) => (shell_words(theirs).into_iter().next(), ours),
        None => (None, line),
    };
    match shell_words(ours).as_slice() {
        [program, word] if is_taut(program) && word == WORD => Some(OurLine { program: program.clone(), theirs }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;

    const TEXTS: [&str; 4] = [
        "",
        "{}\n",
        "{\r\n\t\"model\": \"opus\"\r\n}",
        "{\n  \"statusLine\": { \"type\": \"command\", \"command\": \"cat | jq -r '.model' ; echo \\\"it's\\\"\", \"padding\": 0 },\n  \"a\": 1\n}\n",
    ];

    #[test]
    fn i1_the_status_line_is_put_beside_the_one_that_is_there_and_taken_out_byte_for_byte() {
        for text in TEXTS {
            let on = edit(text, "/opt/my tools/taut").unwrap().text;
            assert_eq!(inspect(&on).unwrap().as_deref(), Some("/opt/my tools/taut"), "{on}");
            assert_eq!(edit(&on, "/opt/my tools/taut").unwrap().text, on, "twice is once");
            assert_eq!(without(&on).unwrap().text, text, "from:\n{on}");
            let moved = edit(&on, "/b/taut").unwrap().text;
            assert_eq!(inspect(&moved).unwrap().as_deref(), Some("/b/taut"));
            assert_eq!(without(&moved).unwrap().text, text, "from:\n{moved}");
        }
    }

    #[test]
    fn i1_with_the_hooks_it_is_kept_up_to_date_and_goes_with_them() {
        for text in TEXTS {
            let hooks = super::super::edit(text, &plan()).unwrap().text;
            let on = edit(&hooks, "/old/taut").unwrap().text;
            let renewed = super::super::edit(&on, &plan()).unwrap().text;
            assert_eq!(inspect(&renewed).unwrap(), Some(plan().command));
            assert_eq!(super::super::remove(&renewed, &[]).unwrap().text, text, "from:\n{renewed}");
            assert_eq!(super::super::edit(&hooks, &plan()).unwrap().text, hooks, "never put in unasked");
        }
    }

    #[test]
    fn i1_a_status_line_that_is_none_of_ours_is_left_alone() {
        for text in [r#"{"statusLine":{"type":"command","command":"mine"}}"#, r#"{"statusLine":{"x":1}}"#, "{}"] {
            assert_eq!(without(text).unwrap().text, text);
        }
        assert!(edit(r#"{"statusLine":{"x":1}}"#, "/a/taut").is_err());
        assert!(edit(r#"{"statusLine":"x"}"#, "/a/taut").is_err());
    }
}

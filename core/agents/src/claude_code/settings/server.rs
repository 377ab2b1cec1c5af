//! Our server in the client's list of them: put in, recognised and taken out again.

use super::{Edited, SettingsError};
use crate::hook_file::entry::render;
use crate::hook_file::jsonc::{BeyondJson, Document, Node};
use crate::hook_file::splice::{Layout, Row, Splice};
use crate::hook_file::step::{SettingsEdit, object_member, put_member};
use crate::hook_file::{is_taut, place};
use crate::settings::ServerDialect;
use serde_json::json;

/// Seen on the real client: a `.config.json` in its own folder takes the place of the other file.
pub(super) const SERVER: ServerDialect =
    ServerDialect { first_file: ".config.json", file: ".claude.json", args: &ARGS, edit, remove, inspect };

const ARGS: [&str; 1] = ["mcp"];
const LIST: &str = "mcpServers";
const NAME: &str = "taut";

fn edit(text: &str, program: &str) -> Result<Edited, SettingsError> {
    let document = Document::read(text)?;
    refuse_beyond_json(&document)?;
    let mut edited = Edited::unchanged(text);
    let servers = object_member(&document, LIST)?;
    if let Some(found) = place::member(&document, [LIST, NAME]) {
        let Some(command) = ours(found.node) else {
            let why = format!("`{LIST}.{NAME}` is a server of somebody else's; give it another name");
            return Err(SettingsError::at(text, found.node.span.start, why));
        };
        if command.text() != Some(program) {
            let with = json!(program).to_string();
            edited.take(SettingsEdit::of(text, vec![Splice { span: command.span.clone(), with }]));
        }
        return Ok(edited);
    }
    let layout = Layout::of(&document);
    let entry = json!({"type": "stdio", "command": program, "args": ARGS});
    let member = format!("\"{NAME}\": {}", render(&entry));
    edited.take(match servers.and_then(Row::of) {
        Some(row) => SettingsEdit::of(text, row.append(&document, &layout, |_| member)),
        None => SettingsEdit::of(text, put_member(&document, &layout, LIST, |_| member)),
    });
    Ok(edited)
}

fn remove(text: &str) -> Result<Edited, SettingsError> {
    let document = Document::read(text)?;
    let mut edited = Edited::unchanged(text);
    if let Some(found) = place::member(&document, [LIST, NAME]).filter(|found| ours(found.node).is_some()) {
        edited.take(SettingsEdit::removing(&document, found.removal(&document)));
    }
    Ok(edited)
}

fn inspect(text: &str) -> Result<Option<String>, SettingsError> {
    let document = Document::read(text)?;
    refuse_beyond_json(&document)?;
    let found = place::member(&document, [LIST, NAME]);
    Ok(found.and_then(|found| ours(found.node)?.text().map(str::to_owned)))
}

/// The command of an entry, when that is one of ours.
fn ours(entry: &Node) -> Option<&Node> {
    let command = &entry.member("command")?.node;
    let args = entry.member("args")?.node.items()?;
    let same = args.len() == ARGS.len() && args.iter().zip(ARGS).all(|(item, word)| item.text() == Some(word));
    (same && is_taut(command.text()?)).then_some(command)
}

/// Seen on the real client: it does not start at all with such a file.
fn refuse_beyond_json(document: &Document<'_>) -> Result<(), SettingsError> {
    let Some((at, what)) = document.first_beyond_json(BeyondJson::SYNTAX) else { return Ok(()) };
    Err(SettingsError::at(
        document.text,
        at,
        format!("Claude Code reads plain JSON only and does not start with this {}", what.name()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Leaves;

    const PROGRAM: &str = "/opt/tools/taut";
    const ENTRY: &str = r#""taut": { "type": "stdio", "command": "/opt/tools/taut", "args": ["mcp"] }"#;

    #[track_caller]
    fn there_and_back(text: &str) -> String {
        let once = edit(text, PROGRAM).unwrap().text;
        assert_eq!(edit(&once, PROGRAM).unwrap().text, once, "twice is once");
        assert_eq!(inspect(&once).unwrap().as_deref(), Some(PROGRAM));
        assert!(serde_json::from_str::<serde_json::Value>(once.trim_start_matches('\u{feff}')).is_ok(), "{once}");
        assert_eq!(remove(&once).unwrap().text, text, "from:\n{once}");
        once
    }

    #[test]
    fn m5_the_server_is_put_in_and_taken_out_byte_for_byte() {
        assert_eq!(there_and_back(""), format!("{{\n  \"mcpServers\": {{\n    {ENTRY}\n  }}\n}}\n"));
        assert_eq!(remove(&there_and_back("")).unwrap().leaves, Leaves::Nothing);
        for text in [
            "{}",
            "{ }\n",
            "{\"numStartups\":3}",
            "{\r\n\t\"numStartups\": 3,\r\n\t\"projects\": {}\r\n}\r\n",
            "{\n  \"mcpServers\": {}\n}\n",
            "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"userID\": \"a\"\n}",
            "{\"mcpServers\":{\"tauter\":{\"command\":\"/b/taut\",\"args\":[\"mcp\"]}}}",
        ] {
            there_and_back(text);
        }
        let among = there_and_back("{\n  \"mcpServers\": {\n    \"other\": {}\n  }\n}\n");
        assert_eq!(among, format!("{{\n  \"mcpServers\": {{\n    \"other\": {{}},\n    {ENTRY}\n  }}\n}}\n"));
    }

    /// The client writes the file anew whenever it likes.
    #[test]
    fn m5_what_the_client_has_written_anew_around_the_server_stays() {
        let args = "[\n        \"mcp\"\n      ]";
        let taut =
            format!("{{\n      \"command\": \"/old/taut\",\n      \"args\": {args},\n      \"env\": {{}}\n    }}");
        let written = format!("{{\n  \"mcpServers\": {{\n    \"taut\": {taut}\n  }},\n  \"numStartups\": 4\n}}");
        let edited = edit(&written, PROGRAM).unwrap().text;
        assert_eq!(edited, written.replace("/old/taut", PROGRAM));
        assert_eq!(remove(&edited).unwrap().text, "{\n  \"numStartups\": 4\n}");
    }

    #[test]
    fn m5_another_server_of_that_name_and_what_the_client_will_not_read_are_left_alone() {
        for (text, why) in [
            (r#"{"mcpServers": {"taut": {"command": "/b/other", "args": ["mcp"]}}}"#, "somebody else's"),
            (r#"{"mcpServers": {"taut": {"command": "/b/taut", "args": ["mcp", "-x"]}}}"#, "somebody else's"),
            (r#"{"mcpServers": {"taut": {"url": "http://taut/mcp"}}}"#, "somebody else's"),
            (r#"{"mcpServers": []}"#, "has to be an object"),
            ("[]", "have to be an object"),
            ("{\"a\": 1,}", "trailing comma"),
            ("{ // mine\n}", "comment"),
            ("{\"a\": ", ""),
        ] {
            let error = edit(text, PROGRAM).unwrap_err();
            assert!(error.why.contains(why), "{text}: {error}");
            assert!(remove(text).map_or(true, |edited| edited.text == text), "{text}");
        }
    }
}

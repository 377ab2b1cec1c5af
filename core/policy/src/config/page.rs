//! The page of the docs that lists every key, made from the declarations.

use super::declare::{KeyDecl, ValueKind, WhenUnreadable};
use super::sections::{self, NEED_TRUST, Sections};
use std::fmt::Write;

const HEAD: &str = "# Configuration

Your own configuration is `taut/config.toml` in your configuration folder (`taut config path` says where), a project's is
`.taut/config.toml` (shared) and `.taut/config.local.toml` (not shared). The later of these has the last word, but **a
project may only tighten until you run `taut trust`**, which is bound to the content: after an edit the project is
untrusted again, `taut` says so, and `taut trust` shows the change.

| command | what it does |
|---|---|
| `taut config show --origin` | what holds here, and which file said so |
| `taut config edit` | opens your own configuration in `$VISUAL` or `$EDITOR`; it is replaced once it is without mistakes |
| `taut config schema` | a JSON schema, for editors |
| `taut policy check` | every mistake, with file, line and column |

A key that nobody knows, a wrong type or a bad value is an error in `taut policy check`, `taut doctor` and `taut`. It costs
only what it stands in, and **a limit that cannot be read is never no limit**: `taut loop` does not start, and a hook keeps
the strictest of the default and what the files below say, and tells you so once in a session.

Made from the declarations in `core/policy/src/config/sections`; `UPDATE_DOCS=1 cargo test -p policy` writes it.
";

/// The whole page.
pub fn markdown() -> String {
    let mut out = HEAD.to_string();
    for section in Sections::KEYS {
        let _ = write!(out, "\n## `[{}]`\n\n{}\n", section.name, section.doc.trim());
        if NEED_TRUST.contains(&section.name) {
            out.push_str("\nIn a project it does nothing until you trust the project.\n");
        }
        let rows = rows(section);
        if !rows.is_empty() {
            out.push_str("\n| key | type | default | what |\n|---|---|---|---|\n");
            rows.iter().for_each(|row| out.push_str(row));
        }
        let _ = write!(out, "\n```toml\n{}```\n", sections::example(section));
    }
    out
}

fn rows(section: &KeyDecl) -> Vec<String> {
    let mut rows = Vec::new();
    below(&section.kind, section.name, &mut rows);
    rows
}

fn below(kind: &ValueKind, path: &str, rows: &mut Vec<String>) {
    match kind {
        ValueKind::Table(keys) => keys.iter().for_each(|key| {
            let name = format!("{path}.{}", key.name);
            rows.push(row(&name, key));
            below(&key.kind, &name, rows);
        }),
        ValueKind::Named(kind) => below_named(kind, path, rows),
        ValueKind::List(kind) => below(kind, &format!("{path}[]"), rows),
        ValueKind::Either(kinds) => kinds.iter().for_each(|kind| below(kind, path, rows)),
        _ => {}
    }
}

/// A table of names has no rows of its own where its values are plain: they get one.
fn below_named(kind: &ValueKind, path: &str, rows: &mut Vec<String>) {
    let named = format!("{path}.<name>");
    if !matches!(kind, ValueKind::Table(_)) && !path.contains('.') {
        rows.push(format!("| `{named}` | {} | | |\n", cell(&kind.describe())));
    }
    below(kind, &named, rows);
}

fn row(name: &str, key: &KeyDecl) -> String {
    let default = match (key.default)() {
        _ if key.unreadable == WhenUnreadable::Needed => "needed".to_string(),
        Some(toml::Value::Table(_)) | None => String::new(),
        Some(value) => format!("`{}`", cell(&value.to_string())),
    };
    format!("| `{name}` | {} | {default} | {} |\n", cell(&key.kind.describe()), cell(key.doc.trim()))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

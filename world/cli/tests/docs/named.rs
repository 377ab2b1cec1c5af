//! Names in the documentation are names of the program: commands, options, configuration keys.

use crate::words::taut_lines;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use policy::config;
use policy::config::declare::{KeyDecl, ValueKind};
use policy::config::sections::Sections;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use testkit::pages::{Page, blocks, spans};

/// Every line of `taut` that a page names, in blocks to be typed and in code spans, with its line of the page.
pub fn lines_of(page: &Page) -> Vec<(usize, Vec<String>)> {
    // The lines of a rule's page are judged by the rule's own test, and some are wrong on purpose.
    let of_rule = page.path.starts_with("docs/rules/");
    let typed = blocks(&page.text).into_iter().filter(|block| block.is_typed() && !of_rule);
    let commands = typed.flat_map(|block| block.commands()).map(|shown| (shown.line, shown.command));
    let spans = spans(&page.text).into_iter().map(|span| (span.line, span.text));
    let all = commands.chain(spans.filter(|(_, text)| text == "taut" || text.starts_with("taut ")));
    all.flat_map(|(line, text)| taut_lines(&text).into_iter().map(move |words| (line, words))).collect()
}

/// Why the program would not take these words; what stands for something else (`<agent>`, `…`) may be anything.
pub fn refused(words: &[String]) -> Option<String> {
    let stands_for = |word: &str| word.contains(['<', '…']);
    let mut given: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "…").collect();
    if given.get(1) == Some(&"explain") {
        // Everything after it is the line to be explained, as it is typed.
        given.truncate(3);
    }
    static DEFINED: OnceLock<clap::Command> = OnceLock::new();
    let error = DEFINED.get_or_init(taut::cli_command).clone().try_get_matches_from(given).err()?;
    let about = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let harmless = match error.kind() {
        // A page may name a command without what it needs.
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::TooFewValues => true,
        ErrorKind::InvalidValue => {
            let value = about(ContextKind::InvalidValue);
            stands_for(&value) || value.is_empty()
        }
        ErrorKind::ValueValidation => stands_for(&about(ContextKind::InvalidValue)),
        ErrorKind::InvalidSubcommand => stands_for(&about(ContextKind::InvalidSubcommand)),
        _ => false,
    };
    (!harmless).then(|| error.to_string().lines().next().unwrap_or_default().to_owned())
}

#[test]
fn i5_every_command_line_in_the_documentation_is_one_the_program_takes() {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    let mut read = 0;
    for page in Page::all() {
        for (line, words) in lines_of(&page) {
            read += 1;
            // Most are named on several pages, and reading one takes a while.
            if !seen.insert(words.clone()) {
                continue;
            }
            wrong.extend(refused(&words).map(|why| format!("{}:{line}: {}: {why}", page.path, words.join(" "))));
        }
    }
    assert!(read > 800, "only {read} lines were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn i5_a_command_an_option_or_a_value_that_is_not_there_is_noticed() {
    let refused = |line: &str| taut_lines(line).iter().any(|words| refused(words).is_some());
    for line in ["taut nonsense", "taut init --nonsense", "taut task nonsense", "taut --color blue"] {
        assert!(refused(line), "{line}");
    }
    for line in [
        "taut", "taut init --agent <agent>", "taut task done", "taut task done … --token <token>",
        "taut say <agent> \"…\"",
    ] {
        assert!(!refused(line), "{line}");
    }
}

/// The declarations below a key of the configuration, and whether the key is there.
fn declared(keys: &[KeyDecl], path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    let Some(key) = keys.iter().find(|key| key.name == *first) else { return false };
    below(key.kind, rest)
}

fn below(kind: ValueKind, path: &[&str]) -> bool {
    let Some((_, rest)) = path.split_first() else { return true };
    match kind {
        ValueKind::Table(keys) => declared(keys, path),
        ValueKind::Named(inner) => below(*inner, rest),
        ValueKind::List(inner) => below(*inner, path),
        ValueKind::Checked { of, .. } => below(*of, path),
        ValueKind::Either(kinds) => kinds.iter().any(|kind| below(*kind, path)),
        _ => false,
    }
}

/// The keys that a span names: `guard.on_failure = "closed"`, `[loop]`, `[[guard.allow]]`.
fn key_of(span: &str) -> Option<Vec<&str>> {
    let header = span.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let header = header.map(|rest| rest.trim_start_matches('[').trim_end_matches(']'));
    let name = header.unwrap_or_else(|| span.split(" = ").next().unwrap_or_default());
    let parts: Vec<&str> = name.split('.').collect();
    let section = Sections::KEYS.iter().any(|key| Some(&key.name) == parts.first());
    let plain = name.chars().all(|one| one.is_ascii_lowercase() || matches!(one, '_' | '.' | '-' | '<' | '>' | '*'));
    let file = parts.last().is_some_and(|last| ["md", "log", "rs"].contains(last));
    (section && plain && !file && (header.is_some() || parts.len() > 1)).then_some(parts)
}

#[test]
fn i5_i7_every_key_of_the_configuration_that_a_page_names_is_declared() {
    let mut wrong = Vec::new();
    let mut read = 0;
    // Those pages name methods of the daemon and events of other agents.
    let others = |page: &Page| page.path == "docs/socket.md" || page.path.starts_with("docs/agents/");
    for page in Page::all().into_iter().filter(|page| !others(page)) {
        for span in spans(&page.text) {
            let Some(path) = key_of(&span.text) else { continue };
            read += 1;
            if !declared(Sections::KEYS, &path) {
                wrong.push(format!("{}:{}: {}", page.path, span.line, span.text));
            }
        }
    }
    assert!(read > 20, "only {read} keys were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Pages of other agents show the settings of those.
#[test]
fn i5_i7_every_configuration_that_a_page_shows_is_without_a_mistake() {
    let mut wrong = Vec::new();
    let mut read = 0;
    for page in Page::all().into_iter().filter(|page| !page.path.starts_with("docs/agents/")) {
        for block in blocks(&page.text).into_iter().filter(|block| block.language == "toml") {
            read += 1;
            if let Err(found) = config::check(&block.text(), "shown.toml") {
                wrong.push(format!("{}:{}: {found:?}", page.path, block.line));
            }
        }
    }
    assert!(read > 60, "only {read} blocks were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

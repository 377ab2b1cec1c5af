//! An agent is known to its own folder and to the table of dialects: everything else asks them.

use crate::source::{Keep, line_of, production};
use crate::{SourceFile, Violation};

/// Agents, spoken with or not yet, as parts of words in lower case.
const AGENTS: &[&str] = &["claude", "codex", "gemini", "copilot", "qwen", "opencode", "grok", "kimi", "auggie"];

/// The table, and each agent's own folder below it.
const TABLE: &str = "core/agents/src/lib.rs";
const DIALECTS: &str = "core/agents/src/";

/// A place that may name agents, and why. The list may only shrink: an entry that is no longer needed breaks the gate.
struct MayName {
    path: &'static str,
    why: &'static str,
}

const GUARDED: &str =
    "the guard protects these files and variables whatever agent works, also of agents it cannot hear";
const CONFIGURED: &str = "names that users write in their configuration";

const MAY_NAME: &[MayName] = &[
    MayName { path: "core/policy/src/clients.rs", why: GUARDED },
    MayName { path: "core/policy/src/guarded_keys.rs", why: GUARDED },
    MayName { path: "core/policy/src/place.rs", why: GUARDED },
    MayName { path: "core/policy/src/rules/agent_part_remove.rs", why: GUARDED },
    MayName { path: "core/policy/src/rules/agent_settings.rs", why: GUARDED },
    MayName { path: "core/policy/src/rules/agent_settings_edit.rs", why: GUARDED },
    MayName { path: "core/policy/src/rules/git_worktree_remove.rs", why: GUARDED },
    MayName { path: "core/policy/src/rules/taut_command.rs", why: GUARDED },
    MayName { path: "core/policy/src/rules/taut_identity.rs", why: GUARDED },
    MayName { path: "core/policy/src/rules/taut_remove.rs", why: GUARDED },
    MayName { path: "core/policy/src/rules/unguarded_agent.rs", why: GUARDED },
    MayName { path: "core/policy/src/presets.rs", why: CONFIGURED },
    MayName { path: "core/policy/src/config/sections/context.rs", why: CONFIGURED },
    MayName { path: "core/policy/src/config/sections/looping.rs", why: CONFIGURED },
    MayName { path: "core/policy/src/config/sections/people.rs", why: CONFIGURED },
    MayName { path: "core/policy/src/config/sections/workflow.rs", why: CONFIGURED },
    MayName { path: "core/engine/src/gates/permission_modes.rs", why: CONFIGURED },
];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    files.iter().filter(|file| is_product(file)).flat_map(of_file).collect()
}

/// `ngrok` is no agent; `MyGrok`, `my_grok` and `my-grok` name one.
fn begins_a_word(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    !before.ends_with(char::is_alphabetic) || after.starts_with(char::is_uppercase)
}

/// Code of the product, and not of an agent.
fn is_product(file: &SourceFile) -> bool {
    let code = ["rs", "js", "sql", "html"].iter().any(|end| file.path.ends_with(&format!(".{end}")));
    let room = (file.path.starts_with("core/") || file.path.starts_with("world/")) && !file.is_test();
    let test = file.stem().ends_with("_tests") || file.path.contains("/examples/");
    let of_agent = file.path.strip_prefix(DIALECTS).is_some_and(|below| below.contains('/'));
    code && room && !test && !of_agent && file.path != TABLE
}

fn of_file(file: &SourceFile) -> Vec<Violation> {
    let text = if file.is_rust() { production(&file.text, Keep::CodeAndStrings) } else { file.text.clone() };
    let lower = text.to_ascii_lowercase();
    let named = AGENTS.iter().flat_map(|name| lower.match_indices(name));
    let mut places: Vec<_> = named.filter(|(at, _)| begins_a_word(&text, *at)).collect();
    places.sort_unstable();
    match MAY_NAME.iter().find(|may| may.path == file.path) {
        Some(may) if places.is_empty() => {
            vec![
                file.breaks(0, format!("names no agent any more ({}): shrink the list of {}", may.why, module_path!())),
            ]
        }
        Some(_) => Vec::new(),
        None => {
            let say = |(at, name): (usize, &str)| {
                file.breaks(line_of(&lower, at), format!("`{name}` is one agent's: ask its dialect (core/agents)"))
            };
            places.into_iter().map(say).collect()
        }
    }
}

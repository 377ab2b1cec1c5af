//! The pages in `docs/rules` are made from the table. `UPDATE_DOCS=1 cargo test -p policy` writes them.

use model::RuleKind;
use policy::{Pack, Rule, rules};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

#[test]
fn the_pages_of_the_rules_are_what_the_table_says() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules");
    let mut pages: BTreeMap<String, String> =
        rules::ALL.iter().map(|rule| (format!("{}.md", rule.id), page(rule))).collect();
    pages.insert("README.md".into(), index());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in &pages {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    for (name, text) in &pages {
        let written = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            written == *text,
            "docs/rules/{name} is not what the table says; run `UPDATE_DOCS=1 cargo test -p policy`"
        );
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(pages.contains_key(&name), "docs/rules/{name} belongs to no rule");
    }
}

fn page(rule: &Rule) -> String {
    let mut out = format!("# `{}`\n\n{}.\n\n", rule.id, rule.title);
    let _ = writeln!(out, "Pack `{}`, kind **{}**: {}\n", rule.pack.name(), rule.kind.name(), meaning(rule.kind));
    let _ = writeln!(out, "{}\n\n**Instead.** {}\n", rule.doc, rule.instead);
    out.push_str("## Stops\n\n");
    examples(&mut out, rule.denies);
    out.push_str("\n## Passes\n\n");
    examples(&mut out, rule.passes);
    if rule.guards_taut() {
        out.push_str("\n## To overrule it\n\nNo code lets a call pass: what it stops changes the guard itself. Do it yourself, in your own terminal.\n");
    } else if rule.kind != RuleKind::Floor {
        let _ = writeln!(
            out,
            "\n## To overrule it\n\n`taut allow <code>` lets one call pass once, by the code of its denial. `taut policy allow {}` lets the \
             rule pass, or in the configuration:\n",
            rule.id
        );
        let _ = writeln!(out, "```toml\n[[guard.allow]]\nrule = \"{}\"\nreason = \"why\"\n```", rule.id);
    }
    out
}

fn examples(out: &mut String, lines: &[&str]) {
    for line in lines {
        let _ = writeln!(out, "```sh\n{line}\n```");
    }
}

fn meaning(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Floor => "denied, and no configuration lifts it.",
        RuleKind::Deny => "denied.",
        RuleKind::Strike => "denied the first time; the same intent on the same target passes after that.",
        RuleKind::Ask => "the user is asked; denied where nobody can answer.",
        RuleKind::Warn => "said, not stopped.",
        RuleKind::Noted | RuleKind::Allowed => "recorded only.",
    }
}

fn index() -> String {
    let mut out = String::from(
        "# Rules\n\nMade from the table in `core/policy/src/rules`; `taut explain '<command>'` says which of them looks at a command.\n",
    );
    for pack in Pack::ALL {
        let _ = write!(out, "\n## {}\n\n{}\n\n| rule | kind | about |\n|---|---|---|\n", pack.name(), pack.about());
        for rule in rules::ALL.iter().filter(|rule| rule.pack == *pack) {
            let _ = writeln!(out, "| [`{0}`]({0}.md) | {1} | {2} |", rule.id, rule.kind.name(), rule.title);
        }
    }
    out
}

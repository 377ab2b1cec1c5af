//! `taut trust`: a project's own configuration may loosen and run things from
//! now on, as it stands. For people only.

use crate::args::TrustArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, text};
use host::paths::PathVariables;
use host::settings_file::unified;
use host::trust::{self, ProjectFiles};
use model::fact::{Probe, TextFact};
use serde_json::json;
use std::path::{Path, PathBuf};
use store::PolicyLogKind;

pub fn run(args: &TrustArgs, printer: &Printer) -> Result<Exit, CliError> {
    let places = PathVariables::from_process();
    let project = host::probe::project(&std::env::current_dir()?, &places.home());
    let (state, root) = (places.state(), PathBuf::from(&project.work_tree));
    if args.show {
        return Ok(show(trust::holds(&state, &root), &root, printer));
    }
    person::required("trust")?;
    if args.revoke {
        trust::revoke(&state, &root)?;
        note(PolicyLogKind::TrustRevoked, &root, printer);
        return Ok(show(false, &root, printer));
    }
    let seen = ProjectFiles::of(&root);
    let facts = shared_facts(&root, &places);
    if facts.is_none() && seen.shown().is_empty() && seen.changes(&state).is_none_or(|changes| changes.is_empty()) {
        printer.note(format!(
            "{} has no configuration and no hooks of its own: there is nothing to trust",
            root.display()
        ));
        return Ok(show(false, &root, printer));
    }
    show_files(&seen, &state, &root, printer);
    if let Some(facts) = facts {
        printer.whole(SHARED_FACTS, &facts);
        printer.note(
            "facts change as the team notes them, and are told to sessions as the team's; trust does not end with that",
        );
    }
    if !person::agrees(&format!("Trust {} as shown above?", root.display()))? {
        printer.note("nothing changed");
        return Ok(Exit::Failed);
    }
    seen.grant(&state)?;
    note(PolicyLogKind::Trusted, &root, printer);
    Ok(show(true, &root, printer))
}

fn note(kind: PolicyLogKind, root: &Path, printer: &Printer) {
    super::policy::note(super::policy::entry(kind, &root.to_string_lossy()), printer);
}

const SHARED_FACTS: &str = ".taut/memory.md";

/// What the team of the project has noted, which sessions are told once it is trusted.
fn shared_facts(root: &Path, places: &PathVariables) -> Option<String> {
    let path = root.join(SHARED_FACTS).to_string_lossy().into_owned();
    let within = vec![root.to_string_lossy().into_owned()];
    let found = host::probe::observe(&[Probe::Text { path: path.clone(), within }], &places.home());
    match found.text(&path) {
        Some(TextFact::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// What is to be agreed to: what changed since the user agreed, or every file where they never did.
pub fn show_files(seen: &ProjectFiles, state: &Path, root: &Path, printer: &Printer) {
    if let Some(changes) = seen.changes(state) {
        if changes.is_empty() {
            printer.note("nothing changed since it was trusted");
        }
        for change in changes {
            printer.diff_note(&unified(&change.file, change.before.as_deref(), change.after.as_deref()));
        }
        return;
    }
    let shown = seen.shown();
    for name in trust::FILES {
        if !shown.iter().any(|(path, _)| *path == root.join(name)) {
            printer.note(printer.dim(format!("{name}: not there")));
        }
    }
    for (path, text) in shown {
        printer.whole(path.strip_prefix(root).unwrap_or(&path).to_string_lossy(), &text);
    }
}

fn show(trusted: bool, root: &Path, printer: &Printer) -> Exit {
    if printer.json() {
        printer.object(&json!({"project": root, "trusted": trusted}));
    } else {
        let word = if trusted { printer.green("trusted") } else { printer.dim("not trusted") };
        printer.line(text!("{}: {}", word, root.display()));
    }
    Exit::Ok
}

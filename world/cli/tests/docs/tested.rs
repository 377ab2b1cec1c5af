//! `docs/tested.md`: what of each page is run, compared and read by tests, and what is not run, with the reason.

use crate::run::typed_blocks;
use std::collections::BTreeMap;
use std::fmt::Write;
use testkit::pages::{Page, blocks, root};

const OPENING: &str = "# How each page was tested

Made from the pages themselves; `UPDATE_DOCS=1 cargo test -p taut --test docs tested` writes it anew.

- **run**: commands of a page are typed, in the order of the page, into a shell at a terminal in an empty home with a project of one
  commit, by `cargo test -p taut --test docs`. What a person answers is typed when the question stands there. Agents are stand-ins
  that call the hooks as Claude Code does.
- **compared**: what the page shows of a command's output is compared with what was printed. `…` stands for anything; times, ages and
  the words a page says to vary may be others, and columns as wide as they need to be.
- **named**: every `taut …` in running text and in blocks is read with the program's own definition of its command line, every key
  with the declarations of the configuration, and every configuration is checked as `taut policy check` does.
- **not run**: only read. The reason stands below.
- Links, and the headings they lead to, are checked by `cargo test -p gates`; the site is built by `bash .ci/run site`.
- Pages that are not in the table show nothing to be typed. Those under `rules`, the command line, the
  configuration and the requirements are written by the program and compared as a whole; the examples of a rule are judged by that
  rule's own test.

| page | run | compared | not run |
|---|---|---|---|
";

#[derive(Default)]
struct Counts {
    run: usize,
    compared: usize,
    /// By reason.
    not_run: BTreeMap<String, Vec<String>>,
}

fn counts(page: &Page) -> Counts {
    let mut counts = Counts::default();
    for block in typed_blocks(page) {
        for shown in block.commands() {
            match block.note("not run", &shown.command) {
                Some(reason) => counts.not_run.entry(reason.to_owned()).or_default().push(shown.command),
                None => {
                    counts.run += 1;
                    counts.compared += usize::from(shown.output.iter().any(|line| line != "…"));
                }
            }
        }
    }
    counts
}

fn page() -> String {
    let mut out = OPENING.to_owned();
    let mut reasons = String::from("\n## Not run, and why\n");
    let (mut run, mut compared, mut not_run) = (0, 0, 0);
    for page in Page::all() {
        let name = page.path.strip_prefix("docs/").unwrap_or(&page.path);
        let Counts { run: of_page, compared: shown, not_run: left } = counts(&page);
        let left_out: usize = left.values().map(Vec::len).sum();
        if of_page + left_out == 0 {
            continue;
        }
        // README is no page of the site.
        let link = if name == page.path { name.to_owned() } else { format!("[{name}]({name})") };
        let _ = writeln!(out, "| {link} | {of_page} | {shown} | {left_out} |");
        (run, compared, not_run) = (run + of_page, compared + shown, not_run + left_out);
        if left_out > 0 {
            let _ = write!(reasons, "\n**{name}**\n\n");
        }
        for (reason, commands) in left {
            let commands: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
            let _ = writeln!(reasons, "- {}: {reason}", commands.join(", "));
        }
    }
    let _ = writeln!(out, "| all | {run} | {compared} | {not_run} |");
    out + &reasons
}

#[test]
fn i5_the_page_that_says_how_each_page_was_tested_is_true() {
    let file = root().join("docs/tested.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, page()).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == page(), "docs/tested.md is old: run `UPDATE_DOCS=1 cargo test -p taut --test docs tested`");
}

#[test]
fn i5_every_command_that_is_not_run_has_a_reason_and_every_note_is_about_a_command() {
    let mut wrong = Vec::new();
    for page in Page::all() {
        for block in blocks(&page.text) {
            if !block.is_typed() && block.lines.iter().any(|line| line.starts_with("$ ")) {
                wrong.push(format!(
                    "{}:{}: a command to be typed stands in no block of `console`",
                    page.path, block.line
                ));
            }
            for note in &block.notes {
                let here = format!("{}:{}: `{}` {}", page.path, block.line, note.kind, note.about);
                if note.kind == "not run" && note.text.split_whitespace().count() < 3 {
                    wrong.push(format!("{here}: no reason is given"));
                }
                let tests = note.text.split('`').skip(1).step_by(2).filter_map(|name| name.split(' ').next_back());
                for test in tests.filter(|name| name.contains(".rs")) {
                    if !["cli", "terminal"]
                        .iter()
                        .any(|kind| root().join("world/cli/tests").join(kind).join(test).exists())
                    {
                        wrong.push(format!("{here}: there is no test {test}"));
                    }
                }
                let about_some = block.commands().iter().any(|shown| shown.command.starts_with(&note.about));
                if !block.is_typed() || !about_some {
                    wrong.push(format!("{here}: there is no such command below it"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! A run as a page of Markdown. What agents and projects wrote stands in it as text: it opens no link, no table, no
//! heading of its own.

use super::report::RunReport;
use super::words::{length, tokens};
use crate::printer::{Text, text};
use dash::run_view::IterationRow;
use model::run::Finish;

/// Longest texts, in characters.
const TITLE: usize = 200;
const WORDS: usize = 300;

pub(super) fn page(report: &RunReport) -> Vec<Text> {
    let row = &report.row;
    let end = report.finish.map_or(row.state, Finish::name);
    let mut page = Page(Vec::new());
    page.line(text!("# Loop {}: {}", plain(&row.short, TITLE), plain(end, TITLE)));
    page.line(text!("{}", plain(row.why.as_deref().unwrap_or_default(), WORDS)));
    page.line("| | |".into());
    page.0.push("|---|---|".into());
    for (name, value) in facts(report) {
        page.0.push(text!("| {} | {} |", name, plain(&value, TITLE)));
    }
    let commits = report.commits.iter().map(|one| format!("{} {}", one.hash, one.subject));
    page.list("Commits", commits);
    page.list("Tasks", report.tasks.iter().map(|one| format!("{}: {} ({})", one.status, one.slug, one.title)));
    page.list("Quarantined", report.quarantined.iter().cloned());
    let failures = report.failures().map(|(one, what)| {
        let task = one.task.as_deref().map(|task| format!(" ({task})")).unwrap_or_default();
        format!("iteration {}{task}: {what}", one.iteration)
    });
    page.list("Failures", failures);
    page.list("Denied", row.denied.iter().cloned());
    page.iterations(&report.iterations);
    page.0
}

fn facts(report: &RunReport) -> Vec<(&'static str, String)> {
    let row = &report.row;
    let mut facts = vec![
        ("mode", row.mode.to_string()),
        ("folder", row.folder.clone()),
        ("began", row.started_at.rfc3339()),
        ("time", length(row.elapsed_ms)),
        ("iterations", row.iteration.to_string()),
        ("commits", row.commits.to_string()),
        ("cost", format!("${:.2}", row.cost_usd)),
    ];
    facts.extend(row.progress().map(|(done, all)| ("tasks", format!("{done} done, {} left", all - done))));
    facts.extend((row.tokens > 0).then(|| ("tokens", tokens(row.tokens))));
    facts.extend((!report.branches.is_empty()).then(|| ("branches", report.branches.join(", "))));
    facts.extend(row.logs.clone().map(|logs| ("logs", logs)));
    facts.push(("next", report.next()));
    facts
}

struct Page(Vec<Text>);

impl Page {
    /// With an empty line before it, but for the first.
    fn line(&mut self, text: Text) {
        if !self.0.is_empty() {
            self.0.push(Text::default());
        }
        self.0.push(text);
    }

    fn list(&mut self, title: &'static str, items: impl Iterator<Item = String>) {
        let items: Vec<Text> = items.map(|item| text!("- {}", plain(&item, WORDS))).collect();
        if items.is_empty() {
            return;
        }
        self.line(text!("## {}", title));
        self.0.push(Text::default());
        self.0.extend(items);
    }

    fn iterations(&mut self, iterations: &[IterationRow]) {
        if iterations.is_empty() {
            return;
        }
        self.line("## Iterations".into());
        self.line("| # | task | end | time | commits | cost | tokens | last words |".into());
        self.0.push("|---|---|---|---|---|---|---|---|".into());
        for one in iterations {
            let exit = one.exit.map_or("a signal".to_string(), |code| code.to_string());
            let cells = [
                one.iteration.to_string(),
                one.task.clone().unwrap_or_default(),
                format!("{} ({exit})", one.outcome),
                length(one.duration_ms),
                one.commits.to_string(),
                format!("${:.2}", one.cost_usd),
                tokens(one.tokens),
                one.said.clone().unwrap_or_default(),
            ];
            let cells = cells.iter().map(|cell| plain(cell, TITLE)).collect::<Vec<_>>().join(" | ");
            self.0.push(text!("| {} |", cells));
        }
    }
}

/// On one line, with every mark that Markdown would take for more than a letter made one.
fn plain(text: &str, most: usize) -> String {
    const MARKS: &str = "\\`*_{}[]<>()#+-!|~&@:$^=";
    let mut plain = String::new();
    for letter in model::text::line(text, most).chars() {
        if MARKS.contains(letter) {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l13_a_hostile_title_stays_on_its_line_and_opens_nothing() {
        let hostile = "x\n# owned\n| a | b |\n[here](http://e) <script> `code` ![i](j) @you #1 &lt; \u{1b}[2J\u{202e}";
        let shown = plain(hostile, 300);
        assert!(!shown.contains('\n') && !shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown}");
        let marks: Vec<(usize, char)> = shown.char_indices().filter(|(_, c)| "`[]<|#!@&:(".contains(*c)).collect();
        assert!(marks.len() > 15);
        for (at, mark) in marks {
            assert!(shown[..at].ends_with('\\'), "{mark} at {at}: {shown}");
        }
    }
}

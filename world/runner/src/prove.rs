//! The command that shows whether work is done: started like a hook, heard to its end, said in words.

use crate::job::Job;
use engine::redact::text_without_secrets;
use model::task::TaskProposal;
use std::process::Command;
use std::time::Duration;

/// So much of the end of what it prints is kept.
const KEPT: usize = 4 * 1024;
/// So much of what one command prints is in the log.
const MOST_LOGGED: usize = 8 << 20;

/// One thing that is said to be done, and what proves it.
#[derive(Debug, Clone)]
pub(crate) struct ProofStep {
    /// A task of the queue; `None` where it is the whole plan.
    pub proposal: Option<TaskProposal>,
    /// `None` where nothing needs to pass.
    pub line: Option<String>,
}

/// `sh -c` in the tree, with what a hook is told.
pub(crate) fn command(job: &Job, line: &str, values: Vec<(&'static str, String)>) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    crate::hook::tell(&mut command, job, values);
    command
}

/// The end of what was printed, however much it was.
#[derive(Debug, Default)]
pub(crate) struct OutputEnd {
    text: String,
    printed: usize,
}

impl OutputEnd {
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.text.push_str(&String::from_utf8_lossy(bytes));
        self.printed = self.printed.saturating_add(bytes.len());
        // Twice as much, so that what is cut off is rarely moved.
        if self.text.len() > 4 * KEPT {
            self.text = tail(&self.text, 2 * KEPT).to_string();
        }
    }

    /// A command that prints without end fills no disk; its end is kept all the same.
    pub(crate) fn is_to_be_logged(&self) -> bool {
        self.printed <= MOST_LOGGED
    }

    /// Without secrets and without anything a terminal would obey.
    fn words(&self) -> String {
        let clean = model::text::lines(&text_without_secrets(&self.text), self.text.len());
        tail(clean.trim_end(), KEPT).to_string()
    }
}

/// How a proof that did not pass ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProofEnd {
    Code(i32),
    Signal,
    TimedOut { after: Duration },
    NotStarted(String),
}

pub(crate) fn failure(line: &str, end: ProofEnd, printed: &OutputEnd) -> String {
    let how = match end {
        ProofEnd::Code(code) => format!("failed with {code}"),
        ProofEnd::Signal => "was ended by a signal".to_string(),
        ProofEnd::TimedOut { after } => format!("took longer than {} s and was ended", after.as_secs()),
        ProofEnd::NotStarted(error) => format!("could not be started: {error}"),
    };
    let line = shown(line);
    match printed.words() {
        words if words.is_empty() => format!("`{line}` {how} and printed nothing"),
        words => format!("`{line}` {how}:\n{words}"),
    }
}

/// A command line as people and models are shown it. What is cut off first could leave half a secret.
pub(crate) fn shown(line: &str) -> String {
    model::text::line(&text_without_secrets(line), 200)
}

/// The last lines that fit, else the last bytes.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut from = text.len() - most;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let cut = text.get(from..).unwrap_or_default();
    // Half a line says less than none, unless it is all there is.
    cut.find('\n').and_then(|end| cut.get(end + 1..)).filter(|rest| rest.len() > most / 2).unwrap_or(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l10_the_end_of_what_was_printed_is_kept_without_secrets_and_controls() {
        let mut printed = OutputEnd::default();
        (0..20_000).for_each(|nth| printed.take(format!("line {nth}\n").as_bytes()));
        printed.take(b"\x1b[31mAPI_TOKEN=swordfishverify77 failed\x1b[0m\n");
        let words = failure("cargo test", ProofEnd::Code(101), &printed);
        assert!(words.starts_with("`cargo test` failed with 101:\nline 19"), "{words}");
        assert!(words.ends_with("API_TOKEN=[redacted] failed"), "{words}");
        assert!(words.len() <= KEPT + 60 && !words.contains("swordfish") && !words.contains('\x1b'), "{words}");
        let silent = failure("false", ProofEnd::TimedOut { after: Duration::from_secs(60) }, &OutputEnd::default());
        assert_eq!(silent, "`false` took longer than 60 s and was ended and printed nothing");
    }

    #[test]
    fn l10_a_line_without_end_is_cut_inside() {
        let mut printed = OutputEnd::default();
        printed.take("é".repeat(50_000).as_bytes());
        let words = printed.words();
        assert!(words.len() <= KEPT && words.len() > KEPT / 2 && words.chars().all(|c| c == 'é'));
    }
}

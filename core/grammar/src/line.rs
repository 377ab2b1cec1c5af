//! A plain `taut` line. Only such a line may pass a closed gate, because only of
//! such a line it is certain what it runs; and only such a line is carried out
//! by the hook that sees it.

use crate::args::AgentArgs;
use crate::command::AgentCommand;
use bash::PlainCommand;
use clap::Parser;
use model::event::Envelope;

/// A plain line, read: what the program will be given, and what that means.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentLine {
    /// The words after the program's name, without the option that says how to print.
    pub words: Vec<String>,
    /// What stands on stdin, where it is known.
    pub stdin: Option<String>,
    /// `None` where nothing is to be done: it only looks, is none of an agent's
    /// own commands, or is no command at all, as the process will say. A reason
    /// where it cannot be done.
    pub command: Option<Result<AgentCommand, String>>,
}

/// Names this program is called by.
const NAMES: &[&str] = &["taut", "engine"];

/// A line longer than this is no line a person or a model would type.
const LONGEST: usize = 64 * 1024;

const JSON: &str = "--json";

/// The words of a line, as the process reads its arguments.
#[derive(Debug, Parser)]
#[command(name = "taut", no_binary_name = true)]
struct LineArgs {
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: AgentArgs,
}

impl AgentLine {
    /// The line of the tool call that an event is about.
    pub fn of(envelope: &Envelope) -> Option<Self> {
        Self::read(envelope.tool()?.command()?)
    }

    /// `None` where there is any doubt about what the line runs.
    pub fn read(line: &str) -> Option<Self> {
        if line.len() > LONGEST || !NAMES.iter().any(|name| line.trim_start().starts_with(name)) {
            return None;
        }
        let PlainCommand { words, stdin } = bash::plain(line)?;
        let (program, words) = words.split_first()?;
        NAMES.contains(&program.as_str()).then(|| Self::new(words.to_vec(), stdin))
    }

    /// These words after the program's name.
    pub fn new(words: Vec<String>, stdin: Option<String>) -> Self {
        match LineArgs::try_parse_from(&words) {
            Ok(args) => Self::typed(&args.command, words, stdin),
            Err(_) => Self { words, stdin, command: None },
        }
    }

    /// These words, of which somebody has made these arguments.
    pub fn typed(args: &AgentArgs, mut words: Vec<String>, stdin: Option<String>) -> Self {
        let stdin = stdin.filter(|_| args.reads_stdin());
        // In a text it is a word like any other.
        let text = words.split_off(words.len().saturating_sub(args.text().map_or(0, <[String]>::len)));
        words.retain(|word| word != JSON);
        words.extend(text);
        let command = args.command(stdin.as_deref());
        Self { words, stdin, command }
    }

    /// What the line is known by: its words, and the text on stdin where that is what it says. Another text is another
    /// line.
    pub fn key(&self) -> Vec<String> {
        let stdin = self.stdin.as_deref().map(str::trim).filter(|text| !text.is_empty());
        self.words.iter().cloned().chain(stdin.map(|text| format!("\0{text}"))).collect()
    }

    pub fn verb(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The word after the verb.
    pub fn part(&self) -> &str {
        self.words.get(1).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s12_another_text_on_stdin_is_another_line() {
        let key = |line: &str| AgentLine::read(line).unwrap().key();
        assert_eq!(key("taut log <<'E'\none\nE"), key("taut log <<'X'\none\nX"));
        assert_ne!(key("taut log <<'E'\none\nE"), key("taut log <<'E'\ntwo\nE"));
        assert_ne!(key("taut log <<'E'\none\nE"), key("taut log one"));
        assert_eq!(key("taut log one <<'E'\nunread\nE"), key("taut log one"), "what nobody reads says nothing");
    }

    fn words_of(line: &str) -> Option<Vec<String>> {
        AgentLine::read(line).map(|plain| plain.words)
    }

    #[test]
    fn a_plain_line_gives_the_words_the_program_will_get() {
        for (line, expected) in [
            ("taut log 'tests pass; 2 > 1'", vec!["log", "tests pass; 2 > 1"]),
            ("taut log \"he said \\\"no\\\"\"", vec!["log", "he said \"no\""]),
            ("  taut   status  working\\ hard ", vec!["status", "working hard"]),
            ("engine session activate implement 2>&1", vec!["session", "activate", "implement"]),
            ("taut log it''s' 'fine", vec!["log", "its fine"]),
            ("taut effort phase 2:Build --approved=why", vec!["effort", "phase", "2:Build", "--approved=why"]),
        ] {
            assert_eq!(words_of(line).unwrap(), expected, "{line}");
        }
    }

    /// A process looks for what was done under the words it was given.
    #[test]
    fn how_to_print_is_no_part_of_the_words_and_a_text_is() {
        assert_eq!(words_of("taut --json log --json use --json"), words_of("taut log use --json"));
        assert_eq!(words_of("taut log use --json").unwrap(), ["log", "use", "--json"]);
        assert_eq!(words_of("taut inbox --json").unwrap(), ["inbox"]);
    }

    #[test]
    fn a_here_document_is_the_stdin_of_the_line() {
        let line = "taut session dehydrate <<'EOF'\n{\"summary\": \"it's $5\"}\nEOF\n";
        let read = AgentLine::read(line).unwrap();
        assert_eq!(read.words, ["session", "dehydrate"]);
        assert_eq!(read.stdin.as_deref(), Some("{\"summary\": \"it's $5\"}\n"));
        assert_eq!(AgentLine::read("taut log <<-X\n\tone\n\tX").unwrap().stdin.as_deref(), Some("one\n"));
    }

    /// G0: what passes a closed gate can run nothing else.
    #[test]
    fn g0_a_line_that_could_run_anything_else_is_not_plain() {
        for line in [
            "taut session status; rm -rf x", "taut session status && make", "taut log $(make)", "taut log `make`",
            "taut log \"$(make)\"", "taut log x | sh", "taut log x > file", "taut log x &", "taut log <(make)",
            "make && taut log x", "A=1 taut log x", "(taut log x)", "taut log x\nmake", "taut log <<EOF\n$(make)\nEOF",
            "taut log <<'EOF'\nx\nEOF\nmake", "taut log <<'EOF'\nx\n", "tautology x", "./taut log x",
            "taut log 'unended", "taut log {a,b}", "taut log *", "taut log ~", "taut log ~/x", "taut log $HOME",
            "taut log \"${x:-y}\"", "taut log $(echo hi)", "taut log $((1 + 1))", "taut log <<EOF\n${x:-y}\nEOF",
            "taut log <<EOF\na \\$ b\nEOF", "taut log \"`echo hi`\"", "taut log x;", "taut log x # why",
            "# why\ntaut log x", "! taut log x", "time taut log x", "{ taut log x; }", "if true; then taut log x; fi",
            "taut() { make; }", "taut log =ls", "taut log < file", "taut log <<< hi", "taut log x >&2",
            "taut log x 2> err", "taut log x &> all", "taut log a <<'A' <<'B'\nx\nA\ny\nB", "taut log x\r\nmake",
            "taut log x || make", "command taut log x", "",
        ] {
            assert_eq!(AgentLine::read(line), None, "{line}");
        }
    }
}

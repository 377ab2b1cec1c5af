//! A bounded fuzz run on stable Rust: mutants of known lines, always the same ones.

use crate::common;
use crate::corpus;
use proptest::prelude::*;

/// A small deterministic generator, so that a failure can be run again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

const PARTS: &[&str] = &[
    "'", "\"", "`", "$(", ")", "${", "}", "<<E\n", "\nE\n", ";", "|", "&&", "\\", "\n", "{a,", "(", "[[", "]]", "$((",
    "))", "<(", "#", "=", "~", "*", "\r\n", "\0", "é", "$'", "if ", "then ", "fi", "do ", "done", "case x in ", "esac",
    "bash -c ", "python3 -c ",
];

fn mutant(dice: &mut Dice) -> String {
    let mut chars: Vec<char> = corpus::LINES[dice.roll(corpus::LINES.len())].chars().collect();
    for _ in 0..1 + dice.roll(6) {
        let at = dice.roll(chars.len() + 1);
        match dice.roll(5) {
            0 => chars.truncate(at),
            1 if at < chars.len() => {
                chars.remove(at);
            }
            2 => {
                let other: Vec<char> = corpus::LINES[dice.roll(corpus::LINES.len())].chars().collect();
                let from = dice.roll(other.len());
                chars.splice(at..at, other[from..].iter().copied());
            }
            3 if at < chars.len() => {
                let end = (at + dice.roll(12)).min(chars.len());
                let piece: Vec<char> = chars[at..end].to_vec();
                chars.splice(at..at, piece);
            }
            _ => {
                let part = PARTS[dice.roll(PARTS.len())];
                chars.splice(at..at, part.chars());
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn mutants_of_known_lines_never_panic() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let body = move || {
        for _ in 0..6_000 {
            let line = mutant(&mut dice);
            let reading = common::read(&line);
            for command in &reading.commands {
                if let bash::StdinSource::Pipe(writers) = &command.feed {
                    assert!(writers.iter().all(|writer| *writer < reading.commands.len()), "in {line:?}");
                }
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(body).unwrap().join().unwrap();
}

#[test]
fn the_corpus_itself_is_read_without_trouble() {
    for line in corpus::LINES {
        let reading = common::read(line);
        assert_eq!(reading.troubles, [], "in {line:?}");
        assert!(!reading.commands.is_empty(), "in {line:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_never_panics(line in "\\PC{0,200}") {
        common::read(&line);
    }

    #[test]
    fn random_shell_like_text_never_panics(line in "[a-c $(){}\\[\\]'\"`;|&<>=*~#\\\\\n!@,.0-9-]{0,120}") {
        common::read(&line);
    }

    #[test]
    fn a_quoted_word_stays_one_word(text in "[^'\\r\0]{0,40}") {
        let reading = common::read(&format!("echo '{text}'"));
        prop_assert_eq!(reading.commands[0].words[1].known(), Some(text));
    }
}

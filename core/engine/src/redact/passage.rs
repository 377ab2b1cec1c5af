//! A text that comes in bit by bit, as a log does: held back until there is
//! enough of it to see what belongs together.

use super::text_without_secrets;

/// So much is held back at most, where a line ends in it.
const ENOUGH: usize = 16 * 1024;
/// A line that is longer is given on without its end.
const MOST: usize = 2 * 1024 * 1024;
/// Stands in for the beginning of a key that was given on before.
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----\n";

#[derive(Debug, Default)]
pub struct Passage {
    held: String,
    /// What was given on ended inside a private key.
    in_key: bool,
}

impl Passage {
    /// Takes more of it in, and gives on what can be given on now.
    pub fn take(&mut self, more: &str) -> Option<String> {
        self.held.push_str(more);
        if self.held.len() < ENOUGH {
            return None;
        }
        let long = self.held.len() >= MOST;
        let end = self.held.rfind('\n').map(|end| end + 1).or_else(|| self.held.rfind(' ').filter(|_| long));
        let end = end.or(long.then_some(self.held.len()))?;
        let rest = self.held.split_off(end);
        let whole = std::mem::replace(&mut self.held, rest);
        Some(self.clean(&whole))
    }

    /// All that is held back.
    pub fn rest(&mut self) -> String {
        let whole = std::mem::take(&mut self.held);
        self.clean(&whole)
    }

    fn clean(&mut self, text: &str) -> String {
        if !self.in_key {
            self.in_key = ends_in_a_key(text);
            return text_without_secrets(text);
        }
        let text = format!("{BEGIN}{text}");
        self.in_key = ends_in_a_key(&text);
        let clean = text_without_secrets(&text);
        clean.strip_prefix(BEGIN.trim_end()).unwrap_or(&clean).to_string()
    }
}

/// A key has begun on a line of its own, and its end has not come.
fn ends_in_a_key(text: &str) -> bool {
    let begun = text.rfind("PRIVATE KEY-----\n").or_else(|| text.rfind("PRIVATE KEY BLOCK-----\n"));
    begun.is_some_and(|at| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        before.rsplit('\n').next().is_some_and(|line| line.contains("-----BEGIN ")) && !after.contains("-----END ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given_on(parts: &[&str]) -> String {
        let mut passage = Passage::default();
        let mut out: String = parts.iter().filter_map(|part| passage.take(part)).collect();
        out.push_str(&passage.rest());
        out
    }

    #[test]
    fn t7_a_secret_that_comes_in_two_bits_is_not_given_on() {
        let said = given_on(&["a\nexport DB_PASS", "WORD=sword", "fish\nb\n"]);
        assert_eq!(said, "a\nexport DB_PASSWORD=[redacted]\nb\n");
    }

    #[test]
    fn t7_a_key_that_is_longer_than_what_is_held_back_is_not_given_on() {
        let line = format!("{}\n", "Made0Up1Fake2Not3Real4".repeat(2));
        let mut parts = vec!["before\n-----BEGIN RSA PRIVATE KEY-----\n"];
        parts.extend(std::iter::repeat_n(line.as_str(), 2_000));
        parts.push("-----END RSA PRIVATE KEY-----\nafter\n");
        let said = given_on(&parts);
        assert!(!said.contains("Made0Up") && said.starts_with("before\n") && said.ends_with("after\n"), "{said}");
    }

    #[test]
    fn a_long_line_is_given_on_before_it_ends() {
        let mut passage = Passage::default();
        let word = "word ".repeat(1000);
        let given = (0..1000).find_map(|_| passage.take(&word));
        assert!(given.is_some_and(|given| given.ends_with("word ") || given.ends_with("word")));
    }
}

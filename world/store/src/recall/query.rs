//! The words of a search, as the index is asked for them. They are data: nothing
//! in them is an operator, and no text makes the question an invalid one.

use super::identifier;

/// What is typed beyond this is not looked for.
const MOST_CHARS: usize = 400;
const MOST_WORDS: usize = 24;

/// Words of a question that say nothing of what is looked for.
const FILLERS: &[&str] = &[
    "a", "about", "again", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me",
    "my", "of", "on", "or", "our", "s", "should", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would",
    "you", "your",
];

/// One word as it was typed, and the words that an index has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryWord {
    /// In lower case.
    pub typed: String,
    /// Never empty; more than one for an identifier.
    pub parts: Vec<String>,
}

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QueryWords(pub Vec<QueryWord>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordMatch {
    AllWords,
    AnyWord,
}

impl QueryWords {
    pub fn read(text: &str) -> Self {
        let bounded: String = text.chars().take(MOST_CHARS).collect();
        let words = bounded.split(|c: char| c.is_whitespace() || c == '\0').filter_map(QueryWord::read);
        let mut all: Vec<QueryWord> = Vec::new();
        for word in words.take(MOST_WORDS) {
            if !all.contains(&word) {
                all.push(word);
            }
        }
        let telling: Vec<QueryWord> = all.iter().filter(|word| !word.is_filler()).cloned().collect();
        Self(if telling.is_empty() { all } else { telling })
    }

    /// In a script that puts no spaces between words: Chinese, Japanese, Korean, Thai and its neighbours.
    pub fn are_unspaced(&self) -> bool {
        const SCRIPTS: &[std::ops::RangeInclusive<char>] = &[
            '\u{0e00}'..='\u{0eff}',
            '\u{1000}'..='\u{11ff}',
            '\u{1780}'..='\u{17ff}',
            '\u{2e80}'..='\u{d7ff}',
            '\u{f900}'..='\u{faff}',
            '\u{ff00}'..='\u{ffef}',
            '\u{20000}'..='\u{3ffff}',
        ];
        self.0.iter().any(|word| word.typed.chars().any(|c| SCRIPTS.iter().any(|script| script.contains(&c))))
    }

    /// The question in the index's own language; `None` where there is nothing to ask for.
    pub fn expression(&self, wanted: WordMatch) -> Option<String> {
        let last = self.0.len().checked_sub(1)?;
        let asked: Vec<String> = self.0.iter().enumerate().map(|(at, word)| word.expression(at == last)).collect();
        let between = match wanted {
            WordMatch::AllWords => " AND ",
            WordMatch::AnyWord => " OR ",
        };
        Some(format!("{{text parts}} : ({})", asked.join(between)))
    }
}

impl QueryWord {
    fn read(typed: &str) -> Option<Self> {
        let parts: Vec<String> = identifier::words(typed).iter().map(|part| part.to_lowercase()).collect();
        let is_asked = |c: char| c.is_alphanumeric();
        (!parts.is_empty()).then(|| Self { typed: typed.trim_matches(|c| !is_asked(c)).to_lowercase(), parts })
    }

    fn is_filler(&self) -> bool {
        FILLERS.contains(&self.typed.as_str())
    }

    /// All its parts, or the name in one piece, however it was joined.
    fn expression(&self, is_last: bool) -> String {
        let count = self.parts.len();
        let part = |(at, part): (usize, &String)| quoted(part, is_last && at + 1 == count);
        let parts: Vec<String> = self.parts.iter().enumerate().map(part).collect();
        let apart = parts.join(" AND ");
        if count == 1 { apart } else { format!("(({apart}) OR {})", quoted(&self.parts.concat(), is_last)) }
    }
}

/// The last word may be one that is not yet typed to its end. A single letter begins too much.
fn quoted(word: &str, is_prefix: bool) -> String {
    let star = if is_prefix && word.chars().nth(1).is_some() { " *" } else { "" };
    format!("\"{}\"{star}", word.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> String {
        QueryWords::read(text).expression(WordMatch::AllWords).unwrap_or_default()
    }

    #[test]
    fn m3_a_question_is_reduced_to_the_words_that_tell_something() {
        assert_eq!(asked("how did we fix the login"), "{text parts} : (\"fix\" AND \"login\" *)");
        assert_eq!(asked("what was it"), "{text parts} : (\"what\" AND \"was\" AND \"it\" *)", "all there is");
        assert_eq!(asked("x"), "{text parts} : (\"x\")");
    }

    #[test]
    fn m3_operators_and_quotes_are_letters_like_others() {
        assert_eq!(
            asked("\"a\" NEAR(b) -c* ^d:"),
            "{text parts} : (\"near\" AND \"b\" AND \"c\" AND \"d\")"
                .replace("\"near\" AND \"b\"", "((\"near\" AND \"b\") OR \"nearb\")")
        );
        assert_eq!(asked(" \t\0\"'*:^-() "), "");
    }

    #[test]
    fn m3_an_identifier_is_asked_for_in_parts_and_in_one_piece() {
        assert_eq!(
            asked("loginForm now"),
            "{text parts} : (((\"login\" AND \"form\") OR \"loginform\") AND \"now\" *)"
        );
    }
}

//! What the tests share: a place to stand in and a short way to write a reading down.

use bash::{Reading, Surroundings};

pub fn around() -> Surroundings {
    Surroundings {
        cwd: Some("/srv/app".into()),
        home: Some("/home/ann".into()),
        vars: vec![("USER".into(), "ann".into())],
    }
}

pub fn read(line: &str) -> Reading {
    bash::read(line, &around())
}

/// Every command as its words and redirects; what is unknown stands in `‹›`, a pattern in `«»`.
pub fn runs(line: &str) -> Vec<String> {
    read(line).commands.iter().map(shown).collect()
}

pub fn shown(command: &bash::Command) -> String {
    let mut parts: Vec<String> = command.words.iter().map(word).collect();
    for redirect in &command.redirects {
        let sign = match redirect.kind {
            bash::RedirectKind::Read => "<",
            bash::RedirectKind::Write => ">",
            bash::RedirectKind::Append => ">>",
        };
        parts.push(format!("{sign}{}", word(&redirect.target)));
    }
    parts.join(" ")
}

pub fn word(word: &bash::Word) -> String {
    let pieces = word.pieces.iter().map(|piece| match piece {
        bash::WordPiece::Text(text) => text.clone(),
        bash::WordPiece::Glob(text) => format!("«{text}»"),
        bash::WordPiece::Unknown(text) => format!("‹{text}›"),
    });
    pieces.collect()
}

/// Checks a table of lines against everything they run.
pub fn check(table: &[(&str, &[&str])]) {
    for (line, expected) in table {
        assert_eq!(runs(line), *expected, "in {line:?}");
    }
}

/// Checks that each line runs, besides its outer commands, what the table says.
pub fn check_reaches(table: &[(&str, &str)]) {
    for (line, expected) in table {
        let found = runs(line);
        assert!(found.iter().any(|command| command == expected), "{line:?} runs {found:?}, not {expected:?}");
    }
}

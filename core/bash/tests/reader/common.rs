//! What the tests share: a place to stand in and a short way to write a reading down.

use bash::{KnownContent, KnownFile, Reading, Surroundings, WantedFile};
use std::sync::Arc;

pub fn around() -> Surroundings {
    Surroundings {
        cwd: Some("/srv/app".into()),
        home: Some("/home/ann".into()),
        vars: vec![("USER".into(), "ann".into())],
        ..Surroundings::default()
    }
}

pub fn read(line: &str) -> Reading {
    bash::read(line, &around())
}

/// A line read where these files stand, each with its text.
pub fn read_with(line: &str, files: &[(&str, &str)]) -> Reading {
    let known = |(path, text): &(&str, &str)| {
        let content = KnownContent::Text((*text).into());
        (WantedFile::At((*path).into()), Arc::new(KnownFile { path: (*path).into(), real: (*path).into(), content }))
    };
    let files = Arc::new(files.iter().map(known).collect());
    bash::read(line, &Surroundings { files, ..around() })
}

/// Everything the line runs where these files stand.
pub fn runs_with(line: &str, files: &[(&str, &str)]) -> Vec<String> {
    read_with(line, files).commands.iter().map(shown).collect()
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

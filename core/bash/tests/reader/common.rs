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

/// A line read where these files stand, which are given to it as it asks for them.
pub fn read_among(line: &str, files: &[(&str, &str)]) -> Reading {
    let mut known: Vec<(WantedFile, Arc<KnownFile>)> = Vec::new();
    for _ in 0..4 {
        let reading = bash::read(line, &Surroundings { files: Arc::new(known.clone()), ..around() });
        if reading.wants.is_empty() {
            return reading;
        }
        known.extend(reading.wants.into_iter().map(|wanted| {
            let found = found(&wanted, files);
            (wanted, found)
        }));
    }
    bash::read(line, &Surroundings { files: Arc::new(known), ..around() })
}

fn found(wanted: &WantedFile, files: &[(&str, &str)]) -> Arc<KnownFile> {
    let paths: Vec<String> = match wanted {
        WantedFile::At(path) => vec![path.clone()],
        WantedFile::Nearest { folder, names } => std::path::Path::new(folder)
            .ancestors()
            .flat_map(|above| names.iter().map(|name| above.join(name).to_string_lossy().into_owned()))
            .collect(),
    };
    let file = paths.iter().find_map(|path| files.iter().find(|(known, _)| known == path));
    let path: Arc<str> = file.map_or(paths[0].as_str(), |(path, _)| path).into();
    let content = file.map_or(KnownContent::Missing, |(_, text)| KnownContent::Text((*text).into()));
    Arc::new(KnownFile { real: path.clone(), path, content })
}

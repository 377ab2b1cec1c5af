//! Sources: where the text a command reads or runs comes from.

use bash::{Command, Feed, Piece, Reading, Word};

/// The commands whose output reaches `command` on its standard input, nearest first.
pub(crate) fn upstream<'a>(reading: &'a Reading, command: &'a Command) -> Vec<&'a Command> {
    let mut found: Vec<&Command> = Vec::new();
    let mut wanted: Vec<usize> = indices(command);
    let mut looked = vec![false; reading.commands.len()];
    while let Some(at) = wanted.pop() {
        let (Some(source), Some(seen)) = (reading.commands.get(at), looked.get_mut(at)) else { continue };
        if std::mem::replace(seen, true) {
            continue;
        }
        found.push(source);
        wanted.extend(indices(source));
    }
    found
}

fn indices(command: &Command) -> Vec<usize> {
    match &command.feed {
        Feed::Pipe(sources) => sources.clone(),
        _ => Vec::new(),
    }
}

/// What a word's substitutions would run: `$(curl …)`, `<(curl …)`, backquotes.
pub(crate) fn substituted(word: &Word) -> Vec<Reading> {
    let unknown = word.pieces.iter().filter_map(|piece| match piece {
        Piece::Unknown(source) => Some(source.as_str()),
        _ => None,
    });
    unknown.filter_map(inside).map(|text| bash::read(text, &bash::Surroundings::default())).collect()
}

/// The text inside a substitution.
fn inside(source: &str) -> Option<&str> {
    let source = source.trim().trim_matches('"');
    let open = ["$(", "<(", ">("].iter().find_map(|open| source.strip_prefix(open));
    match open {
        Some(text) => text.strip_suffix(')').filter(|text| !text.starts_with('(')),
        None => source.strip_prefix('`')?.strip_suffix('`'),
    }
}

/// The plain program names of a reading's commands.
pub(crate) fn programs(reading: &Reading) -> impl Iterator<Item = String> {
    reading.commands.iter().filter_map(Command::program)
}

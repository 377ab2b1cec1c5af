//! A name is one thing: no public type is defined twice, and no metaphor stands where a word of the field does.

use crate::source::{Keep, is_ident, line_of, production, words};
use crate::{SourceFile, Violation};
use std::collections::BTreeMap;

/// Pictures that pleased whoever coined them and stopped everybody else.
const METAPHORS: &[&str] = &[
    "accent", "brush", "coat", "desk", "door", "errand", "glance", "ground", "herald", "house", "law", "laws",
    "letter", "moment", "papers", "scene", "sight", "sleeper", "stroke", "switchboard", "threshold",
];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust() && file.path.contains("/src/") && !file.is_test()) {
        if METAPHORS.contains(&file.stem()) {
            found.push(file.breaks(0, format!("{} is a picture: name the file after what it owns", file.stem())));
        }
        for (line, name, public) in types(&file.text) {
            if let Some(word) = parts(&name).find(|part| METAPHORS.contains(&part.as_str())) {
                found.push(file.breaks(line, format!("{name}: {word} is a picture, not a word of the field")));
            }
            if !public {
                continue;
            }
            match first.get(&name) {
                Some(other) => {
                    found.push(file.breaks(line, format!("{name} is defined in {other} too: say which one this is")));
                }
                None => drop(first.insert(name, &file.path)),
            }
        }
    }
    found
}

/// Every type with its line, its name, and whether it is public without limits.
fn types(text: &str) -> Vec<(usize, String, bool)> {
    let code = production(text, Keep::Code);
    let is_definition = |word: &str| matches!(word, "struct" | "enum" | "trait" | "type" | "union");
    let starts = |at: usize| {
        let before = code[..at].trim_end();
        before.is_empty() || before.ends_with([';', '}', '{', ']', ')']) || before.ends_with("pub")
    };
    let defined = words(&code).filter(|(at, word)| is_definition(word) && starts(*at));
    defined
        .filter_map(|(at, word)| {
            let after = &code[at + word.len()..];
            let name: String = after.trim_start().chars().take_while(|letter| is_ident(*letter)).collect();
            // An associated type belongs to its trait and is no name of its own.
            let nested = *word.as_bytes().first()? == b't' && word == "type" && indented(&code, at);
            let public = code[..at].trim_end().ends_with("pub");
            (name.starts_with(char::is_uppercase) && !nested).then(|| (line_of(&code, at), name, public))
        })
        .collect()
}

fn indented(code: &str, at: usize) -> bool {
    code[..at].rsplit('\n').next().is_some_and(|before| before.starts_with(' '))
}

/// The words of a name in camel case, in small letters.
fn parts(name: &str) -> impl Iterator<Item = String> + '_ {
    let starts: Vec<usize> =
        name.char_indices().filter(|(_, letter)| letter.is_uppercase()).map(|(at, _)| at).chain([name.len()]).collect();
    (1..starts.len()).map(move |end| name[starts[end - 1]..starts[end]].to_lowercase())
}

//! What people call an agent: the folder of its project, numbered where there are several (`acme`, `acme·2`), or the name
//! that a person gave it. Its id is what everything is stored under, and never changes; a name is for eyes and fingers.

mod resolve;
#[cfg(test)]
mod tests;

pub use resolve::{AgentMatch, KnownAgent, NameWish, resolve};

use crate::text::{is_hidden, line};
use std::collections::BTreeMap;

/// Longest name, in characters, without the number behind it.
pub const LONGEST: usize = 32;

/// Stands between a name and its number. Nobody can type it, so `.` and `-` mean the same.
pub const SEPARATOR: char = '·';

/// More agents than this of one name go by their ids.
pub const MOST_NUMBERED: u32 = 1_000;

/// The names of agents by their ids; an agent that has none goes by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentNames(pub BTreeMap<String, String>);

impl AgentNames {
    pub fn of<'a>(&'a self, id: &'a str) -> &'a str {
        self.0.get(id).map_or(id, String::as_str)
    }

    /// The name where it is another than the id.
    pub fn given(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

/// What agents of a project are called after its folder: letters, digits and `-_.`, nothing a terminal would obey.
pub fn of_project(project: &str) -> String {
    let folder = project.rsplit('/').find(|part| !part.is_empty()).unwrap_or("root");
    // The cleaner first: of a colour or a hidden letter nothing is left but what it shows.
    let mut name = String::new();
    for c in line(folder, LONGEST * 4).chars().map(|c| if is_of_name(c) { c } else { '-' }) {
        if c != '-' || !name.ends_with('-') {
            name.push(c);
        }
    }
    let is_edge = |c: char| matches!(c, '-' | '_' | '.');
    let name: String = name.trim_start_matches(is_edge).chars().take(LONGEST).collect();
    let name = name.trim_end_matches(is_edge);
    if name.is_empty() { "agent".to_string() } else { name.to_string() }
}

/// The first bears the plain name, the others their number.
pub fn numbered(name: &str, number: u32) -> String {
    if number <= 1 { name.to_string() } else { format!("{name}{SEPARATOR}{number}") }
}

/// Two names with the same key are one to whoever types them: great and small letters, and the three ways to write a number.
pub fn key(name: &str) -> String {
    let small = name.to_lowercase();
    match split(&small) {
        Some((stem, number)) => format!("{stem}{SEPARATOR}{number}"),
        None => small,
    }
}

/// Why a person cannot call an agent this; `None` where they can.
pub fn refused(name: &str) -> Option<String> {
    let length = name.chars().count();
    if length == 0 || length > LONGEST {
        return Some(format!("a name has 1 to {LONGEST} characters, and this one has {length}"));
    }
    if !name.starts_with(|c: char| c.is_alphanumeric() && !is_hidden(c)) {
        return Some("a name begins with a letter or a digit".to_string());
    }
    let other = name.chars().find(|c| !is_of_name(*c))?;
    let other = line(&other.to_string(), 12);
    Some(format!("a name is made of letters, digits, `-`, `_` and `.`, and this one has `{other}`"))
}

fn is_of_name(c: char) -> bool {
    matches!(c, '-' | '_' | '.') || c.is_alphanumeric() && !is_hidden(c)
}

/// A name and the number behind it, however that is written.
fn split(name: &str) -> Option<(&str, &str)> {
    let (stem, number) = name.rsplit_once(['.', '-', SEPARATOR])?;
    let is_number = !number.is_empty() && number.len() <= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !stem.is_empty()).then_some((stem, number))
}

//! What the line has set so far: variables, functions, aliases, the working folder.

use std::rc::Rc;
use std::sync::Arc;

use shuck_ast::Stmt;

use crate::limits;
use crate::map::Map;
use crate::reading::{Surroundings, Word, WordPiece};

/// The value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    One(Word),
    /// An array, or the positional parameters.
    Many(Rc<Vec<Word>>),
}

impl Value {
    pub(crate) fn many(words: Vec<Word>) -> Self {
        Self::Many(Rc::new(words))
    }

    /// What a copy of it costs, in steps.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::One(word) => limits::weight(std::slice::from_ref(word)),
            Self::Many(words) => limits::weight(words),
        }
    }

    /// The length of the text it holds.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::One(word) => word.size(),
            Self::Many(words) => words.iter().map(|word| word.size() + 1).sum(),
        }
    }
}

/// A function's body with the source its spans point into.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) statement: Rc<Stmt>,
    pub(crate) source: Rc<str>,
}

/// One shell's state. Subshells take a copy, which costs nothing until they change it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    variables: Map<Value>,
    functions: Map<Body>,
    aliases: Map<String>,
    pub(crate) cwd: Option<Arc<str>>,
    pub(crate) home: Option<Arc<str>>,
    previous: Option<Arc<str>>,
    pub(crate) positional: Option<Positional>,
    /// The longest name of a folder that `cd` is followed into.
    longest: usize,
}

/// The positional parameters: `shift` moves on and copies nothing.
#[derive(Debug, Clone)]
pub(crate) struct Positional {
    words: Rc<Vec<Word>>,
    shifted: usize,
}

impl Positional {
    pub(crate) fn new(words: Vec<Word>) -> Self {
        Self { words: Rc::new(words), shifted: 0 }
    }

    pub(crate) fn shift(&mut self, count: usize) {
        self.shifted = self.shifted.saturating_add(count).min(self.words.len());
    }

    fn words(&self) -> &[Word] {
        self.words.get(self.shifted..).unwrap_or_default()
    }

    fn all(&self) -> Rc<Vec<Word>> {
        if self.shifted == 0 { self.words.clone() } else { Rc::new(self.words().to_vec()) }
    }
}

impl Scope {
    pub(crate) fn new(around: &Surroundings) -> Self {
        let mut variables = Map::default();
        for (name, value) in &around.vars {
            variables.insert(name, Value::One(Word::text(value.as_str())));
        }
        let cwd = around.cwd.as_deref().map(normal);
        let longest = limits::FOLDER + cwd.as_ref().map_or(0, String::len);
        Self {
            variables,
            cwd: cwd.map(Arc::from),
            home: around.home.as_deref().map(Arc::from),
            longest,
            ..Self::default()
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        // Setting it again to what it holds leaves the state the same one.
        if self.variables.get(name).is_none_or(|held| **held != value) {
            self.variables.insert(name, value);
        }
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// Forgets what a variable holds, leaving that the line did set it.
    pub(crate) fn blur(&mut self, name: &str) {
        self.set(name, Value::One(unknown(name)));
    }

    pub(crate) fn get(&self, name: &str) -> Option<Rc<Value>> {
        if let Some(value) = self.variables.get(name) {
            return Some(value.clone());
        }
        let text = |text: &str| Value::One(Word::text(text));
        let value = match name {
            "HOME" => self.home.as_deref().map(text),
            "PWD" => self.cwd.as_deref().map(text),
            "OLDPWD" => self.previous.as_deref().map(text),
            // Which shell it is matters less than that it is one.
            "SHELL" | "BASH" => Some(text("/bin/sh")),
            "IFS" => Some(text(" \t\n")),
            "@" | "*" => self.positional.as_ref().map(|words| Value::Many(words.all())),
            "#" => self.positional.as_ref().map(|words| text(&words.words().len().to_string())),
            _ => {
                let index = name.parse::<usize>().ok()?.checked_sub(1)?;
                let word = self.positional.as_ref()?.words().get(index).cloned().unwrap_or_default();
                Some(Value::One(word))
            }
        };
        value.map(Rc::new)
    }

    pub(crate) fn define(&mut self, name: &str, body: Body) {
        self.functions.insert(name, body);
    }

    pub(crate) fn function(&self, name: &str) -> Option<Rc<Body>> {
        self.functions.get(name).cloned()
    }

    pub(crate) fn set_alias(&mut self, name: &str, text: &str) {
        self.aliases.insert(name, text.to_string());
    }

    pub(crate) fn alias(&self, name: &str) -> Option<Rc<String>> {
        self.aliases.get(name).cloned()
    }

    /// Takes an alias out while its own text is read: an alias does not expand itself.
    pub(crate) fn take_alias(&mut self, name: &str) -> Option<Rc<String>> {
        self.aliases.remove(name)
    }

    /// Goes to another folder; `None` when it is not known which.
    pub(crate) fn enter(&mut self, folder: Option<Arc<str>>) {
        self.previous = std::mem::replace(&mut self.cwd, folder);
    }

    /// A folder to go to, as seen from here. One with an endless name is not known: every path of the line would
    /// be as long.
    pub(crate) fn folder(&self, path: &str) -> Option<Arc<str>> {
        let folder = if path.starts_with('/') { normal(path) } else { below(self.cwd.as_deref()?, path) };
        (folder.len() <= self.longest).then(|| Arc::from(folder))
    }

    pub(crate) fn previous(&self) -> Option<Arc<str>> {
        self.previous.clone()
    }

    /// A path as seen from the working folder; `None` when that is not known.
    pub(crate) fn resolve(&self, path: &str) -> Option<String> {
        if path.starts_with('/') {
            return Some(normal(path));
        }
        self.cwd.as_deref().map(|cwd| below(cwd, path))
    }

    /// Whether nothing has changed since `other` was copied from it.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let positional = |scope: &Self| scope.positional.as_ref().map(|held| (Rc::as_ptr(&held.words), held.shifted));
        self.variables.same(&other.variables)
            && self.functions.same(&other.functions)
            && self.aliases.same(&other.aliases)
            && self.cwd == other.cwd
            && self.previous == other.previous
            && positional(self) == positional(other)
    }

    /// What holds whichever of two ways the run took.
    pub(crate) fn meet(&mut self, other: &Self) {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        for name in self.variables.differing(&other.variables) {
            self.blur(&name);
        }
    }

    /// Another machine: nothing of this one's folders and variables holds there.
    pub(crate) fn elsewhere(&self) -> Self {
        Self { longest: limits::FOLDER, ..Self::default() }
    }
}

fn unknown(name: &str) -> Word {
    Word { pieces: vec![WordPiece::Unknown(format!("${name}"))], quoted: false }
}

/// `path` below a folder that has no `.` and `..` in it: only what climbs costs the folder's own length.
fn below(folder: &str, path: &str) -> String {
    let mut out = String::with_capacity(folder.len() + path.len() + 1);
    out.push_str(folder.trim_end_matches('/'));
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or_default()),
            other => {
                out.push('/');
                out.push_str(other);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// An absolute path without `.`, `..` and doubled slashes.
pub(crate) fn normal(path: &str) -> String {
    below("", path)
}

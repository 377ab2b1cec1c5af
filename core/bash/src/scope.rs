//! What the line has set so far: variables, functions, aliases, the working folder.

use std::collections::HashMap;
use std::rc::Rc;

use shuck_ast::Stmt;

use crate::reading::{Piece, Surroundings, Word};

/// The value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    One(Word),
    /// An array, or the positional parameters.
    Many(Vec<Word>),
}

impl Value {
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
    variables: Rc<HashMap<String, Value>>,
    functions: Rc<HashMap<String, Body>>,
    aliases: Rc<HashMap<String, String>>,
    pub(crate) cwd: Option<String>,
    pub(crate) home: Option<String>,
    previous: Option<String>,
    pub(crate) positional: Option<Rc<Vec<Word>>>,
}

impl Scope {
    pub(crate) fn new(around: &Surroundings) -> Self {
        let known = around.vars.iter().map(|(name, value)| (name.clone(), Value::One(Word::text(value.as_str()))));
        Self {
            variables: Rc::new(known.collect()),
            cwd: around.cwd.as_deref().map(normal),
            home: around.home.clone(),
            ..Self::default()
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        Rc::make_mut(&mut self.variables).insert(name.to_string(), value);
    }

    /// What the next change costs: a map shared with another shell is copied first.
    pub(crate) fn weight(&self) -> usize {
        if Rc::strong_count(&self.variables) > 1 { self.variables.len() * 4 } else { 0 }
    }

    pub(crate) fn unset(&mut self, name: &str) {
        if self.variables.contains_key(name) {
            Rc::make_mut(&mut self.variables).remove(name);
        }
    }

    /// Forgets what a variable holds, leaving that the line did set it.
    pub(crate) fn blur(&mut self, name: &str) {
        self.set(name, Value::One(unknown(name)));
    }

    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.variables.get(name) {
            return Some(value.clone());
        }
        match name {
            "HOME" => self.home.as_deref().map(|home| Value::One(Word::text(home))),
            "PWD" => self.cwd.as_deref().map(|cwd| Value::One(Word::text(cwd))),
            "OLDPWD" => self.previous.as_deref().map(|cwd| Value::One(Word::text(cwd))),
            // Which shell it is matters less than that it is one.
            "SHELL" | "BASH" => Some(Value::One(Word::text("/bin/sh"))),
            "IFS" => Some(Value::One(Word::text(" \t\n"))),
            "@" | "*" => self.positional.as_ref().map(|words| Value::Many(words.to_vec())),
            "#" => self.positional.as_ref().map(|words| Value::One(Word::text(words.len().to_string()))),
            _ => {
                let index = name.parse::<usize>().ok()?.checked_sub(1)?;
                let word = self.positional.as_ref()?.get(index).cloned().unwrap_or_default();
                Some(Value::One(word))
            }
        }
    }

    pub(crate) fn define(&mut self, name: &str, body: Body) {
        Rc::make_mut(&mut self.functions).insert(name.to_string(), body);
    }

    pub(crate) fn function(&self, name: &str) -> Option<Body> {
        self.functions.get(name).cloned()
    }

    pub(crate) fn set_alias(&mut self, name: &str, text: &str) {
        Rc::make_mut(&mut self.aliases).insert(name.to_string(), text.to_string());
    }

    pub(crate) fn alias(&self, name: &str) -> Option<String> {
        self.aliases.get(name).cloned()
    }

    /// Takes an alias out while its own text is read: an alias does not expand itself.
    pub(crate) fn take_alias(&mut self, name: &str) -> Option<String> {
        if !self.aliases.contains_key(name) {
            return None;
        }
        Rc::make_mut(&mut self.aliases).remove(name)
    }

    /// Goes to another folder; `None` when it is not known which.
    pub(crate) fn enter(&mut self, folder: Option<String>) {
        self.previous = std::mem::replace(&mut self.cwd, folder);
    }

    pub(crate) fn previous(&self) -> Option<String> {
        self.previous.clone()
    }

    /// A path as seen from the working folder; `None` when that is not known.
    pub(crate) fn resolve(&self, path: &str) -> Option<String> {
        if path.starts_with('/') {
            return Some(normal(path));
        }
        self.cwd.as_ref().map(|cwd| normal(&format!("{cwd}/{path}")))
    }

    /// What holds whichever of two ways the run took.
    pub(crate) fn meet(&mut self, other: &Self) {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        if Rc::ptr_eq(&self.variables, &other.variables) {
            return;
        }
        let mut differing: Vec<String> = Vec::new();
        for (name, value) in self.variables.iter() {
            if other.variables.get(name) != Some(value) {
                differing.push(name.clone());
            }
        }
        differing.extend(other.variables.keys().filter(|name| !self.variables.contains_key(*name)).cloned());
        for name in differing {
            self.blur(&name);
        }
    }

    /// Another machine: nothing of this one's folders and variables holds there.
    pub(crate) fn elsewhere(&self) -> Self {
        Self::default()
    }
}

fn unknown(name: &str) -> Word {
    Word { pieces: vec![Piece::Unknown(format!("${name}"))], quoted: false }
}

/// An absolute path without `.`, `..` and doubled slashes.
pub(crate) fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("/{}", parts.join("/"))
}

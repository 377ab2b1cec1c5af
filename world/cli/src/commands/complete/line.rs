//! Where in the command line somebody is: the command, and the option or argument that stands next.

use super::Candidate;
use super::values;
use clap::{Arg, ArgAction, Command};

/// What was typed, up to the word that is to be completed.
pub struct TypedLine<'c> {
    /// The commands, the deepest last.
    path: Vec<&'c Command>,
    next: Next<'c>,
    /// How the word begins.
    pub begun: &'c str,
    /// What stands before it in the same word: `--agent=`.
    before: &'c str,
}

/// What the word may be.
enum Next<'c> {
    Value(&'c Arg),
    Option,
    /// A command below, or this argument.
    Word(Option<&'c Arg>),
}

impl<'c> TypedLine<'c> {
    pub fn read(root: &'c Command, words: &'c [String]) -> Self {
        let (begun, typed) = words.split_last().map_or(("", words), |(last, typed)| (last.as_str(), typed));
        let mut path = vec![root];
        let (mut waits, mut places, mut only_words) = (None, 0, false);
        for word in typed.iter().skip(1) {
            let command = path.last().copied().unwrap_or(root);
            match word.as_str() {
                // bash splits `--agent=api` into three.
                "=" if waits.is_some() => {}
                _ if waits.is_some() => waits = None,
                "--" => only_words = true,
                option if !only_words && option.len() > 1 && option.starts_with('-') => {
                    waits = named(command, option).filter(|arg| takes_value(arg) && !option.contains('='));
                }
                word => match command.find_subcommand(word).filter(|_| !only_words && places == 0) {
                    Some(inner) => path.push(inner),
                    None => places += 1,
                },
            }
        }
        let command = path.last().copied().unwrap_or(root);
        let (before, begun) = match begun {
            "=" if waits.is_some() => ("", ""),
            option if option.starts_with("--") && !only_words => match option.find('=') {
                Some(at) => {
                    waits = named(command, option);
                    option.split_at(at + 1)
                }
                None => ("", option),
            },
            word => ("", word),
        };
        let next = match waits {
            Some(arg) => Next::Value(arg),
            None if begun.starts_with('-') && !only_words => Next::Option,
            None => Next::Word(place(command, places)),
        };
        Self { path, next, begun, before }
    }

    pub fn candidates(&self) -> Vec<Candidate> {
        let Some(command) = self.path.last() else { return Vec::new() };
        match self.next {
            Next::Value(arg) => values::of(&self.names(), arg),
            Next::Option => options(command),
            Next::Word(place) => {
                let below =
                    if place.is_some_and(|arg| arg.get_index() != Some(1)) { Vec::new() } else { below(command) };
                below.into_iter().chain(place.map(|arg| values::of(&self.names(), arg)).unwrap_or_default()).collect()
            }
        }
    }

    /// A value as the whole word.
    pub fn shown(&self, value: &str) -> String {
        format!("{}{value}", self.before)
    }

    /// The commands by name, without `taut`.
    fn names(&self) -> Vec<&str> {
        self.path.iter().skip(1).map(|command| command.get_name()).collect()
    }
}

/// The argument at that place; the last one takes all that follow, where it takes many.
fn place(command: &Command, places: usize) -> Option<&Arg> {
    let many = |arg: &&Arg| matches!(arg.get_action(), ArgAction::Append);
    command.get_positionals().nth(places).or_else(|| command.get_positionals().last().filter(many))
}

/// The option that a word names, the last one of `-abc`.
fn named<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let mut options = command.get_opts();
    match word.strip_prefix("--") {
        Some(long) => {
            let long = long.split('=').next();
            options.find(|arg| {
                arg.get_long() == long
                    || arg.get_all_aliases().unwrap_or_default().iter().any(|name| Some(*name) == long)
            })
        }
        None => options.find(|arg| arg.get_short().is_some() && arg.get_short() == word.chars().last()),
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

fn options(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let option = |arg: &Arg| {
        let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Candidate { value: format!("--{}", arg.get_long()?), about })
    };
    shown.filter_map(option).collect()
}

fn below(command: &Command) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    let candidate = |inner: &Command| Candidate {
        value: inner.get_name().to_owned(),
        about: inner.get_about().map(ToString::to_string).unwrap_or_default(),
    };
    shown.map(candidate).collect()
}

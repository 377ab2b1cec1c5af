//! What a command would print, when its words and its input make that certain.

pub(crate) mod codes;
mod filters;
mod printf;

use crate::limits;
use crate::reading::{Command, RedirectKind, Word};
use crate::scope::normal;

/// The text a command or list would print.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Output {
    /// Exactly this.
    Certain(String),
    /// This, with the source of unknown expansions where their values would stand.
    Draft(String),
    #[default]
    Unknown,
}

impl Output {
    pub(crate) fn nothing() -> Self {
        Self::Certain(String::new())
    }

    pub(crate) fn certain(&self) -> Option<&str> {
        match self {
            Self::Certain(text) => Some(text),
            _ => None,
        }
    }

    /// The text to read when it is fed to a shell.
    pub(crate) fn draft(&self) -> Option<&str> {
        match self {
            Self::Certain(text) | Self::Draft(text) => Some(text),
            Self::Unknown => None,
        }
    }

    fn into_draft(self) -> Option<String> {
        match self {
            Self::Certain(text) | Self::Draft(text) => Some(text),
            Self::Unknown => None,
        }
    }

    pub(crate) fn then(self, next: Self) -> Self {
        let certain = matches!((&self, &next), (Self::Certain(_), Self::Certain(_)));
        match (self.into_draft(), next.into_draft()) {
            (Some(mut text), Some(second)) if text.len() + second.len() <= limits::TEXT => {
                // Long lists add to one text instead of copying it for every command.
                text.push_str(&second);
                if certain { Self::Certain(text) } else { Self::Draft(text) }
            }
            // What is known of a list is still worth reading when a shell gets it.
            (Some(known), None) | (None, Some(known)) if !known.is_empty() => Self::Draft(known),
            _ => Self::Unknown,
        }
    }
}

/// What `command` prints, given the text on its standard input and whether all of it is known.
pub(crate) fn of(command: &Command, draft: Option<&str>, sure: bool) -> Output {
    let input = draft.filter(|_| sure);
    let Some(program) = command.name() else {
        // `$(< file)` prints the file.
        let reads = command.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Read);
        return if command.words.is_empty() && !reads { Output::nothing() } else { Output::Unknown };
    };
    let args = command.args();
    let known: Option<Vec<String>> = args.iter().map(Word::known).collect();
    match (program.as_ref(), &known) {
        ("echo", _) => printf::echo(args),
        ("printf", Some(args)) => printf::printf(args),
        ("printf", None) => printf::draft(args),
        // Alone they print all variables there are.
        ("export" | "set" | "readonly" | "alias", Some(args))
            if args.is_empty() || args.iter().any(|arg| arg == "-p") =>
        {
            Output::Unknown
        }
        ("true" | ":" | "export" | "set" | "shopt" | "cd" | "alias" | "unset" | "readonly" | "sleep", _) => {
            Output::nothing()
        }
        ("pwd", _) => command.cwd.as_ref().map_or(Output::Unknown, |cwd| Output::Certain(format!("{cwd}\n"))),
        ("realpath" | "readlink", Some(args)) => resolved(&program, args, command.cwd.as_deref()),
        ("cat" | "tee", Some(args)) if !sure && (args.is_empty() || program == "tee") => {
            draft.map_or(Output::Unknown, |text| Output::Draft(text.to_string()))
        }
        (name, Some(args)) => certain(filters::named(name, args, input)),
        _ => Output::Unknown,
    }
}

/// A path as `realpath` and `readlink -f` print it. Links are not known here; what they lead to is asked for later.
fn resolved(program: &str, args: &[String], cwd: Option<&str>) -> Output {
    let plain = |arg: &&String| !arg.starts_with('-');
    let full = program == "realpath" || args.iter().any(|arg| matches!(arg.as_str(), "-f" | "-e" | "-m"));
    match (args.iter().filter(plain).collect::<Vec<_>>().as_slice(), cwd) {
        ([path], _) if full && path.starts_with('/') => Output::Certain(format!("{}\n", normal(path))),
        ([path], Some(cwd)) if full => Output::Certain(format!("{}\n", normal(&format!("{cwd}/{path}")))),
        _ => Output::Unknown,
    }
}

fn certain(text: Option<String>) -> Output {
    match text {
        Some(text) if text.len() <= limits::TEXT => Output::Certain(text),
        _ => Output::Unknown,
    }
}

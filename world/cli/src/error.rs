//! One error for every command: what happened, why, and the command that helps.

use crate::exit::Exit;

#[derive(Debug)]
pub struct CliError {
    what: String,
    causes: Vec<String>,
    hint: Option<String>,
    exit: Exit,
    /// The task that there is none of, so that the nearest can be named.
    missing_task: Option<String>,
}

impl CliError {
    pub fn failed(what: impl Into<String>) -> Self {
        Self { what: what.into(), causes: Vec::new(), hint: None, exit: Exit::Failed, missing_task: None }
    }

    pub fn not_found(what: impl Into<String>) -> Self {
        Self { exit: Exit::NotFound, ..Self::failed(what) }
    }

    pub fn no_task(slug: &str) -> Self {
        let error = Self::not_found(format!("task '{slug}' not found")).hint("taut task list --all");
        Self { missing_task: Some(slug.to_owned()), ..error }
    }

    pub fn missing_task(&self) -> Option<&str> {
        self.missing_task.as_deref()
    }

    /// The command line was wrong.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::failed(what).of_usage()
    }

    pub fn of_usage(self) -> Self {
        Self { exit: Exit::Usage, ..self }
    }

    pub fn because(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            self.causes.push(error.to_string());
            next = error.source();
        }
        self
    }

    /// A command the user can run, or where to look.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub fn what(&self) -> &str {
        &self.what
    }

    pub fn causes(&self) -> &[String] {
        &self.causes
    }

    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub fn exit(&self) -> Exit {
        self.exit
    }
}

impl From<store::Error> for CliError {
    fn from(error: store::Error) -> Self {
        let causes = std::error::Error::source(&error).map(ToString::to_string);
        Self { causes: causes.into_iter().collect(), ..Self::failed(error.to_string()) }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error.to_string())
    }
}

//! Every agent the kit drives, as data: how it is pointed at the scripted model, started without a screen, and what its
//! model calls its tools.

mod launch;
mod table;

pub use launch::{AgentLaunch, AgentRun, cannot_be_confined};
pub use table::{CODEX, COPILOT, DROID, GEMINI, GROK, KIMI_CODE, OPENCODE, PI, QWEN, VIBE};

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::install::RealClient;
use super::pinned::PinnedClient;
use crate::sandbox::Sandbox;
use crate::scripted_model::Turn;

/// An agent. In its texts `{url}` stands for the model's address, `{home}` for the home, `{prompt}` for what is asked.
#[derive(Clone, Copy, Debug)]
pub struct DrivenAgent {
    pub client: &'static PinnedClient,
    /// Files of the home, by their path in it.
    pub files: &'static [(&'static str, &'static str)],
    pub env: &'static [(&'static str, &'static str)],
    pub args: &'static [&'static str],
    /// The tool that runs `{line}`.
    pub shell: DrivenTool,
    /// The tool that makes the file `{path}` with the line `{text}` in it.
    pub write: DrivenTool,
}

/// A tool as the model calls it.
#[derive(Clone, Copy, Debug)]
pub struct DrivenTool {
    pub name: &'static str,
    /// JSON, in whose texts the words in braces are replaced.
    pub input: &'static str,
}

impl DrivenAgent {
    /// As `taut --agent` names it.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.client.id
    }

    /// Puts the client and what it runs on in front of the sandbox's `PATH`, and its files into the home.
    ///
    /// # Errors
    /// When the client cannot be installed, or a file cannot be written.
    pub fn settle(&self, sandbox: &Sandbox) -> io::Result<()> {
        let client = RealClient::of(self.client)?;
        let bin = sandbox.root().join("bin");
        let programs = [Some(client.program().to_owned()), client.runtime().map(|folder| folder.join("node"))];
        for program in programs.into_iter().flatten() {
            let name = program.file_name().unwrap_or_default();
            std::os::unix::fs::symlink(&program, bin.join(name))?;
        }
        let home = sandbox.home();
        for (path, text) in self.files {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&home))?;
            fs::write(path, launch::filled(text, &home, ""))?;
        }
        Ok(())
    }

    /// The model runs this line in a shell.
    #[must_use]
    pub fn runs(&self, line: &str) -> Turn {
        self.shell.called(&[("{line}", line)])
    }

    /// The model makes this file.
    #[must_use]
    pub fn writes(&self, path: &Path, text: &str) -> Turn {
        self.write.called(&[("{path}", &path.display().to_string()), ("{text}", text)])
    }
}

impl DrivenTool {
    /// # Panics
    /// When its input is no JSON.
    fn called(&self, words: &[(&str, &str)]) -> Turn {
        let mut input = match serde_json::from_str(self.input) {
            Ok(input) => input,
            Err(cause) => panic!("the input of {}: {cause}", self.name),
        };
        replace(&mut input, words);
        Turn::call(self.name, input)
    }
}

fn replace(value: &mut Value, words: &[(&str, &str)]) {
    match value {
        Value::String(text) => {
            for (word, meant) in words {
                *text = text.replace(word, meant);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| replace(value, words)),
        Value::Object(fields) => fields.values_mut().for_each(|value| replace(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

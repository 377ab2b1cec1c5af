//! A whole file of ours, where an agent runs scripts of a folder instead of naming them in its settings.
//!
//! Its first line says that it is ours, of which version, and which program it calls. Any other file at that path is
//! somebody else's and is never touched.

use crate::settings::{CommandForm, Edited, HookEntry, Inspection, Leaves, Registered, SettingsError, SettingsPlan};

/// How an agent's script is made.
#[derive(Debug)]
pub struct ScriptFile {
    /// Every event that the script calls us for.
    pub registered: &'static [Registered],
    /// What follows the first line. A line comment begins with `//`.
    pub text: fn(&SettingsPlan) -> String,
}

const MARK: &str = "// taut ";

impl ScriptFile {
    /// Makes the file, or brings ours up to date.
    pub fn edit(&self, text: &str, plan: &SettingsPlan) -> Result<Edited, SettingsError> {
        let mut edited = Edited::unchanged(text);
        if !text.is_empty() && program(text).is_none() {
            let why = "this file is not one of Taut's and is left alone; move it elsewhere, or give it another name";
            return Err(SettingsError::at(text, 0, why));
        }
        let wanted = format!("{}\n{}", first_line(&plan.command), (self.text)(plan));
        if text != wanted {
            edited.text = wanted;
            edited.events = self.registered.iter().map(|event| event.name.to_owned()).collect();
        }
        Ok(edited)
    }

    /// Takes all of it out, if it is ours.
    pub fn remove(&self, text: &str, _allow: &[String]) -> Result<Edited, SettingsError> {
        let mut edited = Edited::unchanged(text);
        if program(text).is_some() {
            edited.text = String::new();
            edited.leaves = Leaves::NoFile;
            edited.events = self.registered.iter().map(|event| event.name.to_owned()).collect();
        }
        Ok(edited)
    }

    pub fn inspect(&self, text: &str) -> Result<Inspection, SettingsError> {
        let entry = |program: &str, event: &Registered| HookEntry {
            event: event.name.to_owned(),
            program: program.to_owned(),
            form: CommandForm::Exec,
            matcher: None,
            line: 1,
        };
        let program = program(text);
        let entries = program.iter().flat_map(|program| self.registered.iter().map(|event| entry(program, event)));
        Ok(Inspection { entries: entries.collect(), ..Inspection::default() })
    }
}

fn first_line(program: &str) -> String {
    let (version, program) = (env!("CARGO_PKG_VERSION"), serde_json::Value::from(program));
    format!("{MARK}{version} {program} -- made by `taut init`, taken away by `taut uninstall`; changes are lost")
}

/// The program that the first line names, if it is one of ours.
fn program(text: &str) -> Option<String> {
    let line = text.lines().next()?.strip_prefix(MARK)?;
    let (version, rest) = line.split_once(' ')?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    is_version.then(|| values.next()?.ok()).flatten()
}

//! Changes to the user's own `taut/config.toml`: planned, shown, then written
//! whole or not at all. Comments and order stay as they were.

use crate::error::CliError;
use host::paths::PathVariables;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules, Unread};
use toml_edit::{DocumentMut, Item, Table, TableLike};

/// A larger configuration is none that a hook reads.
pub const LARGEST: u64 = 256 * 1024;

/// A change that has not been made yet.
pub struct ConfigChange {
    pub file: PathBuf,
    /// `None` where there is no file.
    before: Option<String>,
    after: String,
}

/// What the file is; `None` where there is none.
pub fn read(file: &Path) -> Result<Option<String>, CliError> {
    match outside::read(file, &Rules::up_to(LARGEST)) {
        Ok(bytes) => Ok(Some(String::from_utf8(bytes).map_err(|error| {
            CliError::failed(format!("{} is not text; nothing was changed", file.display())).because(&error)
        })?)),
        Err(Unread::Missing) => Ok(None),
        Err(error) => Err(CliError::failed(format!("cannot read {}", file.display())).because(&error)),
    }
}

/// The file with this text.
pub fn replace(after: String) -> Result<ConfigChange, CliError> {
    let file = PathVariables::from_process().user_config();
    Ok(ConfigChange { before: read(&file)?, file, after })
}

/// What the file would be.
pub fn plan(change: impl FnOnce(&mut DocumentMut) -> Result<(), CliError>) -> Result<ConfigChange, CliError> {
    plan_in(PathVariables::from_process().user_config(), change)
}

/// What a project's own configuration would be.
pub fn plan_in(
    file: PathBuf,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), CliError>,
) -> Result<ConfigChange, CliError> {
    let before = read(&file)?;
    let text = before.as_deref().unwrap_or_default();
    let mut config: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        CliError::failed(format!("{} is not TOML; nothing was changed", file.display()))
            .because(&error)
            .hint("taut policy check")
    })?;
    change(&mut config)?;
    let after = with_lines_of(text, &config.to_string());
    Ok(ConfigChange { file, after, before })
}

/// The text after an edit, whose lines end as they did: TOML is written with one ending only.
pub fn with_lines_of(before: &str, after: &str) -> String {
    const MARK: char = '\u{feff}';
    if !before.contains('\r') && !before.starts_with(MARK) {
        return after.to_string();
    }
    let (old, new) = (lines(before.trim_start_matches(MARK)), lines(after.trim_start_matches(MARK)));
    let same = |(one, other): &(&ConfigLine<'_>, &ConfigLine<'_>)| one.text == other.text;
    let head = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(same).count();
    let windows = old.iter().filter(|line| line.end == "\r\n").count();
    let usual = if windows * 2 >= old.len() { "\r\n" } else { "\n" };
    let mut out: String = before.chars().take_while(|c| *c == MARK).collect();
    for (at, line) in new.iter().enumerate() {
        let known = if at < head {
            old.get(at)
        } else if new.len() - at <= tail {
            old.get(old.len() + at - new.len())
        } else {
            None
        };
        out.push_str(line.text);
        if !line.end.is_empty() {
            out.push_str(known.map(|known| known.end).filter(|end| !end.is_empty()).unwrap_or(usual));
        }
    }
    out
}

struct ConfigLine<'t> {
    text: &'t str,
    end: &'t str,
}

impl<'t> ConfigLine<'t> {
    fn of(whole: &'t str) -> Self {
        let text = whole.strip_suffix('\n').map_or(whole, |text| text.strip_suffix('\r').unwrap_or(text));
        Self { text, end: whole.strip_prefix(text).unwrap_or_default() }
    }
}

fn lines(text: &str) -> Vec<ConfigLine<'_>> {
    text.split_inclusive('\n').map(ConfigLine::of).collect()
}

pub fn section<'a>(config: &'a mut DocumentMut, name: &str) -> Result<&'a mut Table, CliError> {
    let item = config.entry(name).or_insert(Item::Table(Table::new()));
    item.as_table_mut().ok_or_else(|| wrong_shape(name))
}

/// A section that holds plain values only, and may be written on one line.
pub fn values<'a>(config: &'a mut DocumentMut, name: &str) -> Result<&'a mut dyn TableLike, CliError> {
    let item = config.entry(name).or_insert(Item::Table(Table::new()));
    item.as_table_like_mut().ok_or_else(|| wrong_shape(name))
}

pub fn wrong_shape(name: &str) -> CliError {
    CliError::failed(format!("`{name}` in your configuration is not a table; nothing was changed"))
        .hint("taut policy check")
}

impl ConfigChange {
    pub fn after(&self) -> &str {
        &self.after
    }

    pub fn before(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// As people read it; empty when there is none.
    pub fn diff(&self) -> String {
        // A file that is not there and one that says nothing are the same.
        if self.before() == self.after {
            return String::new();
        }
        let name = self.file.to_string_lossy();
        host::settings_file::unified(&name, self.before.as_deref(), Some(&self.after))
    }

    /// Whole or not at all: a configuration torn in half would be a guard half off.
    pub fn write(&self) -> Result<&Path, CliError> {
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let real = std::fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone());
        let next = real.with_extension("toml.next");
        // Theirs to open further or not; a new one is nobody else's business.
        let mode = std::fs::metadata(&real).map_or(Permissions::from_mode(0o600), |meta| meta.permissions());
        std::fs::write(&next, "")?;
        std::fs::set_permissions(&next, mode)?;
        std::fs::write(&next, &self.after)?;
        std::fs::rename(&next, &real)?;
        Ok(&self.file)
    }
}

//! Puts a preset's files into a project and its aliases into our own folder,
//! never over anything of the user's.

use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use sys::outside::{self, Rules, Unread};

/// Larger than any file of a preset.
const LARGEST: u64 = 1 << 20;

/// What a preset wants in a project, by path below it.
pub type Files<'p> = &'p [(&'p str, &'p str)];

/// A file that a preset adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    pub path: PathBuf,
    pub text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum PresetError {
    #[error("{} is there already and says something else; nothing was changed. Move it away or add the preset's lines by hand", path.display())]
    Taken { path: PathBuf },
    #[error("cannot write {}: {source}. `ls -ld` its folder shows who may", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// The files that are still missing. One that is there and differs is the
/// user's, and stops the whole.
pub fn plan(project: &Path, files: Files<'_>) -> Result<Vec<NewFile>, PresetError> {
    let mut missing = Vec::new();
    for (name, text) in files {
        let path = project.join(name);
        match outside::read(&path, &Rules::up_to(LARGEST)) {
            Ok(bytes) if bytes == text.as_bytes() => {}
            Err(Unread::Missing) => {
                missing.push(NewFile { path, text: (*text).to_owned() });
            }
            _ => return Err(PresetError::Taken { path }),
        }
    }
    Ok(missing)
}

/// Writes the files that a plan found missing.
pub fn write(files: &[NewFile]) -> Result<(), PresetError> {
    for file in files {
        let failed = |source| PresetError::Write { path: file.path.clone(), source };
        if let Some(folder) = file.path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&file.path);
        let mut made = made.map_err(failed)?;
        io::Write::write_all(&mut made, file.text.as_bytes()).map_err(failed)?;
        if file.text.starts_with("#!") {
            made.set_permissions(std::fs::Permissions::from_mode(0o755)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Makes the other names of a program in `bin` of our own folder.
pub fn link_aliases(state: &Path, program: &Path, aliases: &[&str]) -> Result<Vec<PathBuf>, PresetError> {
    let folder = state.join("bin");
    let mut made = Vec::new();
    for alias in aliases {
        let path = folder.join(alias);
        let failed = |source| PresetError::Write { path: path.clone(), source };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        match std::fs::read_link(&path) {
            Ok(link) if link == program => continue,
            // An older link of ours; the program has moved.
            Ok(link) if link.file_name() == program.file_name() => std::fs::remove_file(&path).map_err(failed)?,
            Ok(_) => return Err(PresetError::Taken { path }),
            Err(_) if path.exists() => return Err(PresetError::Taken { path }),
            Err(_) => {}
        }
        symlink(program, &path).map_err(failed)?;
        made.push(path);
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i3_a_preset_writes_what_is_missing_and_nothing_over_the_users_own() {
        let folder = tempfile::tempdir().unwrap();
        let files = [(".taut/config.toml", "[session]\nrequired = true\n")];
        let missing = plan(folder.path(), &files).unwrap();
        write(&missing).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join(".taut/config.toml")).unwrap(), files[0].1);
        assert_eq!(plan(folder.path(), &files).unwrap(), []);
        std::fs::write(folder.path().join(".taut/config.toml"), "mine").unwrap();
        assert!(matches!(plan(folder.path(), &files), Err(PresetError::Taken { .. })));
        assert!(matches!(write(&missing), Err(PresetError::Write { .. })));
    }

    #[test]
    fn i3_aliases_are_links_in_our_folder_and_spare_other_programs() {
        let folder = tempfile::tempdir().unwrap();
        let program = Path::new("/opt/taut");
        assert_eq!(link_aliases(folder.path(), program, &["task", "engine"]).unwrap().len(), 2);
        assert_eq!(link_aliases(folder.path(), program, &["task", "engine"]).unwrap().len(), 0);
        assert_eq!(link_aliases(folder.path(), Path::new("/new/taut"), &["task"]).unwrap().len(), 1);
        std::fs::write(folder.path().join("bin/fresher"), "mine").unwrap();
        assert!(matches!(link_aliases(folder.path(), program, &["fresher"]), Err(PresetError::Taken { .. })));
    }
}

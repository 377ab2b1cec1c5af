//! The bell of a session: a file that its client watches. A change of it wakes a
//! client at rest whose terminal nobody can type into; what waits for it comes
//! with the hook that follows.

use engine::fleet::wake::trigger;
use model::session::Session;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::Store;

const FOLDER: &str = "bells";
/// Longer than any id of a session.
const LONGEST: usize = 128;
/// The file of a session that began so long ago is nobody's any more.
const KEPT: Duration = Duration::from_secs(30 * 86_400);
/// So many are looked at when a session begins.
const MOST: usize = 500;

/// Makes the bell of a session that begins, by the client's own id of it.
pub fn make(state: &Path, host_session: &str) -> io::Result<PathBuf> {
    let path = path(state, host_session).ok_or(io::ErrorKind::InvalidInput)?;
    let folder = state.join(FOLDER);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    clear_old(&folder);
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&path)?;
    Ok(path)
}

/// Whether the client of this session watches one.
pub fn is_there(state: &Path, session: &Session) -> bool {
    let path = session.host_session.as_deref().and_then(|id| path(state, id));
    path.is_some_and(|path| path.symlink_metadata().is_ok_and(|found| found.is_file()))
}

/// Rings it, where there is one.
pub fn ring(state: &Path, session: &Session) -> bool {
    let Some(path) = session.host_session.as_deref().and_then(|id| path(state, id)) else { return false };
    let opened = OpenOptions::new().write(true).truncate(true).custom_flags(libc::O_NOFOLLOW).open(path);
    opened.and_then(|mut bell| writeln!(bell, "{}", host::clock::now().0)).is_ok()
}

/// What a client whose bell was rung is told; nothing where nothing waits for it.
pub fn heard(store: &Store, host_session: &str) -> Result<Option<String>, store::Error> {
    let waits = store.wakeable()?.into_iter().find(|one| one.session.host_session.as_deref() == Some(host_session));
    Ok(waits.map(|one| trigger(one.messages)))
}

/// The id comes from outside and names a file: letters that lead nowhere else.
fn path(state: &Path, host_session: &str) -> Option<PathBuf> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let sound = !host_session.is_empty() && host_session.len() <= LONGEST && host_session.chars().all(plain);
    sound.then(|| state.join(FOLDER).join(host_session))
}

fn clear_old(folder: &Path) {
    for found in std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST) {
        let age = found.metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = std::fs::remove_file(found.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> Session {
        Session { host_session: Some(id.to_string()), ..Session::default() }
    }

    #[test]
    fn f3_only_a_session_that_has_a_bell_is_rung_and_its_name_leads_nowhere_else() {
        let state = tempfile::tempdir().unwrap();
        assert!(!ring(state.path(), &session("one")) && !is_there(state.path(), &session("one")));
        let path = make(state.path(), "one").unwrap();
        assert!(is_there(state.path(), &session("one")) && ring(state.path(), &session("one")));
        let rung = std::fs::read_to_string(&path).unwrap();
        assert!(rung.trim().parse::<i64>().is_ok_and(|at| at > 0), "{rung}");
        for odd in ["", "../one", "a/b", ".", "a b", "a\0b", &"x".repeat(129)] {
            assert!(make(state.path(), odd).is_err() && !ring(state.path(), &session(odd)), "{odd:?}");
        }
        let elsewhere = state.path().join("mine");
        std::fs::write(&elsewhere, "mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, state.path().join(FOLDER).join("link")).unwrap();
        assert!(!ring(state.path(), &session("link")));
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "mine");
    }
}

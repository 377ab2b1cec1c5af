//! The key of this machine: an Ed25519 key, drawn once, kept in the state folder for its user alone. What it signs is known
//! on another machine where a person there has said to trust it.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use sys::outside::{self, Rules};
use thiserror::Error;

/// In the state folder.
pub const FILE: &str = "machine.key";

const SEED: usize = 32;
/// Of the file: the digits and the end of their line.
const LARGEST: u64 = 256;

#[derive(Debug, Error)]
pub enum MachineKeyError {
    #[error("the key of this machine cannot be read or made at {path}")]
    File { path: String, source: io::Error },
    #[error(
        "{0} is no key of a machine: take it away, and another is drawn; who trusted this machine has to do so again"
    )]
    Damaged(String),
    #[error("{0} can be read by others, so what it signs proves nothing: take it away, and another is drawn")]
    Open(String),
    #[error("this build of Taut has no keys of machines: it was built without `shared`")]
    NotBuilt,
}

/// A key that signs.
pub struct MachineKey {
    seed: [u8; SEED],
}

impl MachineKey {
    /// The key that is there.
    ///
    /// # Errors
    /// Where it cannot be read, is none, or is not this user's alone.
    pub fn open(state: &Path) -> Result<Option<Self>, MachineKeyError> {
        let path = state.join(FILE);
        let shown = path.display().to_string();
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(MachineKeyError::File { path: shown, source }),
        };
        if found.mode() & 0o077 != 0 {
            return Err(MachineKeyError::Open(shown));
        }
        let text = outside::read_text(&path, &Rules::obeyed(LARGEST)).unwrap_or_default();
        let seed = bytes(text.trim()).and_then(|bytes| <[u8; SEED]>::try_from(bytes).ok());
        seed.map(|seed| Some(Self { seed })).ok_or(MachineKeyError::Damaged(shown))
    }

    /// The key that is there, or one that is drawn now. Of two that draw at once one is kept.
    ///
    /// # Errors
    /// As [`MachineKey::open`], and where no file can be made.
    pub fn open_or_draw(state: &Path) -> Result<Self, MachineKeyError> {
        if let Some(key) = Self::open(state)? {
            return Ok(key);
        }
        let failed = |source| MachineKeyError::File { path: state.join(FILE).display().to_string(), source };
        let seed = signing::seed()?;
        put(state, &hex(&seed)).map_err(failed)?;
        Self::open(state)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }

    /// What others know it by, in hexadecimal digits.
    ///
    /// # Errors
    /// In a build without keys.
    pub fn public(&self) -> Result<String, MachineKeyError> {
        signing::public(&self.seed).map(|bytes| hex(&bytes))
    }

    /// The signature of this text, in hexadecimal digits.
    ///
    /// # Errors
    /// In a build without keys.
    pub fn sign(&self, text: &str) -> Result<String, MachineKeyError> {
        signing::sign(&self.seed, text.as_bytes()).map(|bytes| hex(&bytes))
    }
}

/// Whether the machine with this public key has signed exactly this text.
#[must_use]
pub fn is_signed(public: &str, text: &str, signature: &str) -> bool {
    match (bytes(public), bytes(signature)) {
        (Some(public), Some(signature)) => signing::is_signed(&public, text.as_bytes(), &signature),
        _ => false,
    }
}

/// Whether this is what a public key looks like.
#[must_use]
pub fn is_public(text: &str) -> bool {
    bytes(text).is_some_and(|bytes| bytes.len() == SEED)
}

/// Never written over: what stands there may be the key that others trust.
fn put(state: &Path, text: &str) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    let beside = state.join(format!("{FILE}.{}", std::process::id()));
    let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside);
    let written = written.and_then(|mut file| {
        file.write_all(format!("{text}\n").as_bytes())?;
        file.sync_all()
    });
    let linked = written.and_then(|()| fs::hard_link(&beside, state.join(FILE)));
    let _ = fs::remove_file(&beside);
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// `None` where the text is no row of pairs of digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    if text.len() > 256 || !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pair = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(pair).collect()
}

#[cfg(feature = "machine-key")]
mod signing {
    use super::{MachineKeyError, SEED};
    use ring::rand::{SecureRandom, SystemRandom};
    use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

    pub fn seed() -> Result<[u8; SEED], MachineKeyError> {
        let mut seed = [0; SEED];
        let none = std::io::Error::other("the system gives no random bytes");
        SystemRandom::new()
            .fill(&mut seed)
            .map_err(|_| MachineKeyError::File { path: super::FILE.to_string(), source: none })?;
        Ok(seed)
    }

    fn pair(seed: &[u8]) -> Result<Ed25519KeyPair, MachineKeyError> {
        Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| MachineKeyError::Damaged(super::FILE.to_string()))
    }

    pub fn public(seed: &[u8]) -> Result<Vec<u8>, MachineKeyError> {
        Ok(pair(seed)?.public_key().as_ref().to_vec())
    }

    pub fn sign(seed: &[u8], text: &[u8]) -> Result<Vec<u8>, MachineKeyError> {
        Ok(pair(seed)?.sign(text).as_ref().to_vec())
    }

    pub fn is_signed(public: &[u8], text: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, public).verify(text, signature).is_ok()
    }
}

/// Without keys nothing is signed, and nothing counts as signed.
#[cfg(not(feature = "machine-key"))]
mod signing {
    use super::{MachineKeyError, SEED};

    pub fn seed() -> Result<[u8; SEED], MachineKeyError> {
        Err(MachineKeyError::NotBuilt)
    }

    pub fn public(_: &[u8]) -> Result<Vec<u8>, MachineKeyError> {
        Err(MachineKeyError::NotBuilt)
    }

    pub fn sign(_: &[u8], _: &[u8]) -> Result<Vec<u8>, MachineKeyError> {
        Err(MachineKeyError::NotBuilt)
    }

    pub fn is_signed(_: &[u8], _: &[u8], _: &[u8]) -> bool {
        false
    }
}

#[cfg(all(test, feature = "machine-key"))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn f6_a_key_is_drawn_once_for_its_user_alone_and_what_it_signs_is_known() {
        let state = tempfile::tempdir().unwrap();
        assert!(MachineKey::open(state.path()).unwrap().is_none());
        let key = MachineKey::open_or_draw(state.path()).unwrap();
        let public = key.public().unwrap();
        assert!(is_public(&public));
        assert_eq!(MachineKey::open_or_draw(state.path()).unwrap().public().unwrap(), public);
        let mode = fs::metadata(state.path().join(FILE)).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1, "nothing is left beside it");
        let signature = key.sign("allow").unwrap();
        assert!(is_signed(&public, "allow", &signature));
        for (key, text, signature) in
            [(&public, "deny", &signature), (&signature, "allow", &signature), (&public, "allow", &public)]
        {
            assert!(!is_signed(key, text, signature));
        }
        let other = MachineKey::open_or_draw(tempfile::tempdir().unwrap().path()).unwrap();
        assert!(!is_signed(&other.public().unwrap(), "allow", &signature));
        for strange in ["", "zz", "é1", &"0".repeat(10_000)] {
            assert!(!is_signed(&public, "allow", strange) && !is_public(strange), "{strange}");
        }
    }

    #[test]
    fn f6_a_key_that_others_can_read_or_that_is_none_signs_nothing() {
        let state = tempfile::tempdir().unwrap();
        MachineKey::open_or_draw(state.path()).unwrap();
        let file = state.path().join(FILE);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(MachineKey::open_or_draw(state.path()), Err(MachineKeyError::Open(_))));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&file, "half a key").unwrap();
        assert!(matches!(MachineKey::open_or_draw(state.path()), Err(MachineKeyError::Damaged(_))));
        assert_eq!(fs::read_to_string(&file).unwrap(), "half a key", "nothing is written over");
    }
}

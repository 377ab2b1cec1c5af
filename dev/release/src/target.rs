//! The machines that there are packages for, and what each registry calls them.

use std::path::PathBuf;
use std::{env, fs};

use crate::error::PackError;
use crate::{PACKAGE, elf};

/// One kind of machine.
#[derive(Debug, PartialEq, Eq)]
pub struct PackageTarget {
    pub triple: &'static str,
    /// What `uname -sm` says there.
    pub uname: &'static str,
    /// npm's words for `os` and `cpu`.
    pub npm: (&'static str, &'static str),
    /// The platforms of a wheel. A static program serves both C libraries of Linux.
    pub wheel: &'static str,
    /// Debian's word for the processor.
    pub debian: Option<&'static str>,
    /// Homebrew's blocks for system and processor.
    pub brew: (&'static str, &'static str),
}

pub const TARGETS: &[PackageTarget] = &[
    PackageTarget {
        triple: "x86_64-unknown-linux-gnu",
        uname: "Linux x86_64",
        npm: ("linux", "x64"),
        wheel: "manylinux2014_x86_64.musllinux_1_1_x86_64",
        debian: Some("amd64"),
        brew: ("on_linux", "on_intel"),
    },
    PackageTarget {
        triple: "aarch64-unknown-linux-gnu",
        uname: "Linux aarch64",
        npm: ("linux", "arm64"),
        wheel: "manylinux2014_aarch64.musllinux_1_1_aarch64",
        debian: Some("arm64"),
        brew: ("on_linux", "on_arm"),
    },
    PackageTarget {
        triple: "aarch64-apple-darwin",
        uname: "Darwin arm64",
        npm: ("darwin", "arm64"),
        wheel: "macosx_11_0_arm64",
        debian: None,
        brew: ("on_macos", "on_arm"),
    },
    PackageTarget {
        triple: "x86_64-apple-darwin",
        uname: "Darwin x86_64",
        npm: ("darwin", "x64"),
        wheel: "macosx_11_0_x86_64",
        debian: None,
        brew: ("on_macos", "on_intel"),
    },
];

impl PackageTarget {
    /// The machine that this runs on.
    #[must_use]
    pub fn host() -> Option<&'static Self> {
        let system = if env::consts::OS == "macos" { "apple-darwin" } else { env::consts::OS };
        TARGETS.iter().find(|target| target.triple.starts_with(env::consts::ARCH) && target.triple.contains(system))
    }

    /// `linux-x64`: the machine in the names of npm packages and of folders in the plugin.
    pub(crate) fn platform(&self) -> String {
        format!("{}-{}", self.npm.0, self.npm.1)
    }

    /// The npm package with this machine's program.
    pub(crate) fn npm_package(&self) -> String {
        format!("{PACKAGE}-{}", self.platform())
    }
}

/// A program, and the machine it is for.
#[derive(Debug, Clone)]
pub struct TargetBinary {
    pub target: &'static PackageTarget,
    pub bytes: Vec<u8>,
}

impl TargetBinary {
    /// Reads `program`, or `target=program`. A program for Linux that is not static would not run everywhere that its
    /// packages are for, and one with symbols is larger for nothing.
    ///
    /// # Errors
    /// When it cannot be read or is not fit to be packed.
    pub fn read(given: &str) -> Result<(Self, PathBuf), PackError> {
        let (target, path) = match given.split_once('=') {
            Some((name, path)) => (find(name)?, PathBuf::from(path)),
            None => (PackageTarget::host().ok_or(PackError::NoHost)?, PathBuf::from(given)),
        };
        let bytes = fs::read(&path).map_err(PackError::at(&path))?;
        if target.npm.0 == "linux"
            && let Err(why) = elf::fit_to_be_packed(&bytes)
        {
            return Err(PackError::Program { path, why });
        }
        Ok((Self { target, bytes }, path))
    }
}

fn find(name: &str) -> Result<&'static PackageTarget, PackError> {
    let known = || TARGETS.iter().map(|target| target.triple).collect::<Vec<_>>().join(", ");
    TARGETS
        .iter()
        .find(|target| target.triple == name)
        .ok_or_else(|| PackError::NoTarget { given: name.to_owned(), known: known() })
}

//! Makes every package of a release from programs that are already built: without a network, and the same bytes twice.

mod archive;
mod checksums;
mod deb;
mod elf;
mod error;
mod formula;
mod from_program;
mod installer;
mod lock_file;
mod npm;
mod pack;
mod plugin;
mod sbom;
mod target;
mod verify;
mod wheel;

pub use error::PackError;
pub use from_program::ProgramPages;
pub use pack::{ReleaseInput, pack};
pub use target::{PackageTarget, TARGETS, TargetBinary};
pub use verify::verify;

/// The name in every registry; the program itself is called `taut`.
pub const PACKAGE: &str = "taut-cli";

/// The one version of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) const SUMMARY: &str = "Guard, memory and task queue on every lifecycle hook of a coding agent";
pub(crate) const LICENCE: &str = "MIT OR Apache-2.0";
pub(crate) const LICENCE_MIT: &str = include_str!("../../../LICENSE-MIT");
pub(crate) const LICENCE_APACHE: &str = include_str!("../../../LICENSE-APACHE");

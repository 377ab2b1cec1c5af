//! npm: one package for each machine with the program, and one that has the name and starts the right of them.
//!
//! No script runs at installation (npm refuses those of dependencies), and the entry is a few lines of `sh`, which become
//! the program: whatever asks which program this is (`taut init`) sees the program itself.

use std::io;

use serde_json::{Map, Value, json};

use crate::archive::{PackedFile, tar_gz};
use crate::pack::{NewFile, ReleaseInput};
use crate::{LICENCE, LICENCE_APACHE, LICENCE_MIT, PACKAGE, SUMMARY, TargetBinary, VERSION};

const ENTRY: &str = include_str!("../files/npm-entry.sh");
const README: &str = include_str!("../files/package-readme.md");

pub(crate) fn packages(input: &ReleaseInput) -> io::Result<Vec<NewFile>> {
    let mut made = vec![package(input, main_package(input))?];
    for binary in &input.binaries {
        made.push(package(input, platform_package(input, binary))?);
    }
    Ok(made)
}

/// A package as a folder: its name, and what it holds.
pub(crate) struct NpmPackage {
    pub name: String,
    pub files: Vec<PackedFile>,
}

pub(crate) fn package(input: &ReleaseInput, package: NpmPackage) -> io::Result<NewFile> {
    let files: Vec<_> = package.files.into_iter().map(|file| file.below("package")).collect();
    Ok(NewFile { name: format!("{}-{VERSION}.tgz", package.name), bytes: tar_gz(&files, input.time)? })
}

fn main_package(input: &ReleaseInput) -> NpmPackage {
    let platforms: Map<String, Value> =
        input.binaries.iter().map(|binary| (binary.target.npm_package(), json!(VERSION))).collect();
    let manifest = json!({
        "name": PACKAGE, "version": VERSION, "description": SUMMARY, "license": LICENCE,
        "os": ["linux", "darwin"], "bin": {"taut": "bin/taut"}, "optionalDependencies": platforms,
        "man": input.pages.manual.iter().map(|page| format!("man/{}", page.name)).collect::<Vec<_>>(),
    });
    let mut files = vec![PackedFile::program("bin/taut", ENTRY.as_bytes()), PackedFile::text("README.md", README)];
    // npm links manual pages into place. It knows no completions: their scripts lie in the package for whoever wants them.
    files.extend(input.pages.in_archive());
    with_head(input, PACKAGE.to_owned(), manifest, files)
}

fn platform_package(input: &ReleaseInput, binary: &TargetBinary) -> NpmPackage {
    let name = binary.target.npm_package();
    let (os, cpu) = binary.target.npm;
    let manifest = json!({
        "name": name, "version": VERSION, "license": LICENCE, "os": [os], "cpu": [cpu], "preferUnplugged": true,
        "description": format!("{PACKAGE} for {}", binary.target.uname),
    });
    with_head(input, name, manifest, vec![PackedFile::program("bin/taut", &binary.bytes)])
}

/// The manifest and the licences in front of the files. The registry takes a proof of origin only where the package names the
/// repository that it comes from.
pub(crate) fn with_head(input: &ReleaseInput, name: String, mut manifest: Value, files: Vec<PackedFile>) -> NpmPackage {
    if let Some(home) = input.home() {
        manifest["repository"] = json!({"type": "git", "url": format!("git+{home}.git")});
    }
    let mut all = vec![PackedFile::text("package.json", format!("{manifest:#}\n"))];
    all.push(PackedFile::text("LICENSE-APACHE", LICENCE_APACHE));
    all.push(PackedFile::text("LICENSE-MIT", LICENCE_MIT));
    all.extend(files);
    NpmPackage { name, files: all }
}

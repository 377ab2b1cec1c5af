//! All packages of one release, in one folder.

use std::path::Path;
use std::{fs, thread};

use crate::archive::{PackedFile, tar_gz};
use crate::error::PackError;
use crate::{
    LICENCE_APACHE, LICENCE_MIT, PackageTarget, ProgramPages, TargetBinary, VERSION, checksums, deb, formula,
    installer, npm, plugin, sbom, wheel,
};

const CHANGES: &str = include_str!("../../../CHANGELOG.md");

/// What a release is made of.
#[derive(Debug)]
pub struct ReleaseInput {
    pub binaries: Vec<TargetBinary>,
    pub pages: ProgramPages,
    /// Where the files will be found: for the formula and the installer.
    pub url: String,
    /// In seconds since 1970, for everything that has a time.
    pub time: u64,
}

impl ReleaseInput {
    /// The project's own page, where the files will be found below it.
    pub(crate) fn home(&self) -> Option<&str> {
        self.url.split_once("/releases/").map(|(home, _)| home)
    }
}

/// A file of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The archive of one machine.
#[derive(Debug)]
pub(crate) struct ReleasedArchive {
    pub target: &'static PackageTarget,
    pub file: NewFile,
}

/// Writes every package and `SHA256SUMS` into a folder, which is made where it is not there, and names them.
///
/// # Errors
/// When something cannot be read or written.
pub fn pack(input: &ReleaseInput, out: &Path) -> Result<Vec<String>, PackError> {
    let mut files = made(input)?;
    files.sort_by(|one, other| one.name.cmp(&other.name));
    let sums = checksums::write(files.iter().map(|file| (file.name.as_str(), file.bytes.as_slice())));
    files.push(NewFile { name: checksums::FILE.to_owned(), bytes: sums.into_bytes() });
    fs::create_dir_all(out).map_err(PackError::at(out))?;
    for file in &files {
        let path = out.join(&file.name);
        fs::write(&path, &file.bytes).map_err(PackError::at(&path))?;
    }
    Ok(files.into_iter().map(|file| file.name).collect())
}

/// Compressing is nearly all of the work, so every kind of package has a thread.
fn made(input: &ReleaseInput) -> Result<Vec<NewFile>, PackError> {
    thread::scope(|scope| {
        let kinds = [
            scope.spawn(|| archives(input)),
            scope.spawn(|| Ok(npm::packages(input)?)),
            scope.spawn(|| input.binaries.iter().map(|binary| Ok(wheel::wheel(input, binary)?)).collect()),
            scope.spawn(|| debs(input)),
            scope.spawn(|| plugin::packages(input)),
        ];
        let mut files = vec![sbom::file()?, notes()];
        for kind in kinds {
            files.extend(kind.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))?);
        }
        Ok(files)
    })
}

fn debs(input: &ReleaseInput) -> Result<Vec<NewFile>, PackError> {
    let made: Result<Vec<_>, _> = input.binaries.iter().map(|binary| deb::package(input, binary)).collect();
    Ok(made?.into_iter().flatten().collect())
}

/// The archives, and the two files that name them with their checksums.
fn archives(input: &ReleaseInput) -> Result<Vec<NewFile>, PackError> {
    let mut archives = Vec::new();
    for binary in &input.binaries {
        let name = format!("taut-{VERSION}-{}", binary.target.triple);
        let mut files = vec![
            PackedFile::program("taut", &binary.bytes),
            PackedFile::text("LICENSE-APACHE", LICENCE_APACHE),
            PackedFile::text("LICENSE-MIT", LICENCE_MIT),
        ];
        files.extend(input.pages.in_archive());
        let files: Vec<_> = files.into_iter().map(|file| file.below(&name)).collect();
        let file = NewFile { bytes: tar_gz(&files, input.time)?, name: format!("{name}.tar.gz") };
        archives.push(ReleasedArchive { target: binary.target, file });
    }
    let named = [installer::script(input, &archives), formula::formula(input, &archives)];
    Ok(archives.into_iter().map(|archive| archive.file).chain(named).collect())
}

/// What changed with this version, for the page of the release.
fn notes() -> NewFile {
    let section = CHANGES.split("\n## ").find(|section| section.starts_with(VERSION)).unwrap_or_default();
    let text = section.split_once('\n').map_or("", |(_, text)| text).trim();
    NewFile { name: "CHANGES.md".to_owned(), bytes: format!("{text}\n").into_bytes() }
}

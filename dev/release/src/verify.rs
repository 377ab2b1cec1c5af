//! Whether a folder is a whole release: every file as its checksum says, one version, and one program for each machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use crate::archive::{PackedFile, gunzip, read_ar, read_tar_gz, read_zip};
use crate::error::PackError;
use crate::{PackageTarget, TARGETS, VERSION, checksums};

/// The completions of each shell, as an archive calls them.
const SCRIPTS: [&str; 3] = ["_taut", "taut.bash", "taut.fish"];

/// What a package says of itself.
struct PackageContent {
    version: Option<String>,
    /// The checksum of each program, with what the package calls its machine.
    programs: Vec<(String, String)>,
    /// The checksum of each manual page and each shell's script, by its name.
    pages: BTreeMap<String, String>,
}

impl PackageContent {
    fn of(name: &str, version: Option<String>, files: &[PackedFile]) -> Self {
        Self { version, programs: programs(name, files), pages: pages(files) }
    }
}

/// Everything that is wrong; nothing for a release that may go out.
///
/// # Errors
/// When the folder cannot be read.
pub fn verify(folder: &Path) -> Result<Vec<String>, PackError> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(PackError::at(folder))? {
        let path = entry.map_err(PackError::at(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.insert(name, fs::read(&path).map_err(PackError::at(&path))?);
    }
    let mut wrong = sums(&found);
    let mut programs: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut pages = BTreeMap::new();
    for (name, bytes) in &found {
        match content(name, bytes) {
            Ok(None) => {}
            Ok(Some(content)) => {
                if content.version.as_deref() != Some(VERSION) {
                    wrong
                        .push(format!("{name} is of version {:?}, not {VERSION}", content.version.unwrap_or_default()));
                }
                for (machine, sum) in content.programs {
                    programs.entry(machine_of(&machine).triple).or_default().insert(sum);
                }
                if brings_pages(name) {
                    pages.insert(name, content.pages);
                }
            }
            Err(cause) => wrong.push(format!("{name} cannot be read: {cause}")),
        }
    }
    wrong.extend(wrong_pages(&pages));
    for (machine, sums) in &programs {
        if sums.len() > 1 {
            wrong.push(format!("the packages for {machine} do not all have the same program"));
        }
        let machine = TARGETS.iter().find(|target| target.triple == *machine);
        let absent = machine.into_iter().flat_map(names).filter(|name| !found.contains_key(name));
        wrong.extend(absent.map(|name| format!("{name} is missing")));
    }
    Ok(wrong)
}

fn sums(found: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let Some(listed) = found.get(checksums::FILE).and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
        return vec![format!("{} is missing", checksums::FILE)];
    };
    let listed: BTreeMap<&str, &str> = checksums::read(listed).collect();
    let mut wrong = Vec::new();
    for (name, sum) in &listed {
        match found.get(*name) {
            None => wrong.push(format!("{name} is missing")),
            Some(bytes) if checksums::sha256(bytes) != *sum => {
                wrong.push(format!("{name} is not what its checksum says"))
            }
            Some(_) => {}
        }
    }
    let unlisted = found.keys().filter(|name| *name != checksums::FILE && !listed.contains_key(name.as_str()));
    wrong.extend(unlisted.map(|name| format!("{name} has no checksum")));
    wrong
}

/// What there has to be for a machine that there is any program for, and for all of them.
fn names(target: &PackageTarget) -> Vec<String> {
    let mut names = vec![
        format!("taut-{VERSION}-{}.tar.gz", target.triple),
        format!("{}-{VERSION}.tgz", target.npm_package()),
        format!("taut_cli-{VERSION}-py3-none-{}.whl", target.wheel),
    ];
    names.extend(target.debian.map(|processor| format!("taut-cli_{VERSION}_{processor}.deb")));
    let shared = ["install.sh", "taut-cli.rb", "CHANGES.md"].map(str::to_owned);
    let versioned = [
        format!("taut-cli-{VERSION}.tgz"),
        format!("taut-cli-plugin-{VERSION}.tgz"),
        format!("taut-marketplace-{VERSION}.tar.gz"),
        format!("taut-{VERSION}.cdx.json"),
    ];
    names.extend(shared.into_iter().chain(versioned));
    names
}

/// A machine by any word that a package has for it.
fn machine_of(word: &str) -> &'static PackageTarget {
    let known = |target: &&PackageTarget| {
        word.contains(target.triple)
            || word.contains(&target.platform())
            || word.contains(target.wheel)
            || target.debian.is_some_and(|processor| word.contains(&format!("_{processor}.deb")))
    };
    TARGETS.iter().find(known).unwrap_or(&TARGETS[0])
}

/// None for a file that is no package.
fn content(name: &str, bytes: &[u8]) -> io::Result<Option<PackageContent>> {
    let content = if name.ends_with(".deb") {
        let members = read_ar(bytes)?;
        let member = |wanted: &str| members.iter().find(|(name, _)| name == wanted).map(|(_, bytes)| bytes.as_slice());
        let control = read_tar_gz(member("control.tar.gz").unwrap_or_default())?;
        let data = read_tar_gz(member("data.tar.gz").unwrap_or_default())?;
        PackageContent::of(name, line_of(&control, "control", "Version: "), &data)
    } else if name.ends_with(".whl") {
        let files = read_zip(bytes)?;
        PackageContent::of(name, line_of(&files, "METADATA", "Version: "), &files)
    } else if name.ends_with(".tgz") {
        let files = read_tar_gz(bytes)?;
        PackageContent::of(name, json_version(&files, "package/package.json"), &files)
    } else if name.starts_with("taut-marketplace") {
        let files = read_tar_gz(bytes)?;
        PackageContent::of(name, json_version(&files, "/plugin.json"), &files)
    } else if name.ends_with(".tar.gz") {
        let version = name.strip_prefix("taut-").and_then(|rest| rest.split('-').next()).map(str::to_owned);
        PackageContent::of(name, version, &read_tar_gz(bytes)?)
    } else if name.ends_with(".rb") {
        let file = PackedFile::text(name, bytes);
        let version = line_of(&[file], name, "version ").map(|text| text.trim_matches('"').to_owned());
        PackageContent::of(name, version, &[])
    } else {
        return Ok(None);
    };
    Ok(Some(content))
}

/// The programs themselves: `taut` that may be run and is no script. The plugin has one a machine, in a folder of its name.
fn programs(package: &str, files: &[PackedFile]) -> Vec<(String, String)> {
    let is_program = |file: &&PackedFile| {
        file.path.rsplit('/').next() == Some("taut") && file.mode & 0o111 != 0 && !file.bytes.starts_with(b"#!")
    };
    let machine = |file: &PackedFile| {
        if file.path.contains("native/") { file.path.clone() } else { package.to_owned() }
    };
    files.iter().filter(is_program).map(|file| (machine(file), checksums::sha256(&file.bytes))).collect()
}

/// The archives, the wheels, Debian's packages and npm's entry; the plugin and npm's packages for one machine have no place
/// that `man` or a shell would look into.
fn brings_pages(name: &str) -> bool {
    let archive = name.starts_with(&format!("taut-{VERSION}-")) && name.ends_with(".tar.gz");
    archive || name.ends_with(".whl") || name.ends_with(".deb") || name == format!("taut-cli-{VERSION}.tgz")
}

fn pages(files: &[PackedFile]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let plain = match name.strip_suffix(".gz") {
            Some(page) => gunzip(&file.bytes).map(|bytes| (page, bytes)),
            None if file.path.ends_with("bash-completion/completions/taut") => Ok(("taut.bash", file.bytes.clone())),
            None => Ok((name, file.bytes.clone())),
        };
        let Ok((name, bytes)) = plain else { continue };
        if name.ends_with(".1") || SCRIPTS.contains(&name) {
            found.insert(name.to_owned(), checksums::sha256(&bytes));
        }
    }
    found
}

/// Every package has all of them, and the same.
fn wrong_pages(packages: &BTreeMap<&String, BTreeMap<String, String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    let most = packages.values().max_by_key(|pages| pages.len());
    for (name, pages) in packages {
        let absent = SCRIPTS.iter().chain(&["taut.1"]).filter(|page| !pages.contains_key(**page));
        wrong.extend(absent.map(|page| format!("{name} has no {page}")));
        if most.is_some_and(|most| most != pages) {
            wrong.push(format!("{name} has not the manual pages and completions of the other packages"));
        }
    }
    wrong
}

fn line_of(files: &[PackedFile], end: &str, key: &str) -> Option<String> {
    let file = files.iter().find(|file| file.path.ends_with(end))?;
    let text = String::from_utf8_lossy(&file.bytes);
    text.lines().find_map(|line| line.trim_start().strip_prefix(key)).map(str::to_owned)
}

fn json_version(files: &[PackedFile], end: &str) -> Option<String> {
    let file = files.iter().find(|file| file.path.ends_with(end))?;
    serde_json::from_slice::<Value>(&file.bytes).ok()?.get("version")?.as_str().map(str::to_owned)
}

//! What the program is built from, by `Cargo.lock` and the manifests of our own crates.
//!
//! The lock lists what tests and tools need too. Of our own crates only what their manifests name for building counts, and
//! of all others the lock has nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::error::PackError;

/// A crate of somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LockedCrate {
    pub name: String,
    pub version: String,
    pub sha256: Option<String>,
    /// The keys of what it needs.
    pub needs: Vec<String>,
}

/// Every foreign crate that the program is built from, by name and version, and those that our own crates name.
#[derive(Debug)]
pub(crate) struct BuiltFrom {
    pub crates: BTreeMap<String, LockedCrate>,
    pub direct: BTreeSet<String>,
}

const PROGRAM: &str = "taut";

impl LockedCrate {
    pub(crate) fn key(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

pub(crate) fn read() -> Result<BuiltFrom, PackError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let locked = locked(&table(&root.join("Cargo.lock"))?);
    let ours = manifests(&root)?;
    let mut built = BuiltFrom { crates: BTreeMap::new(), direct: BTreeSet::new() };
    let mut seen = BTreeSet::new();
    let start = locked.values().find(|one| one.name == PROGRAM).map(LockedCrate::key);
    let mut open: Vec<String> = start.into_iter().collect();
    while let Some(key) = open.pop() {
        let Some(one) = locked.get(&key).filter(|_| seen.insert(key.clone())) else { continue };
        let named = ours.get(&one.name);
        let needs = one.needs.iter().filter(|need| {
            named.is_none_or(|named| need.split_once('@').is_some_and(|(name, _)| named.contains(name)))
        });
        let needs: Vec<String> = needs.cloned().collect();
        if named.is_some() {
            built.direct.extend(needs.iter().filter(|need| is_foreign(need, &ours)).cloned());
        } else {
            built.crates.insert(key, one.clone());
        }
        open.extend(needs);
    }
    Ok(built)
}

fn is_foreign(key: &str, ours: &BTreeMap<String, BTreeSet<String>>) -> bool {
    key.split_once('@').is_none_or(|(name, _)| !ours.contains_key(name))
}

fn table(path: &Path) -> Result<Table, PackError> {
    let text = fs::read_to_string(path).map_err(PackError::at(path))?;
    text.parse().map_err(|error| PackError::unreadable(&path.display().to_string(), error))
}

fn locked(lock: &Table) -> BTreeMap<String, LockedCrate> {
    let rows = || lock.get("package").and_then(Value::as_array).into_iter().flatten();
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut versions: BTreeMap<String, String> = BTreeMap::new();
    for row in rows() {
        if let (Some(name), Some(version)) = (text(row, "name"), text(row, "version")) {
            versions.insert(name, version);
        }
    }
    // `name`, where there is one version of it, else `name version`.
    let key = |need: &str| {
        let mut words = need.split(' ');
        let name = words.next()?;
        Some(format!("{name}@{}", words.next().or_else(|| versions.get(name).map(String::as_str))?))
    };
    let crates = rows().filter_map(|row| {
        let needs = row.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        Some(LockedCrate {
            name: text(row, "name")?,
            version: text(row, "version")?,
            sha256: text(row, "checksum"),
            needs: needs.filter_map(|need| key(need.as_str()?)).collect(),
        })
    });
    crates.map(|one| (one.key(), one)).collect()
}

/// Our own crates, and the packages that each is built with.
fn manifests(root: &Path) -> Result<BTreeMap<String, BTreeSet<String>>, PackError> {
    let workspace = table(&root.join("Cargo.toml"))?;
    let members = workspace.get("workspace").and_then(|found| found.get("members")).and_then(Value::as_array);
    let paths = members.into_iter().flatten().filter_map(Value::as_str).map(|path| root.join(path).join("Cargo.toml"));
    paths.map(|path: PathBuf| manifest(&path)).collect()
}

fn manifest(path: &Path) -> Result<(String, BTreeSet<String>), PackError> {
    let table = table(path)?;
    let name = table.get("package").and_then(|found| found.get("name")).and_then(Value::as_str);
    let name = name.ok_or_else(|| PackError::unreadable(&path.display().to_string(), "it has no package"))?;
    let platforms = table.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = std::iter::once(&table).chain(platforms.filter_map(|(_, platform)| platform.as_table()));
    let mut needs = BTreeSet::new();
    for table in tables {
        for kind in ["dependencies", "build-dependencies"] {
            let listed = table.get(kind).and_then(Value::as_table).into_iter().flatten();
            needs.extend(
                listed.map(|(key, value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()),
            );
        }
    }
    Ok((name.to_owned(), needs))
}

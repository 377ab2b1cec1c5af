//! What `Cargo.lock` says each package brings along.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

/// Package name to the names of its dependencies. Versions do not matter to the gates.
#[derive(Debug, Default)]
pub(crate) struct Lock(BTreeMap<String, BTreeSet<String>>);

impl Lock {
    pub(crate) fn parse(text: &str) -> Self {
        let table: Table = text.parse().unwrap_or_default();
        let packages = table.get("package").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut lock = Self::default();
        for package in &packages {
            let Some(name) = package.get("name").and_then(Value::as_str) else { continue };
            let needs = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
            let needs = needs.filter_map(|need| need.as_str()?.split(' ').next().map(str::to_owned));
            lock.0.entry(name.to_owned()).or_default().extend(needs);
        }
        lock
    }

    /// Everything `package` needs, however far down, itself included.
    pub(crate) fn closure(&self, package: &str) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut open = vec![package.to_owned()];
        while let Some(name) = open.pop() {
            if seen.insert(name.clone()) {
                open.extend(self.0.get(&name).into_iter().flatten().cloned());
            }
        }
        seen
    }
}

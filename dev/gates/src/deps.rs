//! What a crate's manifest says it depends on.

use toml::{Table, Value};

use crate::SourceFile;

/// A crate as its `Cargo.toml` describes it.
#[derive(Debug)]
pub(crate) struct Manifest<'a> {
    pub file: &'a SourceFile,
    pub name: String,
    /// What the product is built from: normal and build dependencies, on every platform.
    pub needs: Vec<String>,
    /// What only its tests use.
    pub tests_need: Vec<String>,
    pub takes_workspace_lints: bool,
}

/// Every crate of the tree; a manifest without a package (the workspace's own) is none.
pub(crate) fn manifests(files: &[SourceFile]) -> Vec<Manifest<'_>> {
    files.iter().filter(|file| file.path.ends_with("Cargo.toml")).filter_map(parse).collect()
}

fn parse(file: &SourceFile) -> Option<Manifest<'_>> {
    let table: Table = file.text.parse().ok()?;
    let name = table.get("package")?.get("name")?.as_str()?.to_owned();
    let platforms = table.get("target").and_then(Value::as_table);
    let tables: Vec<&Table> = std::iter::once(&table)
        .chain(platforms.into_iter().flatten().filter_map(|(_, value)| value.as_table()))
        .collect();
    let listed = |kind: &str| tables.iter().flat_map(|table| packages(table, kind)).collect::<Vec<_>>();
    let mut needs = listed("dependencies");
    needs.extend(listed("build-dependencies"));
    let lints = table.get("lints").and_then(|lints| lints.get("workspace"));
    let takes_workspace_lints = lints.and_then(Value::as_bool) == Some(true);
    Some(Manifest { file, name, needs, tests_need: listed("dev-dependencies"), takes_workspace_lints })
}

/// The packages of one dependency table, under their own names where they are renamed.
fn packages(table: &Table, kind: &str) -> Vec<String> {
    let listed = table.get(kind).and_then(Value::as_table);
    let own_name =
        |(key, value): (&String, &Value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned();
    listed.into_iter().flatten().map(own_name).collect()
}

//! The bill of materials: every crate the program is built from, as CycloneDX.

use serde_json::{Value, json};

use crate::error::PackError;
use crate::lock_file::{self, BuiltFrom, LockedCrate};
use crate::pack::NewFile;
use crate::{LICENCE, PACKAGE, VERSION};

pub(crate) fn file() -> Result<NewFile, PackError> {
    let bill = bill(&lock_file::read()?);
    Ok(NewFile { name: format!("taut-{VERSION}.cdx.json"), bytes: format!("{bill:#}\n").into_bytes() })
}

fn bill(built: &BuiltFrom) -> Value {
    let own = format!("pkg:generic/{PACKAGE}@{VERSION}");
    let on: Vec<_> = built.direct.iter().map(|key| address(key)).collect();
    let mut depends = vec![json!({"ref": own, "dependsOn": on})];
    depends.extend(built.crates.iter().map(|(key, one)| {
        let on: Vec<_> =
            one.needs.iter().filter(|need| built.crates.contains_key(*need)).map(|need| address(need)).collect();
        json!({"ref": address(key), "dependsOn": on})
    }));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": own, "name": PACKAGE, "version": VERSION, "purl": own,
            "licenses": [{"expression": LICENCE}],
        }},
        "components": built.crates.values().map(component).collect::<Vec<_>>(),
        "dependencies": depends,
    })
}

fn component(one: &LockedCrate) -> Value {
    let address = address(&one.key());
    let mut row =
        json!({"type": "library", "bom-ref": address, "name": one.name, "version": one.version, "purl": address});
    if let Some(sum) = &one.sha256 {
        row["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    row
}

fn address(key: &str) -> String {
    format!("pkg:cargo/{key}")
}

#[cfg(test)]
mod tests {
    use super::bill;
    use crate::lock_file;

    #[test]
    fn i6_the_bill_names_what_the_program_is_built_from_and_not_what_tests_need() {
        let bill = bill(&lock_file::read().unwrap());
        let named = |name: &str| bill["components"].as_array().unwrap().iter().any(|row| row["name"] == name);
        assert!(named("rusqlite") && named("libsqlite3-sys") && named("clap"));
        for stranger in ["proptest", "testkit", "zip", "taut"] {
            assert!(!named(stranger), "{stranger}");
        }
        let components = bill["components"].as_array().unwrap().iter();
        assert!(
            components.into_iter().all(|row| row["hashes"][0]["content"].as_str().is_some_and(|sum| sum.len() == 64))
        );
        let rows = bill["dependencies"].as_array().unwrap();
        let sqlite = rows.iter().find(|row| row["ref"].as_str().unwrap().starts_with("pkg:cargo/rusqlite@")).unwrap();
        assert!(sqlite["dependsOn"].to_string().contains("libsqlite3-sys"), "{sqlite}");
    }
}

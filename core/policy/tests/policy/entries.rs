//! Findings in files that list what a runner runs.

use crate::common::{PROJECT, judged_with, parse_call, said};
use model::Ms;
use model::fact::{Facts, FileContent, FileFact, Probe};
use policy::{Circumstances, Policy, judge};

const MAKEFILE: &str =
    "install:\n\tinstall app /usr/local/bin/app\netc:\n\tcp app.conf /etc/app.conf\nkeys:\n\tcp key ~/.ssh/id_rsa\n";

fn judged(line: &str, as_committed: bool) -> String {
    let path = format!("{PROJECT}/Makefile");
    let names = ["GNUmakefile", "makefile", "Makefile"].map(str::to_string).to_vec();
    let probe = Probe::NearestFile { folder: PROJECT.into(), names };
    let content = FileContent::Text(MAKEFILE.into());
    let fact = FileFact { real: path.clone(), path, content, changed: Ms(0), as_committed };
    let facts = Facts { files: vec![(probe, fact)], ..Facts::default() };
    let call = parse_call(line, PROJECT).with_files(&facts);
    said(&judge(&call, &Policy::built_in(), &facts, &Circumstances::default()))
}

#[test]
fn g12_a_committed_makefile_may_install_below_usr_local_and_nowhere_else() {
    assert_eq!(judged("make install", true), "pass");
    assert_eq!(judged("make install", false), "deny protected-write");
    assert_eq!(judged("make etc", true), "deny protected-write");
    assert_eq!(judged("make keys", true), "deny protected-write");
    assert_eq!(judged("install app /usr/local/bin/app", true), "deny protected-write");
}

/// A package manager changes its own list: that it is new does not say who wrote the script.
#[test]
fn g12_lists_that_package_managers_write_are_told_from_files_of_the_session() {
    let found = |line: &str, name: &str, text: &str| {
        let findings = judged_with(line, PROJECT, &[(name.to_string(), text.to_string())]);
        findings.0[0].file.clone().map(|file| (file.path, file.line, file.installed))
    };
    let package = "{\n\"scripts\": {\n\"x\": \"rm -rf src\"\n}}";
    assert_eq!(found("npm run x", "package.json", package), Some(("package.json".into(), 3, true)));
    assert_eq!(found("make x", "Makefile", "x:\n\trm -rf src\n"), Some(("Makefile".into(), 2, false)));
}

//! Findings in files that list what a runner runs.

use crate::common::{PROJECT, parse_call, said};
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

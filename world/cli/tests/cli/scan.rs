//! `taut scan`: scripts that are looked at before anybody runs them.

use serde_json::{Value, json};
use testkit::stage::Stage;

fn scanned(stage: &Stage, args: &[&str]) -> (Option<i32>, String) {
    let done = stage.taut(&[&["scan"], args].concat());
    (done.code(), done.stdout_text() + &done.stderr_text())
}

#[test]
fn g10_lines_of_a_script_that_would_be_stopped_are_named() {
    let stage = Stage::new();
    stage.write("good.sh", "#!/bin/sh\ncargo test\nrm -rf ./target\n");
    stage.write("bad.sh", "#!/bin/sh\nset -e\necho begin\nrm -rf ~\n");
    assert_eq!(scanned(&stage, &["good.sh"]), (Some(0), "nothing would be stopped\n".into()));
    let (code, said) = scanned(&stage, &["good.sh", "bad.sh"]);
    assert!(code == Some(1) && said.starts_with("bad.sh:4: [rm-root] ") && said.contains("instead: "), "{said}");
    let (code, said) = scanned(&stage, &["nowhere.sh", "bad.sh"]);
    assert!(code == Some(2) && said.contains("bad.sh:4") && said.contains("nowhere.sh cannot be read"), "{said}");
    let found = stage.taut(&["scan", "bad.sh", "--json"]).stdout_text();
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!((&found["file"], &found["line"], &found["rule"]), (&json!("bad.sh"), &json!(4), &json!("rm-root")));
}

#[test]
fn g10_what_is_no_text_could_not_be_read() {
    let stage = Stage::new();
    std::fs::write(stage.path("bin.sh"), b"\xff\xfe\x00").unwrap();
    stage.write("long.sh", &"echo x\n".repeat(20_000));
    std::fs::create_dir(stage.path("folder")).unwrap();
    for name in ["bin.sh", "long.sh", "folder"] {
        let (code, said) = scanned(&stage, &[name]);
        assert!(code == Some(2) && said.contains("cannot be read"), "{name}: {said}");
    }
}

#[test]
fn g10_a_script_on_stdin_and_the_entries_of_other_files_are_scanned() {
    let stage = Stage::new();
    let done = stage.sandbox.taut(&["scan", "-"], b"ls\nrm -rf /\n").unwrap();
    assert!(done.code() == Some(1) && done.stdout_text().starts_with("stdin:2: [rm-root]"), "{}", done.stdout_text());
    stage.write(
        "web/package.json",
        "{\n  \"scripts\": {\n    \"test\": \"jest\",\n    \"clean\": \"rm -rf ~\"\n  }\n}\n",
    );
    let (code, said) = scanned(&stage, &["web/package.json"]);
    assert!(code == Some(1) && said.starts_with("web/package.json:4: [rm-root]"), "{said}");
    stage.write("Makefile", "all: build\n\nbuild:\n\tcargo build\n\nreset:\n\tgit push --force origin main\n");
    let (code, said) = scanned(&stage, &["Makefile"]);
    assert!(code == Some(1) && said.starts_with("Makefile:7: [git-force-push]"), "{said}");
}

#[test]
fn g10_sarif_has_what_code_scanning_takes() {
    let stage = Stage::new();
    stage.write("a b.sh", "rm -rf ~\n");
    let done = stage.taut(&["scan", "--sarif", "a b.sh"]);
    assert_eq!(done.code(), Some(1));
    let sarif: Value = serde_json::from_str(&done.stdout_text()).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("rm-root"), &json!("error")));
    assert_eq!(run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize]["id"], "rm-root");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!((&place["artifactLocation"]["uri"], &place["region"]["startLine"]), (&json!("a%20b.sh"), &json!(1)));
    assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
    stage.write("good.sh", "ls\n");
    let clean = stage.taut(&["scan", "--sarif", "good.sh"]);
    let sarif: Value = serde_json::from_str(&clean.stdout_text()).unwrap();
    assert_eq!((clean.code(), &sarif["runs"][0]["results"]), (Some(0), &json!([])));
}

//! The public corpus of guard verdicts, every line of it.

use crate::common::{PROJECT, judged_with, said};
use model::{Findings, RuleKind};
use serde_json::Value;
use std::path::PathBuf;

struct Case {
    file: String,
    line: usize,
    cmd: String,
    cwd: String,
    verdict: String,
    rule: Option<String>,
    /// Files that stand in the folder, each with its text.
    files: Vec<(String, String)>,
}

fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/guard");
    let mut cases = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ext| ext == "jsonl")) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        for (at, text) in std::fs::read_to_string(path).unwrap().lines().enumerate() {
            let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{file}:{}: {e}", at + 1));
            let field = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_string);
            assert!(field("why").is_some_and(|why| !why.is_empty()), "{file}:{}: says not why", at + 1);
            cases.push(Case {
                file: file.clone(),
                line: at + 1,
                cmd: field("cmd").unwrap(),
                cwd: field("cwd").unwrap_or_else(|| PROJECT.to_string()),
                verdict: field("verdict").unwrap(),
                rule: field("rule"),
                files: texts(value.get("files")),
            });
        }
    }
    cases
}

fn texts(files: Option<&Value>) -> Vec<(String, String)> {
    let all = files.and_then(Value::as_object).into_iter().flatten();
    all.map(|(name, text)| (name.clone(), text.as_str().unwrap().to_string())).collect()
}

fn agrees(case: &Case, findings: &Findings) -> bool {
    if case.verdict == "pass" {
        return findings.0.is_empty();
    }
    let kind = |kind: RuleKind| kind.name() == case.verdict;
    findings.0.iter().any(|found| kind(found.kind) && case.rule.as_ref().is_none_or(|rule| *rule == found.rule))
}

#[test]
fn every_line_of_the_corpus_gets_its_verdict() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let findings = judged_with(&case.cmd, &case.cwd, &case.files);
        if !agrees(case, &findings) {
            let rule = case.rule.as_deref().unwrap_or_default();
            let (verdict, said) = (&case.verdict, said(&findings));
            wrong.push(format!("{}:{}: `{}` is {verdict} {rule}, got {said}", case.file, case.line, case.cmd));
        }
    }
    assert!(wrong.is_empty(), "{} of {} lines disagree\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn the_corpus_is_large_and_about_half_of_it_is_harmless() {
    let cases = cases();
    let harmless = cases.iter().filter(|case| case.verdict == "pass").count();
    assert!(cases.len() >= 600, "{}", cases.len());
    assert!(harmless * 5 >= cases.len() * 2 && harmless * 5 <= cases.len() * 3, "{harmless} of {}", cases.len());
}

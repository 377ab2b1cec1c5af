//! The public corpus of guard verdicts, every line of it.

use crate::common::{PROJECT, around, judged_call, judged_with, said};
use agents::Dialect;
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

/// The line as an agent's own shell tool says it, read by that agent's dialect.
fn through(dialect: &'static Dialect, case: &Case) -> Findings {
    let payload = (dialect.settings.proof.payload)(&case.cwd, "corpus", &case.cmd);
    let envelope = dialect.read(payload.as_bytes()).unwrap();
    let parsed_call = policy::parse_call(&envelope, &around());
    parsed_call.map_or_else(Findings::default, |parsed_call| judged_call(parsed_call, &case.cwd, &case.files))
}

/// Lines for a shell only: the tools that write and read have other names and fields with each agent.
#[test]
fn g1_every_line_of_the_corpus_gets_its_verdict_through_every_agents_shell_tool() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| !is_of_another_tool(&case.cmd)).collect();
    assert!(cases.len() >= 600, "{}", cases.len());
    let wrong = |dialect: &'static Dialect| -> Vec<String> {
        let case = |case: &Case| {
            let findings = through(dialect, case);
            let place = format!("{}: {}:{}", dialect.id(), case.file, case.line);
            (!agrees(case, &findings)).then(|| format!("{place}: `{}` got {}", case.cmd, said(&findings)))
        };
        cases.iter().filter_map(case).collect()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let each: Vec<_> = agents::ALL.0.iter().map(|dialect| scope.spawn(|| wrong(dialect))).collect();
        each.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} lines disagree\n{}", wrong.len(), wrong.join("\n"));
}

fn is_of_another_tool(line: &str) -> bool {
    ["Write: ", "Edit: ", "Read: "].iter().any(|tool| line.starts_with(tool))
}

#[test]
fn the_corpus_is_large_and_about_half_of_it_is_harmless() {
    let cases = cases();
    let harmless = cases.iter().filter(|case| case.verdict == "pass").count();
    assert!(cases.len() >= 600, "{}", cases.len());
    assert!(harmless * 5 >= cases.len() * 2 && harmless * 5 <= cases.len() * 3, "{harmless} of {}", cases.len());
}

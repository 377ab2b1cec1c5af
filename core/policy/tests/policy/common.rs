//! What the tests of the policy share: one developer, one project, no facts.

use model::fact::{Facts, FileContent, FileFact, Probe};
use model::{Findings, Ms};
use policy::{Around, Circumstances, FileEdit, ParsedCall, Policy, judge};

pub const HOME: &str = "/home/dev";
pub const PROJECT: &str = "/home/dev/project";

pub fn around() -> Around {
    Around { home: Some(HOME.into()), ..Around::default() }
}

/// A line, or `Write: path` / `Edit: path` / `Read: path` for the agent's own tools.
pub fn parse_call(line: &str, cwd: &str) -> ParsedCall {
    let cwd = Some(cwd.to_string());
    match line.split_once(": ") {
        Some((tool @ ("Write" | "Edit" | "Read"), path)) => {
            let path = path.replace('~', HOME);
            if tool == "Read" {
                return ParsedCall::read(&path, cwd, &around());
            }
            let removed = (tool == "Edit").then(|| "a".to_string());
            ParsedCall::edit(FileEdit { tool: tool.into(), path, removed, added: "b".into() }, cwd, &around())
        }
        _ => ParsedCall::line(line, cwd, &around()),
    }
}

pub fn judged(line: &str) -> Findings {
    judged_in(line, PROJECT)
}

pub fn judged_in(line: &str, cwd: &str) -> Findings {
    judge(&parse_call(line, cwd), &Policy::built_in(), &Facts::default(), &Circumstances::default())
}

/// A line where these files stand, each with its text.
pub fn judged_with(line: &str, cwd: &str, files: &[(String, String)]) -> Findings {
    judged_call(parse_call(line, cwd), cwd, files)
}

/// A call where these files stand. What only the run would tell passes where no session is known.
pub fn judged_call(parsed_call: ParsedCall, cwd: &str, files: &[(String, String)]) -> Findings {
    let (parsed_call, facts) = with_files(parsed_call, cwd, files);
    let mut findings = judge(&parsed_call, &Policy::built_in(), &facts, &Circumstances::default());
    findings.0.retain(|finding| !finding.file.as_ref().is_some_and(|file| file.unknown));
    findings
}

/// A line that was read with these files, and what is known of them.
pub fn read_with(line: &str, cwd: &str, files: &[(String, String)]) -> (ParsedCall, Facts) {
    with_files(parse_call(line, cwd), cwd, files)
}

fn with_files(mut parsed_call: ParsedCall, cwd: &str, files: &[(String, String)]) -> (ParsedCall, Facts) {
    let mut facts = Facts::default();
    while let Some(asked) = parsed_call.file_probes().into_iter().find(|probe| facts.file(probe).is_none()) {
        let found = stands_at(&asked, cwd, files);
        facts.files.push((asked, found));
        parsed_call = parsed_call.with_files(&facts);
    }
    (parsed_call, facts)
}

fn stands_at(asked: &Probe, cwd: &str, files: &[(String, String)]) -> FileFact {
    let is = |path: &str| files.iter().find(|(name, _)| format!("{cwd}/{name}") == path || *name == path);
    let (path, found) = match asked {
        Probe::RunFile { path } => (path.clone(), is(path)),
        Probe::NearestFile { folder, names } => {
            let above = std::path::Path::new(folder).ancestors();
            let paths = above.flat_map(|folder| names.iter().map(move |name| folder.join(name).display().to_string()));
            let found = paths.into_iter().find_map(|path| Some((path.clone(), is(&path)?)));
            found.map_or((folder.clone(), None), |(path, file)| (path, Some(file)))
        }
        _ => (String::new(), None),
    };
    let content = found.map_or(FileContent::Missing, |(_, text)| FileContent::Text(text.as_str().into()));
    FileFact { real: path.clone(), path, content, changed: Ms(0), as_committed: false }
}

pub fn said(findings: &Findings) -> String {
    let words: Vec<String> = findings.0.iter().map(|f| format!("{} {}", f.kind.name(), f.rule)).collect();
    if words.is_empty() { "pass".into() } else { words.join(", ") }
}

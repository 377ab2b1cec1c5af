//! Procfiles, and the tasks of a Rakefile.

use std::collections::HashSet;

use super::{DEPTH, EntryPiece, quoted};

/// The processes of a Procfile, or the one of that name.
pub(crate) fn procfile(text: &str, wanted: Option<&str>) -> Vec<EntryPiece> {
    let lines = text.lines().enumerate().filter_map(|(index, line)| {
        let (name, command) = line.split_once(':')?;
        let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        let meant = wanted.is_none_or(|wanted| wanted == name);
        (named && meant && !command.trim().is_empty()).then(|| EntryPiece::new(command.trim(), index + 1))
    });
    lines.take(64).collect()
}

/// The bodies of a task and of those before it, as the code that ruby would be given.
pub(crate) fn rakefile(text: &str, name: &str) -> Vec<EntryPiece> {
    let lines: Vec<&str> = text.lines().collect();
    let mut pieces = Vec::new();
    rake_task(&lines, name, &mut HashSet::new(), &mut pieces);
    pieces
}

fn rake_task(lines: &[&str], name: &str, seen: &mut HashSet<String>, pieces: &mut Vec<EntryPiece>) {
    let name = name.rsplit(':').next().unwrap_or(name);
    if seen.len() > DEPTH || !seen.insert(name.to_string()) {
        return;
    }
    for (index, line) in lines.iter().enumerate() {
        let Some(head) = line.trim_start().strip_prefix("task") else { continue };
        let head = head.trim_start_matches([' ', '(']);
        let (first, rest) = head.split_once(['=', ',', ' ', ')']).unwrap_or((head, ""));
        if first.trim_matches([':', '"', '\'', ' ']) != name {
            continue;
        }
        let before = rest.split(" do").next().unwrap_or_default();
        for other in before.split([',', '[', ']', ' ', '>', '=', ')']) {
            let other = other.trim_matches([':', '"', '\'', '%', 'i']);
            if !other.is_empty() {
                rake_task(lines, other, seen, pieces);
            }
        }
        let indent = line.len() - line.trim_start().len();
        let ends = |line: &&&str| line.trim() == "end" && line.len() - line.trim_start().len() == indent;
        let after = lines.get(index + 1..).unwrap_or_default();
        let length = after.iter().position(|line| ends(&line)).unwrap_or_default();
        let body = after.get(..length).unwrap_or_default().join("\n");
        if !body.trim().is_empty() {
            pieces.push(EntryPiece::new(format!("ruby -e {}", quoted(&with_system(&body))), index + 2));
        }
    }
}

/// Rake's `sh` is what ruby calls `system`.
fn with_system(body: &str) -> String {
    let lines = body.lines().map(|line| {
        let code = line.trim_start();
        match code.strip_prefix("sh ").or_else(|| code.strip_prefix("sh(").map(|_| code.get(2..).unwrap_or_default())) {
            Some(rest) => format!("system({})", rest.trim_start_matches('(').trim_end_matches(')')),
            None => line.to_string(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g12_processes_of_a_procfile_are_found_by_name() {
        let text = "# x: y\nweb: rails s\nnuke: rm -rf ~\n";
        assert_eq!(procfile(text, Some("nuke")), [EntryPiece::new("rm -rf ~", 3)]);
        assert_eq!(procfile(text, None).len(), 2);
    }

    #[test]
    fn g12_a_rake_task_comes_with_those_before_it() {
        let text = "task :a do\n  sh 'rm -rf ~'\nend\n\ndesc 'x'\ntask nuke: [:a] do |t|\n  puts 1\nend\n";
        let found: Vec<String> = rakefile(text, "nuke").into_iter().map(|piece| piece.text).collect();
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("system"), "{found:?}");
        assert!(rakefile(text, "none").is_empty());
    }
}

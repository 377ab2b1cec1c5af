//! Compose files: what the services run, as the `docker run` that would do the same.

use super::tree::TreeNode;
use super::yaml::yaml;
use super::{EntryPiece, quoted};

/// Options of a service that matter to what its command can reach, and how `docker run` is told.
const REACH: &[(&str, &str)] = &[("privileged", "--privileged"), ("pid", "--pid"), ("network_mode", "--network")];

/// The services asked for, or all of them. `command` replaces the service's own.
pub(crate) fn compose(text: &str, services: &[String], command: &str) -> Vec<EntryPiece> {
    let tree = yaml(text);
    let listed = tree.get("services").map(TreeNode::entries).unwrap_or_default();
    let wanted = listed.iter().filter(|(name, _)| services.is_empty() || services.contains(name));
    wanted.take(64).filter_map(|(name, service)| piece(name, service, command)).collect()
}

fn piece(name: &str, service: &TreeNode, command: &str) -> Option<EntryPiece> {
    let mut line = String::from("docker run");
    for (key, option) in REACH {
        match service.get(key).and_then(TreeNode::text) {
            Some("true") => line.push_str(&format!(" {option}")),
            Some(value) if value != "false" => line.push_str(&format!(" {option}={}", quoted(value))),
            _ => {}
        }
    }
    for volume in service.get("volumes").map(TreeNode::items).unwrap_or_default() {
        if let Some(volume) = volume.text() {
            line.push_str(&format!(" -v {}", outside(volume)));
        } else if let (Some(from), Some(to)) = (volume.get("source"), volume.get("target")) {
            let (from, to) = (from.text().unwrap_or_default(), to.text().unwrap_or_default());
            line.push_str(&format!(" -v {}", outside(&format!("{from}:{to}"))));
        }
    }
    let own = service.get("command").filter(|_| command.is_empty());
    let entry = service.get("entrypoint");
    let told = if command.is_empty() { own.map(words).unwrap_or_default() } else { command.to_string() };
    let entry_words = entry.map(words).unwrap_or_default();
    let image = service.get("image").and_then(TreeNode::text).unwrap_or(name);
    let run = format!("{entry_words} {told}");
    if run.trim().is_empty() {
        return None;
    }
    let at = own.or(entry).map_or(service.line, |node| node.line);
    Some(EntryPiece::new(format!("{line} {} {}", quoted(image), run.trim()), at))
}

/// A command as a list of words, or as a text that is split like a shell's.
fn words(node: &TreeNode) -> String {
    match node.text() {
        // `$$` is a dollar there.
        Some(text) => text.replace("$$", "$"),
        None => node.texts().iter().map(|(_, word)| quoted(&word.replace("$$", "$"))).collect::<Vec<_>>().join(" "),
    }
}

/// A bind mount as a word: `~` and variables of the host are put in by the shell that reads it.
fn outside(volume: &str) -> String {
    if volume.contains([' ', ';', '&', '|', '(', ')', '<', '>', '`', '\'', '"', '\n']) {
        quoted(volume)
    } else {
        volume.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "services:\n  web:\n    image: alpine\n    volumes:\n      - ~:/data\n      - type: bind\n        \
                        source: /\n        target: /host\n    command: sh -c \"rm -rf /host\"\n  db:\n    image: postgres\n  \
                        job:\n    build: .\n    entrypoint: [\"rm\", \"-rf\"]\n    command: [\"/x y\"]\n";

    #[test]
    fn g12_a_service_is_the_docker_run_that_would_do_the_same() {
        let all = compose(TEXT, &[], "");
        let texts: Vec<&str> = all.iter().map(|piece| piece.text.as_str()).collect();
        let web = "docker run -v ~:/data -v /:/host 'alpine' sh -c \"rm -rf /host\"";
        assert_eq!(texts, [web, "docker run 'job' 'rm' '-rf' '/x y'"]);
        assert_eq!(all[0].line, 9);
        let asked = compose(TEXT, &["web".to_string()], "ls /data");
        assert_eq!(asked[0].text, "docker run -v ~:/data -v /:/host 'alpine' ls /data");
        assert!(compose("x", &[], "").is_empty());
    }
}

//! `docker compose up`: what the services of the project's file run.

use super::{EntrySource, argument_text, options, parent};
use crate::entries::compose;
use crate::reading::Word;
use crate::walk::{Place, Walker};

const GLOBAL: &[&str] = &[
    "-c", "-f", "-p", "-H", "-l", "--file", "--project-name", "--project-directory", "--profile", "--env-file",
    "--ansi", "--parallel", "--progress", "--context", "--host", "--config", "--log-level",
];
/// Options of `up` and `run` that take a value.
const UP: &[&str] = &[
    "-t", "-e", "-l", "-p", "-u", "-v", "-w", "--timeout", "--scale", "--exit-code-from", "--attach", "--no-attach",
    "--pull", "--wait-timeout", "--env", "--label", "--name", "--publish", "--user", "--volume", "--workdir",
    "--entrypoint", "--cap-add", "--cap-drop",
];
const NAMES: &[&str] = &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];

const OVERRIDES: &[&str] =
    &["compose.override.yaml", "compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml"];

impl Walker {
    pub(super) fn open_compose(&mut self, program: &str, args: &[Word], place: &Place) -> bool {
        let mut words = args;
        let mut given = Vec::new();
        if !program.ends_with("-compose") {
            let (_, operands) = options::split(words, GLOBAL);
            match operands.split_first() {
                Some((first, rest)) if first.known().as_deref() == Some("compose") => words = rest,
                _ => return false,
            }
        }
        let (options, operands) = options::split(words, GLOBAL);
        given.extend(options);
        let Some((sub, rest)) = operands.split_first() else { return false };
        let sub = sub.known().unwrap_or_default();
        let (more, services) = match sub.as_str() {
            "up" => options::scattered(rest, UP),
            "run" => {
                let (options, operands) = options::split(rest, UP);
                (options, operands.to_vec())
            }
            _ => return false,
        };
        if options::given(&more, &["--dry-run", "--entrypoint"]) || options::given(&given, &["--dry-run"]) {
            return false;
        }
        let Some(folder) = self.entry_folder(options::value(&given, &["--project-directory"])) else { return false };
        let named = options::value(&given, &["-f", "--file"]).and_then(Word::known);
        let files = match named.and_then(|file| self.scope.resolve(&file)) {
            Some(path) => vec![self.entry_file(&path)],
            None => {
                let first = self.nearest(&folder, NAMES);
                // One beside it says what is different here.
                let other = first.as_ref().and_then(|file| self.in_folder(parent(&file.path), OVERRIDES));
                vec![first, other]
            }
        };
        let (names, command) = match services.split_first() {
            Some((service, command)) if sub == "run" => (vec![service.shown()], argument_text(command)),
            _ => (services.iter().map(Word::shown).collect(), String::new()),
        };
        let mut found = false;
        for file in files.into_iter().flatten() {
            let source = EntrySource::beside(file);
            let pieces = compose(source.text(), &names, &command);
            if !pieces.is_empty() && self.first_time(&source, &format!("compose {names:?} {command}")) {
                self.run_pieces(&source, program, &pieces, place);
            }
            found |= !pieces.is_empty();
        }
        found
    }
}

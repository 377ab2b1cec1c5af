//! Task lists of single tools: Taskfile, Python's project file, composer, deno, mise, cargo's aliases, Rakefile, Procfile.

use super::{EntrySource, argument_text, assignments, joined_path, one_argument, options};
use crate::entries::{EntryPiece, TaskCall, TaskTable, cargo_alias, procfile, rakefile, task, taskfile};
use crate::reading::Word;
use crate::walk::{Place, Walker};

const TASKFILES: &[&str] = &[
    "Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "taskfile.dist.yml",
    "Taskfile.dist.yaml", "taskfile.dist.yaml",
];
const TASK_VALUED: &[&str] =
    &["-d", "-t", "-o", "-C", "-I", "--dir", "--taskfile", "--output", "--concurrency", "--interval", "--sort"];
const TASK_NOTHING: &[&str] = &[
    "-n", "-l", "-a", "-i", "-h", "--dry", "--list", "--list-all", "--init", "--summary", "--version", "--help",
    "--status",
];
/// Options of the other tools that take a value.
const VALUED: &[&str] = &[
    "-C", "-d", "-p", "-e", "-c", "--directory", "--root", "--project", "--working-dir", "--cwd", "--config", "--env",
    "--executor", "--cd", "--timeout",
];
/// Commands of composer itself that scripts listen to.
const COMPOSER: &[(&str, &[&str])] = &[
    ("install", &["pre-install-cmd", "pre-autoload-dump", "post-autoload-dump", "post-install-cmd"]),
    ("update", &["pre-update-cmd", "pre-autoload-dump", "post-autoload-dump", "post-update-cmd"]),
    ("require", &["pre-update-cmd", "pre-autoload-dump", "post-autoload-dump", "post-update-cmd"]),
    ("remove", &["pre-update-cmd", "pre-autoload-dump", "post-autoload-dump", "post-update-cmd"]),
    ("dump-autoload", &["pre-autoload-dump", "post-autoload-dump"]),
    ("dumpautoload", &["pre-autoload-dump", "post-autoload-dump"]),
];

impl Walker {
    /// `task x`: a Taskfile's, or where there is none that of taskipy.
    pub(super) fn open_taskfile(&mut self, program: &str, args: &[Word], place: &Place) -> bool {
        let dashes = args.iter().position(|word| word.shown() == "--").unwrap_or(args.len());
        let (before, after) = args.split_at(dashes);
        let (options, operands) = options::scattered(before, TASK_VALUED);
        if options::given(&options, TASK_NOTHING) {
            return true;
        }
        let Some(folder) = self.entry_folder(options::value(&options, &["-d", "--dir"])) else { return false };
        let file = match options::value(&options, &["-t", "--taskfile"]).and_then(Word::known) {
            Some(file) => self.entry_file(&joined_path(&folder, &file)),
            None => self.nearest(&folder, TASKFILES),
        };
        let Some(file) = file else { return program == "task" && self.open_task_table("task", args, place) };
        let source = EntrySource::beside(file);
        let (vars, names) = assignments(&operands);
        let args = argument_text(after.get(1..).unwrap_or_default());
        let call = TaskCall { names: names.iter().filter_map(Word::known).collect(), vars, args };
        if self.first_time(&source, &format!("{call:?}")) {
            let pieces = taskfile(source.text(), &call);
            self.run_pieces(&source, "task", &pieces, place);
        }
        true
    }

    /// Tools whose tasks stand in a table of a file.
    pub(super) fn open_task_table(&mut self, program: &str, args: &[Word], place: &Place) -> bool {
        let (options, operands) = options::split(args, VALUED);
        let runs = |words: &[&str]| {
            let (first, rest) = operands.split_first()?;
            words.contains(&first.known()?.as_str()).then_some(rest)
        };
        let (table, names, words): (_, &[&str], Option<&[Word]>) = match program {
            "poe" => (TaskTable::Poe, &["pyproject.toml", "poe_tasks.toml"], Some(operands)),
            "task" => (TaskTable::Taskipy, &["pyproject.toml"], Some(operands)),
            "pdm" => (TaskTable::Pdm, &["pyproject.toml"], runs(&["run"]).or(Some(operands))),
            "hatch" => (TaskTable::Hatch, &["pyproject.toml", "hatch.toml"], runs(&["run"])),
            "rye" => (TaskTable::Rye, &["pyproject.toml"], runs(&["run"])),
            "pipenv" => (TaskTable::Pipenv, &["Pipfile"], runs(&["run"])),
            "pixi" => (TaskTable::Pixi, &["pixi.toml", "pyproject.toml"], runs(&["run", "r"])),
            "cargo-make" | "makers" => (TaskTable::CargoMake, &["Makefile.toml"], runs(&["make"]).or(Some(operands))),
            "deno" => (TaskTable::Deno, &["deno.json", "deno.jsonc"], runs(&["task"])),
            "composer" => {
                let names = ["run", "run-script", "exec-script"];
                (TaskTable::Composer, &["composer.json"], runs(&names).or(Some(operands)))
            }
            _ => {
                let names: &[&str] = &["mise.toml", ".mise.toml", "mise.local.toml", ".rtx.toml", "rtx.toml"];
                (TaskTable::Mise, names, runs(&["run", "r", "tasks"]).or(Some(operands)))
            }
        };
        let Some(words) = words else { return false };
        let (more, words) = options::split(words, VALUED);
        let Some((name, rest)) = words.split_first() else { return false };
        let Some(name) = name.known() else { return false };
        let all: Vec<_> = options.into_iter().chain(more).collect();
        let folder = options::value(&all, &["-C", "-d", "--directory", "--root", "--working-dir", "--cwd", "--cd"]);
        let Some(folder) = self.entry_folder(folder) else { return false };
        let Some(file) = self.nearest(&folder, names) else { return false };
        let source = EntrySource::beside(file);
        // `hatch run env:script`, `mise run a ::: b`
        let short = if program == "hatch" { name.rsplit(':').next().unwrap_or(&name) } else { &name };
        let rest = match rest.split_first() {
            Some((dashes, behind)) if dashes.shown() == "--" => behind,
            _ => rest,
        };
        if !self.first_time(&source, &format!("{program} {name} {}", argument_text(rest))) {
            return true;
        }
        let mut pieces = task(source.text(), table, short, &argument_text(rest));
        if let Some((_, hooks)) = COMPOSER.iter().find(|(own, _)| program == "composer" && *own == name) {
            pieces = hooks.iter().flat_map(|hook| task(source.text(), table, hook, "")).collect();
        }
        self.run_pieces(&source, program, &pieces, place);
        !pieces.is_empty()
    }

    /// `cargo NAME`, where the project's configuration has an alias of that name.
    pub(super) fn open_cargo(&mut self, args: &[Word], place: &Place) -> bool {
        let skip = usize::from(args.first().is_some_and(|word| word.shown().starts_with('+')));
        let (options, operands) =
            options::split(args.get(skip..).unwrap_or_default(), &["-C", "-Z", "--config", "--color", "--explain"]);
        let Some((name, rest)) = operands.split_first() else { return false };
        if name.known().as_deref() == Some("make") {
            return self.open_task_table("cargo-make", rest, place);
        }
        let Some(name) = name.known().filter(|name| !CARGO.contains(&name.as_str())) else { return false };
        let Some(folder) = self.entry_folder(options::value(&options, &["-C"])) else { return false };
        let Some(file) = self.nearest(&folder, &[".cargo/config.toml", ".cargo/config"]) else { return false };
        let source = EntrySource::new(file, folder);
        let Some((text, line)) = cargo_alias(source.text(), &name) else { return false };
        let text = format!("cargo {text} {}", argument_text(rest));
        if self.first_time(&source, &text) {
            let piece = EntryPiece { text, line, ..EntryPiece::default() };
            self.run_pieces(&source, "cargo", &[piece], place);
        }
        true
    }

    pub(super) fn open_rake(&mut self, args: &[Word], place: &Place) -> bool {
        let (options, operands) = options::scattered(args, &["-f", "-I", "-r", "-C", "--rakefile", "--directory"]);
        let nothing = ["-n", "-T", "-P", "-W", "-D", "--dry-run", "--tasks", "--prereqs", "--where", "--version"];
        if options::given(&options, &nothing) {
            return true;
        }
        let Some(folder) = self.entry_folder(options::value(&options, &["-C", "--directory"])) else { return false };
        let file = match options::value(&options, &["-f", "--rakefile"]).and_then(Word::known) {
            Some(file) => self.entry_file(&joined_path(&folder, &file)),
            None => self.nearest(&folder, &["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"]),
        };
        let Some(file) = file else { return false };
        let source = EntrySource::beside(file);
        let (_, names) = assignments(&operands);
        let mut names: Vec<String> = names.iter().filter_map(Word::known).collect();
        if names.is_empty() {
            names.push("default".to_string());
        }
        for name in names.iter().take(16) {
            let name = name.split('[').next().unwrap_or(name);
            if self.first_time(&source, name) {
                let pieces = rakefile(source.text(), name);
                self.run_pieces(&source, "rake", &pieces, place);
            }
        }
        true
    }

    /// `foreman start`, `honcho start web`, `overmind s`.
    pub(super) fn open_procfile(&mut self, args: &[Word], place: &Place) -> bool {
        let valued = &["-f", "-e", "-d", "-m", "-c", "-p", "-l", "--procfile", "--env", "--root", "--formation"];
        let (options, operands) = options::scattered(args, valued);
        let words: Vec<String> = operands.iter().filter_map(Word::known).collect();
        let name = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["start" | "s", name, ..] => Some(name.to_string()),
            ["start" | "s"] | [] => None,
            _ => return false,
        };
        let Some(folder) = self.entry_folder(options::value(&options, &["-d", "--root"])) else { return false };
        let file = options::value(&options, &["-f", "--procfile"]).map(one_argument);
        let path = joined_path(&folder, file.as_deref().unwrap_or("Procfile"));
        let Some(file) = self.entry_file(&path) else { return false };
        let source = EntrySource::beside(file);
        if self.first_time(&source, &format!("{name:?}")) {
            let pieces = procfile(source.text(), name.as_deref());
            self.run_pieces(&source, "Procfile", &pieces, place);
        }
        true
    }
}

/// Cargo's own commands and the common ones of others: an alias does not take their names.
const CARGO: &[&str] = &[
    "add", "audit", "b", "bench", "build", "c", "check", "clean", "clippy", "config", "d", "deny", "doc", "expand",
    "fetch", "fix", "fmt", "generate-lockfile", "help", "info", "init", "install", "locate-project", "login", "logout",
    "metadata", "miri", "new", "nextest", "outdated", "owner", "package", "pkgid", "publish", "r", "read-manifest",
    "remove", "report", "rm", "run", "rustc", "rustdoc", "search", "t", "test", "tree", "uninstall", "update",
    "vendor", "verify-project", "version", "yank",
];

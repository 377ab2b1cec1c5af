//! Task runners: what the file that lists their entries would have them run.

mod compose;
mod git;
mod just;
mod make;
mod package;
mod tasks;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::options;
use crate::entries::{EntryPiece, quoted};
use crate::files::{FilePiece, KnownContent, KnownFile, WantedFile};
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

/// Where an entry was found and where it runs.
struct EntrySource {
    file: Arc<KnownFile>,
    /// Files that this one includes, by the names it has for them.
    included: Vec<(String, Arc<KnownFile>)>,
    /// The folder it runs in.
    folder: String,
}

impl EntrySource {
    fn new(file: Arc<KnownFile>, folder: String) -> Self {
        Self { file, included: Vec::new(), folder }
    }

    /// One that runs in the folder its file stands in.
    fn beside(file: Arc<KnownFile>) -> Self {
        let folder = parent(&file.path).to_string();
        Self::new(file, folder)
    }

    fn text(&self) -> &str {
        self.file.text().unwrap_or_default()
    }
}

impl Walker {
    /// Opens a program that runs entries of a file; `false` when it is none, or has no such entry here.
    pub(super) fn open_entry(&mut self, program: &str, args: &[Word], place: &Place) -> bool {
        match program {
            "make" | "gmake" | "bmake" | "remake" | "mingw32-make" => self.open_make(args, place),
            "just" => self.open_just(args, place),
            "npm" | "pnpm" | "yarn" | "yarnpkg" | "bun" => self.open_package(program, args, place),
            "node" => self.open_node_run(args, place),
            "npm-run-all" | "npm-run-all2" | "run-s" | "run-p" | "concurrently" => {
                self.open_several_scripts(program, args, place)
            }
            "task" | "go-task" => self.open_taskfile(program, args, place),
            "poe" | "pdm" | "hatch" | "rye" | "pipenv" | "pixi" | "composer" | "deno" | "mise" | "rtx" | "makers"
            | "cargo-make" => self.open_task_table(program, args, place),
            "cargo" => self.open_cargo(args, place),
            "rake" => self.open_rake(args, place),
            "foreman" | "honcho" | "overmind" | "hivemind" | "goreman" => self.open_procfile(args, place),
            "docker" | "docker-compose" | "podman" | "podman-compose" => self.open_compose(program, args, place),
            "git" => self.open_git_entry(args, place),
            _ => false,
        }
    }

    /// The nearest file of these names, as the tool looks for it from a folder upwards. One that the line itself has
    /// written counts as well.
    fn nearest(&mut self, folder: &str, names: &[&str]) -> Option<Arc<KnownFile>> {
        if let Some(written) = names.iter().find_map(|name| self.written_at(&joined_path(folder, name))) {
            return Some(written);
        }
        let names = names.iter().map(ToString::to_string).collect();
        let known = self.file(&WantedFile::Nearest { folder: folder.to_string(), names })?;
        self.unread_file(&known, &known.path);
        known.text().is_some().then_some(known)
    }

    /// A file of one of these names in this very folder.
    fn in_folder(&mut self, folder: &str, names: &[&str]) -> Option<Arc<KnownFile>> {
        self.nearest(folder, names).filter(|file| parent(&file.path) == folder)
    }

    /// A file by its path.
    fn entry_file(&mut self, path: &str) -> Option<Arc<KnownFile>> {
        if let Some(written) = self.written_at(path) {
            return Some(written);
        }
        let known = self.file(&WantedFile::At(path.to_string()))?;
        self.unread_file(&known, &known.path);
        known.text().is_some().then_some(known)
    }

    /// A list that the line itself has written, made into a file once.
    fn written_at(&mut self, path: &str) -> Option<Arc<KnownFile>> {
        let text = self.printed.get(path)?.clone();
        if let Some((_, file)) = self.written_lists.get(path).filter(|(known, _)| Rc::ptr_eq(known, &text)) {
            return Some(file.clone());
        }
        let content = KnownContent::Text(text.as_str().into());
        let file = Arc::new(KnownFile { path: path.into(), real: path.into(), content });
        self.written_lists.insert(path.to_string(), (text, file.clone()));
        Some(file)
    }

    /// The folder the line is in, or the one an option names.
    fn entry_folder(&mut self, option: Option<&Word>) -> Option<String> {
        match option {
            Some(word) => self.scope.folder(&word.known()?).map(|folder| folder.to_string()),
            None => self.scope.cwd.as_deref().map(str::to_string),
        }
    }

    /// Whether a call of this kind is new; reading a file for it is paid for. The same call again would only say the
    /// same again, and one that leads to itself would not end.
    fn first_time(&mut self, source: &EntrySource, asked: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        (&source.file.path, &source.folder, asked).hash(&mut hasher);
        self.entered.insert(hasher.finish()) && self.affords(source.text())
    }

    /// Pays for reading a list of entries; one that is too much is said to be.
    fn affords(&mut self, text: &str) -> bool {
        let paid = self.spend_of_files(text.len() / 4 + 64);
        if !paid {
            self.trouble("", "more entries than are looked into");
        }
        paid
    }

    /// Reads the pieces that an entry would run, each in a shell of its own.
    fn run_pieces(&mut self, source: &EntrySource, tool: &str, pieces: &[EntryPiece], place: &Place) {
        let here = place.under(Via::Shell(tool.to_string()));
        for piece in pieces {
            let named = |name: &String| source.included.iter().find(|(known, _)| known == name).map(|(_, file)| file);
            let file = piece.file.as_ref().and_then(named).unwrap_or(&source.file);
            let folder = piece.folder.as_deref().map(|folder| joined_path(&source.folder, folder));
            let folder = folder.as_deref().unwrap_or(&source.folder);
            let shell = FilePiece { folder: Some(folder), entry: true, ..FilePiece::of(file, piece.line, &piece.text) };
            self.run_piece(&shell, &here);
        }
    }
}

/// Words as text that a shell reads as the same words.
fn argument_text(words: &[Word]) -> String {
    words.iter().map(one_argument).collect::<Vec<_>>().join(" ")
}

fn one_argument(word: &Word) -> String {
    match word.known() {
        Some(text)
            if text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,@%+~".contains(c)) && !text.is_empty() =>
        {
            text
        }
        Some(text) => quoted(&text),
        None => super::shell_text(word),
    }
}

/// `NAME=value` among the operands, and the rest of them.
fn assignments(operands: &[Word]) -> (Vec<(String, String)>, Vec<Word>) {
    let mut given = Vec::new();
    let mut rest = Vec::new();
    for word in operands {
        match word.shown().split_once('=') {
            Some((name, value)) if is_name(name) => given.push((name.to_string(), value.to_string())),
            _ => rest.push(word.clone()),
        }
    }
    (given, rest)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn joined_path(folder: &str, name: &str) -> String {
    let whole = if name.starts_with('/') { name.to_string() } else { format!("{folder}/{name}") };
    crate::scope::normal(&whole)
}

fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}

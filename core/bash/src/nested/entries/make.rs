//! `make`: the recipes of its goals.

use std::sync::Arc;

use super::{EntrySource, assignments, joined_path, options};
use crate::entries::{EntryPiece, Make, make};
use crate::files::{KnownContent, KnownFile};
use crate::reading::{Via, Word};
use crate::scope::Value;
use crate::walk::{Place, Walker};

const VALUED: &[&str] = &[
    "-C", "-f", "-I", "-o", "-W", "-E", "--file", "--makefile", "--directory", "--include-dir", "--assume-old",
    "--assume-new", "--what-if", "--old-file", "--new-file", "--eval",
];
const NAMES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
/// With these nothing of a recipe runs.
const DRY: &[&str] = &["-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "-t", "--touch"];
const NOTHING: &[&str] = &["-v", "--version", "-h", "--help"];

impl Walker {
    pub(super) fn open_make(&mut self, args: &[Word], place: &Place) -> bool {
        let (options, operands) = options::scattered(args, VALUED);
        if options::given(&options, NOTHING) {
            return true;
        }
        let (overrides, goals) = assignments(&operands);
        self.open_make_shell(args, place);
        let goals = goals.iter().filter_map(Word::known).filter(|goal| goal.parse::<f64>().is_err()).collect();
        let mut asked = Make { goals, overrides, dry: options::given(&options, DRY), ..Make::default() };
        let kept = self.scope.cwd.clone();
        for folder in options.iter().filter(|(name, _)| matches!(name.as_str(), "-C" | "--directory")) {
            self.scope.cwd = folder.1.as_ref().and_then(Word::known).and_then(|folder| self.scope.folder(&folder));
        }
        asked.folder = self.scope.cwd.as_deref().map(str::to_string);
        for (_, text) in options.iter().filter(|(name, _)| matches!(name.as_str(), "-E" | "--eval")) {
            let text = text.as_ref().map(Word::shown).unwrap_or_default();
            let pieces = make(&text, &asked, &mut |_| None);
            pieces.iter().for_each(|piece| {
                self.inner_text(&piece.text, Via::Shell("make".to_string()), place);
            });
        }
        let named: Vec<&Word> = options
            .iter()
            .filter(|(name, _)| matches!(name.as_str(), "-f" | "--file" | "--makefile"))
            .filter_map(|(_, value)| value.as_ref())
            .collect();
        for file in self.makefiles(&named, place) {
            let folder = asked.folder.clone().unwrap_or_default();
            self.make_goals(EntrySource::new(file, folder), &mut asked, place);
        }
        self.scope.cwd = kept;
        true
    }

    /// The files that are read: those named, or the first of the usual names.
    fn makefiles(&mut self, named: &[&Word], place: &Place) -> Vec<Arc<KnownFile>> {
        let mut files = Vec::new();
        // Read before the others, whatever they are.
        if let Some(Value::One(word)) = self.lookup("MAKEFILES").as_deref()
            && let Some(path) = word.known().and_then(|path| self.scope.resolve(&path))
        {
            files.extend(self.entry_file(&path));
        }
        if named.is_empty() {
            let folder = self.scope.cwd.as_deref().map(str::to_string);
            files.extend(folder.and_then(|folder| self.in_folder(&folder, NAMES)));
        }
        for word in named.iter().take(4) {
            if matches!(word.shown().as_str(), "-" | "/dev/stdin") {
                let text = place.draft.clone();
                files.extend(text.map(|text| {
                    let content = KnownContent::Text(text);
                    Arc::new(KnownFile { path: "/dev/stdin".into(), real: "/dev/stdin".into(), content })
                }));
            } else if let Some(path) = word.known().and_then(|path| self.scope.resolve(&path)) {
                files.extend(self.entry_file(&path));
            }
        }
        files
    }

    fn make_goals(&mut self, mut source: EntrySource, asked: &mut Make, place: &Place) {
        if !self.first_time(&source, &format!("make {:?} {:?}", asked.goals, asked.overrides)) {
            return;
        }
        asked.environment = self.environment(source.text());
        let text = source.text().to_string();
        let folder = source.folder.clone();
        let mut included = Vec::new();
        let pieces: Vec<EntryPiece> = make(&text, asked, &mut |name| {
            let file = self.entry_file(&joined_path(&folder, name))?;
            let text = file.text()?.to_string();
            included.push((name.to_string(), file));
            self.affords(&text).then_some(text)
        });
        source.included = included;
        self.run_pieces(&source, "make", &pieces, place);
    }

    /// What the line sets of the variables that the file only sets where nobody has.
    fn environment(&self, text: &str) -> Vec<(String, String)> {
        let names = text.lines().filter_map(|line| line.split_once("?=")).map(|(name, _)| name.trim());
        let value = |name: &str| match &*self.scope.get(name)? {
            Value::One(word) => word.known(),
            _ => None,
        };
        names.filter_map(|name| Some((name.to_string(), value(name)?))).collect()
    }
}

//! `just`: the recipes it is asked for.

use super::{EntrySource, assignments, joined_path, one_argument, options};
use crate::entries::{JustCall, just};
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

const VALUED: &[&str] = &[
    "-f", "-d", "-E", "-s", "--justfile", "--working-directory", "--dotenv-path", "--dotenv-filename", "--show",
    "--color", "--shell", "--shell-arg", "--chooser", "--completions", "--tempdir", "--timestamp-format",
];
const NAMES: &[&str] = &["justfile", "Justfile", ".justfile", "JUSTFILE"];
/// With these nothing runs.
const NOTHING: &[&str] = &[
    "-n", "-l", "-s", "-e", "-V", "-h", "--dry-run", "--list", "--show", "--edit", "--summary", "--evaluate", "--fmt",
    "--dump", "--init", "--variables", "--choose", "--groups", "--changelog", "--completions", "--man", "--version",
    "--help", "--usage",
];

impl Walker {
    pub(super) fn open_just(&mut self, args: &[Word], place: &Place) -> bool {
        let (args, mut overrides) = settings(args);
        let (options, operands) = options::split(&args, VALUED);
        if options::given(&options, &["-c", "--command"]) {
            self.inner(operands, Vec::new(), Via::Wrapper("just".to_string()), place);
            return true;
        }
        if options::given(&options, NOTHING) {
            return true;
        }
        let leading = operands.iter().take_while(|word| word.shown().contains('=')).count();
        let (given, _) = assignments(operands.get(..leading).unwrap_or_default());
        overrides.extend(given);
        let mut words: Vec<Word> = operands.get(leading..).unwrap_or_default().to_vec();
        let Some(mut folder) = self.entry_folder(None) else { return true };
        // `just folder/recipe` looks there.
        if let Some(first) = words.first_mut()
            && let Some((below, recipe)) = first.known().as_deref().and_then(|text| text.rsplit_once('/'))
        {
            folder = joined_path(&folder, below);
            *first = Word::text(recipe);
        }
        let file = match options::value(&options, &["-f", "--justfile"]) {
            Some(file) => {
                file.known().and_then(|file| self.scope.resolve(&file)).and_then(|path| self.entry_file(&path))
            }
            None => self.nearest(&folder, NAMES),
        };
        let Some(file) = file else { return true };
        let mut source = EntrySource::beside(file);
        let call = JustCall {
            words: words.iter().map(one_argument).collect(),
            overrides,
            folder: Some(source.folder.clone()),
        };
        if let Some(folder) = options::value(&options, &["-d", "--working-directory"]) {
            source.folder = self.entry_folder(Some(folder)).unwrap_or(source.folder);
        }
        if !self.first_time(&source, &format!("just {:?} {:?}", call.words, call.overrides)) {
            return true;
        }
        let (text, folder) = (source.text().to_string(), source.folder.clone());
        let mut included = Vec::new();
        let pieces = just(&text, &call, &mut |name| {
            let file = self.entry_file(&joined_path(&folder, name))?;
            let text = file.text()?.to_string();
            included.push((name.to_string(), file));
            self.affords(&text).then_some(text)
        });
        source.included = included;
        self.run_pieces(&source, "just", &pieces, place);
        true
    }
}

/// The words without `--set NAME VALUE`, and what it sets.
fn settings(args: &[Word]) -> (Vec<Word>, Vec<(String, String)>) {
    let mut rest = Vec::new();
    let mut set = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if word.shown() == "--set" && rest.iter().all(|word: &Word| word.shown().starts_with('-')) {
            let (name, value) = (words.next(), words.next());
            set.extend(name.zip(value).map(|(name, value)| (name.shown(), value.shown())));
        } else {
            rest.push(word.clone());
        }
    }
    (rest, set)
}

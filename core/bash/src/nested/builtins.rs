//! Builtins that change the shell they run in, or run text in it.

use std::sync::Arc;

use super::options;
use super::shells::RunFile;
use crate::files::FilePiece;
use crate::limits;
use crate::output::Output;
use crate::reading::{Command, Via, Word, WordPiece};
use crate::scan;
use crate::scope::{Positional, Value};
use crate::walk::{Place, Walker};

const BUILTINS: &[&str] = &[
    "cd", "chdir", "pushd", "popd", "eval", "source", ".", "set", "shift", "read", "readarray", "mapfile", "alias",
    "unset", "trap", "printf", "hash", "complete", "bind",
];

pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// A folder that `mktemp` makes has no name yet, but stands among the temporary ones.
fn temporary(word: &Word) -> Option<String> {
    let (WordPiece::Unknown(source), rest) = word.pieces.split_first()? else { return None };
    let made = source.trim_start_matches(['"', '$', '(', '`']).starts_with("mktemp");
    let below = Word { pieces: rest.to_vec(), quoted: true }.known()?;
    (made && !below.split('/').any(|part| part == "..")).then(|| format!("/tmp/tmp.XXXXXXXXXX{below}"))
}

impl Walker {
    pub(super) fn open_builtin(&mut self, name: &str, command: &Command, place: &Place) -> Output {
        let args = command.args();
        match name {
            "cd" | "chdir" | "pushd" => self.change_folder(args),
            "popd" => {
                let back = self.scope.previous();
                self.scope.enter(back);
            }
            "eval" if args.len() == 1 && args.iter().any(Word::has_unknown) => {
                return self.evaluate(args, place);
            }
            "eval" => return self.read_text(&super::joined(args), &place.under(Via::Shell("eval".to_string()))),
            "source" | "." => {
                if let Some(script) = args.first() {
                    let args = args.get(1..).filter(|args| !args.is_empty());
                    let run = RunFile { script, args, own_process: false };
                    return self.run_file(&run, Via::Shell("source".to_string()), place);
                }
                // Without a file fish reads what comes down the pipe.
                return self.run_input(Via::Shell("source".to_string()), place);
            }
            "set" => self.set_positional(args),
            "shift" => {
                let count = args.first().and_then(Word::known).and_then(|count| count.parse().ok()).unwrap_or(1);
                if let Some(words) = self.scope.positional.as_mut() {
                    words.shift(count);
                }
            }
            "read" | "readarray" | "mapfile" => {
                self.called_back(args, place);
                self.read_variables(args, place);
            }
            "complete" | "bind" => self.called_back(args, place),
            "hash" => self.hashed(args),
            "alias" => self.define_aliases(args),
            "unset" => args.iter().filter_map(Word::known).for_each(|name| self.scope.unset(&name)),
            "trap" => self.trap(args, place),
            "printf" => self.printf_variable(args),
            _ => {}
        }
        Output::Unknown
    }

    /// `eval "$(cat x)"`, where the file is known; otherwise the text as it stands.
    fn evaluate(&mut self, args: &[Word], place: &Place) -> Output {
        let here = place.under(Via::Shell("eval".to_string()));
        let file = args.first().and_then(|word| self.printed_file(word, place));
        let read = args.first().map(|word| self.lines_read(word, place)).unwrap_or_default();
        self.run_texts(&read, &here);
        match file.as_ref().and_then(|file| Some((file, file.text()?))) {
            Some((file, text)) => self.read_piece(&FilePiece::of(file, 1, text), &here),
            None => self.read_text(&super::joined(args), &here),
        }
    }

    fn change_folder(&mut self, args: &[Word]) {
        let operand =
            args.iter().find(|word| !word.known().is_some_and(|text| text.len() > 1 && text.starts_with('-')));
        let folder = match operand {
            None => self.scope.home.clone(),
            Some(word) => match word.known().as_deref() {
                Some("-") => self.scope.previous(),
                Some(path) => self.folder(path),
                None => temporary(word).map(Arc::from),
            },
        };
        self.scope.enter(folder);
    }

    /// A folder to go to; `None` when it is not known which.
    pub(super) fn folder(&mut self, path: &str) -> Option<Arc<str>> {
        let known = path.starts_with('/') || self.scope.cwd.is_some();
        let folder = self.scope.folder(path);
        if folder.is_none() && known {
            self.allowance.refuse("a folder with too long a name");
        }
        folder
    }

    fn set_positional(&mut self, args: &[Word]) {
        let dashes = args.iter().position(|word| word.known().as_deref() == Some("--"));
        let operands = match dashes {
            Some(at) => args.get(at + 1..).unwrap_or_default(),
            None if args.first().is_some_and(|word| !word.shown().starts_with(['-', '+'])) => args,
            None => return,
        };
        self.scope.positional = Some(Positional::new(operands.to_vec()));
    }

    /// `read x`: the first line of a known input, otherwise something only the run would tell.
    fn read_variables(&mut self, args: &[Word], place: &Place) {
        let (_, operands) =
            options::split(args, &["-d", "-n", "-N", "-p", "-t", "-u", "-a", "-i", "-c", "-C", "-O", "-s"]);
        let names: Vec<String> = operands.iter().filter_map(Word::known).collect();
        let line = match (place.input(), names.as_slice()) {
            (Some(text), [_]) => text.lines().next().filter(|_| text.lines().count() == 1),
            _ => None,
        };
        if let (crate::reading::StdinSource::Pipe(writers), [name]) = (&place.feed, names.as_slice())
            && let Some([found]) = self.found_by(writers).as_deref()
        {
            self.set(name, Value::One(found.clone()));
            return;
        }
        for name in &names {
            match line {
                Some(line) => self.set(name, Value::One(Word::text(line.trim()))),
                None => self.scope.blur(name),
            }
        }
    }

    fn define_aliases(&mut self, args: &[Word]) {
        for word in args {
            if let Some((name, text)) = word.shown().split_once('=') {
                if name.len() > limits::NAME {
                    self.allowance.refuse("an alias with too long a name");
                    continue;
                }
                self.scope.set_alias(name, text);
            }
        }
    }

    /// `trap 'text' SIGNAL`: the text runs when the signal comes, EXIT included.
    fn trap(&mut self, args: &[Word], place: &Place) {
        let operands: Vec<&Word> = args.iter().filter(|word| word.known().as_deref() != Some("--")).collect();
        let [text, _, ..] = operands.as_slice() else { return };
        let source = text.shown();
        if !source.is_empty() && !source.starts_with('-') {
            self.inner_text(&source, Via::Shell("trap".to_string()), place);
        }
    }

    /// `mapfile -C TEXT`, `complete -C TEXT`, `bind -x 'keys: TEXT'`: run when the moment comes.
    fn called_back(&mut self, args: &[Word], place: &Place) {
        for pair in args.windows(2) {
            let [option, text] = pair else { continue };
            let text = match option.known().as_deref() {
                Some("-C") => text.shown(),
                Some("-x") => text.shown().split_once(':').map(|(_, text)| text.to_string()).unwrap_or_default(),
                _ => continue,
            };
            self.inner_text(&text, Via::Shell("callback".to_string()), place);
        }
    }

    /// `hash -p /bin/rm ls`: from now on one name is another program.
    fn hashed(&mut self, args: &[Word]) {
        if let [option, path, names @ ..] = args
            && option.known().as_deref() == Some("-p")
        {
            let names = names.iter().filter_map(Word::known).filter(|name| name.len() <= limits::NAME);
            names.for_each(|name| self.scope.set_alias(&name, &path.shown()));
        }
    }

    fn printf_variable(&mut self, args: &[Word]) {
        let [flag, name, rest @ ..] = args else { return };
        if flag.known().as_deref() != Some("-v") {
            return;
        }
        let mut words = vec![Word::text("printf")];
        words.extend(rest.iter().cloned());
        let command = Command { words, ..Command::default() };
        let Some(name) = name.known().filter(|name| scan::assignment(&Word::text(format!("{name}="))).is_some()) else {
            return;
        };
        match crate::output::of(&command, None, false).certain() {
            Some(text) => {
                self.set(&name, Value::One(Word { pieces: vec![WordPiece::Text(text.to_string())], quoted: false }))
            }
            None => self.scope.blur(&name),
        }
    }
}

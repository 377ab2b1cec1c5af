//! Simple commands: expand the words, report the command, open what it runs.

use std::rc::Rc;

use shuck_ast::{Assignment, BuiltinCommand, DeclClause, DeclOperand, Redirect, Span};

use super::{Place, Walker};
use crate::limits;
use crate::nested::is_builtin;
use crate::output::{self, Output};
use crate::reading::{Command, RedirectKind, TOP_LEVEL, Via, Word, WordPiece};
use crate::scope::Value;
use crate::syntax::slice;
use crate::words::{matching, push_piece};

impl Walker {
    /// A command by the spans of its words, the program first.
    pub(super) fn simple(
        &mut self,
        raws: &[Span],
        assignments: &[Assignment],
        redirects: &[Redirect],
        source: &Rc<str>,
        place: &Place,
    ) -> Output {
        let name = raws.first().map_or("", |raw| slice(source, *raw));
        if let Some(alias) = self.scope.take_alias(name) {
            let rest: Vec<&str> = raws.iter().skip(1).map(|raw| slice(source, *raw)).collect();
            let text = format!("{alias} {}", rest.join(" "));
            let output = self.read_text(&text, &place.under(Via::Body(name.to_string())));
            self.scope.set_alias(name, &alias);
            return output;
        }
        let mut words = Vec::new();
        for raw in raws {
            let raw = slice(source, *raw);
            if !raw.is_empty() {
                words.extend(self.fields(raw, place));
            }
        }
        self.settled(words, assignments, redirects, source, place)
    }

    pub(super) fn declaration(
        &mut self,
        clause: &DeclClause,
        redirects: &[Redirect],
        source: &Rc<str>,
        place: &Place,
    ) -> Output {
        let mut words = vec![Word::text(clause.variant.as_str())];
        for operand in &clause.operands {
            match operand {
                DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => {
                    words.extend(self.fields(slice(source, word.span), place));
                }
                DeclOperand::Name(name) => words.push(Word::text(slice(source, name.span))),
                DeclOperand::Assignment(assignment) => words.push(self.declared(assignment, source, place)),
            }
        }
        self.refer(&words);
        self.settled(words, &clause.assignments, redirects, source, place)
    }

    /// `declare -n x=HOME`: one name for what another holds.
    pub(super) fn refer(&mut self, words: &[Word]) {
        let refers = |word: &Word| word.known().is_some_and(|word| word.starts_with('-') && word.contains('n'));
        let names = words.first().and_then(Word::known).is_some_and(|name| name != "export");
        if !names || !words.iter().any(refers) {
            return;
        }
        for (name, target) in words.iter().filter_map(crate::scan::assignment) {
            match target.known().and_then(|target| self.lookup(&target)) {
                Some(value) if self.allowance.spend(value.weight()) => self.set(&name, (*value).clone()),
                _ => self.scope.blur(&name),
            }
        }
    }

    /// Sets the variable, and gives the word the command is reported with.
    pub(super) fn declared(&mut self, assignment: &Assignment, source: &Rc<str>, place: &Place) -> Word {
        let value = self.assign(assignment, source, place);
        let mut word = Word::text(format!("{}=", assignment.target.name.as_str()));
        value.pieces.into_iter().for_each(|piece| push_piece(&mut word, piece));
        word
    }

    pub(super) fn builtin(
        &mut self,
        builtin: &BuiltinCommand,
        redirects: &[Redirect],
        source: &Rc<str>,
        place: &Place,
    ) -> Output {
        let (name, operand, more, assignments) = match builtin {
            BuiltinCommand::Break(it) => ("break", &it.depth, &it.extra_args, &it.assignments),
            BuiltinCommand::Continue(it) => ("continue", &it.depth, &it.extra_args, &it.assignments),
            BuiltinCommand::Return(it) => ("return", &it.code, &it.extra_args, &it.assignments),
            BuiltinCommand::Exit(it) => ("exit", &it.code, &it.extra_args, &it.assignments),
        };
        for assignment in assignments.iter() {
            self.assignment(assignment, source, place);
        }
        let found = self.redirects(redirects, source, place);
        let mut words = vec![Word::text(name)];
        for word in operand.iter().chain(more) {
            words.extend(self.fields(slice(source, word.span), place));
        }
        let mut command = self.command(words, place);
        command.redirects = found.redirects;
        self.report(command);
        Output::Unknown
    }

    /// A command whose words are expanded, with its redirects and assignments.
    pub(super) fn settled(
        &mut self,
        words: Vec<Word>,
        assignments: &[Assignment],
        redirects: &[Redirect],
        source: &Rc<str>,
        place: &Place,
    ) -> Output {
        let found = self.redirects(redirects, source, place);
        let mut command = self.command(words, place);
        command.redirects = found.redirects;
        let mut here = place.clone();
        if let Some(input) = found.input {
            here = input.in_place(place);
            command.feed = input.feed;
        }
        for assignment in assignments {
            let value = if command.words.is_empty() {
                self.assign(assignment, source, place)
            } else {
                self.assignment(assignment, source, place)
            };
            command.assignments.push((assignment.target.name.as_str().to_string(), value));
        }
        if command.words.is_empty() && command.redirects.is_empty() && command.assignments.is_empty() {
            return Output::nothing();
        }
        let written: Vec<_> =
            command.redirects.iter().filter(|redirect| redirect.kind != RedirectKind::Read).cloned().collect();
        let shown = command.name().is_some_and(|name| name == "cat" && found.away).then(|| command.words.clone());
        let output = self.run(command, &here);
        if let (Some(words), [to]) = (shown, written.as_slice()) {
            // `cat x > y` is `cp x y`.
            self.place_copy(words.get(1..).unwrap_or_default(), &to.target);
        }
        if !found.away {
            return output;
        }
        if let Some(text) = output.draft() {
            let text = Rc::new(text.to_string());
            written.iter().for_each(|redirect| self.write(redirect, &text, place));
        }
        Output::nothing()
    }

    /// Reports a command whose words are settled, and opens what it would run.
    pub(crate) fn run(&mut self, mut command: Command, place: &Place) -> Output {
        // To zsh `=rm` is the path of `rm`; to other shells it is nothing.
        if let Some(WordPiece::Text(name)) = command.words.first_mut().and_then(|word| word.pieces.first_mut())
            && name.len() > 1
            && name.starts_with('=')
        {
            name.remove(0);
        }
        // A wrapper inside a wrapper carries the same words again.
        let load = if place.via.is_empty() { 0 } else { limits::weight(&command.words) };
        if !self.tick() || !self.allowance.spend(load) || !self.allowance.sink() {
            return Output::Unknown;
        }
        self.name_tool(&mut command);
        self.report(command.clone());
        // A function of the line may bear the name of a program whose output would be known.
        let own = command.name().is_some_and(|name| self.scope.function(&name).is_some());
        let fits = !own && self.allowance.spend(place.draft.as_deref().map_or(0, limits::text_weight));
        let printed = if fits { output::of(&command, place.draft.as_deref(), place.sure) } else { Output::Unknown };
        let printed = if printed == Output::Unknown { self.top_level(&command) } else { printed };
        let opened = self.open_with(&command, place);
        self.allowance.rise();
        self.copied(&command, place);
        self.move_tool(&command);
        match opened {
            Output::Unknown if printed == Output::Unknown => self.shown_files(&command),
            Output::Unknown => printed,
            known => known,
        }
    }

    /// `git rev-parse --show-toplevel` below the session's project.
    fn top_level(&self, command: &Command) -> Output {
        let asks = |word: &Word| matches!(word.known().as_deref(), Some("rev-parse" | "--show-toplevel"));
        if command.name().as_deref() != Some("git") || command.args().len() != 2 || !command.args().iter().all(asks) {
            return Output::Unknown;
        }
        let project = match self.lookup(TOP_LEVEL).as_deref() {
            Some(Value::One(word)) => word.known(),
            _ => None,
        };
        let inside = |root: &String| command.cwd.as_deref().is_some_and(|cwd| cwd.starts_with(root.as_str()));
        project.filter(inside).map_or(Output::Unknown, |root| Output::Certain(format!("{root}\n")))
    }

    /// Remembers what the line writes into a file: it may be told to run it.
    pub(super) fn write(&mut self, redirect: &crate::reading::Redirect, text: &Rc<String>, place: &Place) {
        let Some(path) = redirect.target.known().and_then(|path| self.scope.resolve(&path)) else { return };
        if !self.allowance.spend(limits::text_weight(text)) {
            return;
        }
        // A hook is run by git, at a moment of its choosing.
        let shell =
            !text.starts_with("#!") || text.lines().next().is_some_and(|first| first.trim_end().ends_with("sh"));
        if path.contains("/.git/hooks/") && shell {
            self.inner_text(text, Via::Shell("git hook".to_string()), place);
        }
        if redirect.kind == RedirectKind::Write {
            let before = self.printed.insert(path, text.clone());
            self.changes += usize::from(before.as_ref() != Some(text));
        } else {
            self.changes += 1;
            Rc::make_mut(self.printed.entry(path).or_default()).push_str(text);
        }
    }

    /// `cat` of process substitutions, or of files the line has written, prints what is in them.
    fn shown_files(&mut self, command: &Command) -> Output {
        if command.name().as_deref() != Some("cat") || self.printed.is_empty() {
            return Output::Unknown;
        }
        let texts: Option<Vec<Rc<String>>> = command.args().iter().map(|file| self.written(file)).collect();
        match texts {
            Some(texts)
                if !texts.is_empty()
                    && self.allowance.spend(texts.iter().map(|text| limits::text_weight(text)).sum()) =>
            {
                Output::Draft(texts.iter().map(|text| text.as_str()).collect())
            }
            _ => Output::Unknown,
        }
    }

    /// `tee FILE` writes what it reads; `cp` and `mv` put a file the line has written elsewhere.
    fn copied(&mut self, command: &Command, place: &Place) {
        let program = command.name();
        let operands = || command.args().iter().filter(|word| !word.shown().starts_with('-'));
        let (text, targets): (Option<Rc<String>>, Vec<Word>) = match program.as_deref() {
            Some("tee") => {
                (place.draft.as_deref().map(|text| Rc::new(text.to_string())), operands().cloned().collect())
            }
            Some("cp" | "mv") if !self.printed.is_empty() => {
                let [from, to] = operands().collect::<Vec<_>>()[..] else { return };
                (self.written(from), vec![to.clone()])
            }
            _ => return,
        };
        let append = command.args().iter().any(|word| matches!(word.shown().as_str(), "-a" | "--append"));
        let kind = if append { RedirectKind::Append } else { RedirectKind::Write };
        let Some(text) = text else { return };
        for target in targets {
            self.write(&crate::reading::Redirect { kind, target, errors: false }, &text, place);
        }
    }

    /// The text of a file the line has written, or of a process substitution.
    pub(crate) fn written(&self, file: &Word) -> Option<Rc<String>> {
        if let Some(text) = self.printed.get(&file.shown()) {
            return Some(text.clone());
        }
        let path = self.scope.resolve(&file.known()?)?;
        self.printed.get(&path).cloned()
    }

    /// Opens a command whose own assignments hold inside it, and only there.
    fn open_with(&mut self, command: &Command, place: &Place) -> Output {
        let builtin = command.name().is_some_and(|name| is_builtin(&name));
        if command.assignments.is_empty() || command.words.is_empty() || builtin {
            return self.open(command, place);
        }
        let kept = self.scope.clone();
        for (name, value) in &command.assignments {
            self.set(name, Value::One(value.clone()));
        }
        let output = self.open(command, place);
        let folder = std::mem::replace(&mut self.scope, kept);
        self.scope.cwd = folder.cwd;
        output
    }

    /// What `<(…)` prints, when `raw` is one.
    pub(super) fn process_output(&mut self, raw: &str, place: &Place) -> Option<Output> {
        let body = raw.strip_prefix("<(").or_else(|| raw.strip_prefix(">("))?;
        let body = body.get(..matching::paren_body(body))?;
        Some(self.walk_process_substitution(body, place))
    }

    /// The target of a redirect. A process substitution has been walked already.
    pub(super) fn fields_or_value(&mut self, raw: &str, place: &Place, walked: bool) -> Word {
        if walked {
            return Word { pieces: vec![WordPiece::Unknown(raw.to_string())], quoted: false };
        }
        let mut words = self.fields(raw, place);
        if words.len() == 1 { words.remove(0) } else { self.value(raw, place) }
    }
}

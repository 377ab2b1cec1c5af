//! Finds the calls in a script that do what a shell command would, and reports those commands.

use super::foreign::forks_on;
use super::imports::import;
use super::lexer::{self, Token};
use super::loops;
use super::receivers::{listed, receiver};
use super::tables::{Effect, Language};
use super::values::{Argument, DATABASE, Names, STAR, arguments, dotted, split, unknown};
use crate::limits;
use crate::nested::shell_text;
use crate::reading::{Redirect, RedirectKind, Via, Word};
use crate::walk::{Place, Walker};

/// Words that end the arguments of a call without parentheses.
const STOPPERS: &[&str] =
    &["if", "unless", "or", "and", "while", "until", "for", "foreach", "do", "end", "rescue", "then"];

impl Walker {
    pub(super) fn walk_script(&mut self, language: &'static Language, code: &str, place: &Place) {
        let (tokens, lines) = lexer::tokens(code, language.style);
        if forks_on(&tokens) {
            self.forking(place);
        }
        let mut names = Names::new(self.scope.home.as_deref().map(str::to_string));
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = tokens.get(at..).unwrap_or_default();
            if let Some(line) = lines.get(at) {
                self.at_own_line(*line);
            }
            if !self.allowance.spend(1) {
                return;
            }
            at += match token {
                Token::Shell(text) => {
                    let text = names.word(&[Token::Text(text.clone())]);
                    self.read_text(&shell_text(&text), place);
                    1
                }
                Token::Name(_) => self.name(language, rest, &tokens, at, &mut names, place),
                Token::Mark('[' | '(') => {
                    loops::bind_ahead(rest, &mut names);
                    1
                }
                Token::Mark('|' | '>') if language.name == "awk" => {
                    self.awk_output(rest, &names, place);
                    1
                }
                Token::Text(text)
                    if language.name == "awk" && matches!(rest.get(1..3), Some([Token::Mark('|'), Token::Name(_)])) =>
                {
                    self.read_text(&text.shown(), place);
                    1
                }
                _ => 1,
            };
        }
    }

    /// A name in the code: an import, an assignment, a call, or nothing. The tokens it takes.
    fn name(
        &mut self,
        language: &'static Language,
        rest: &[Token],
        all: &[Token],
        at: usize,
        names: &mut Names,
        place: &Place,
    ) -> usize {
        if let Some(width) = import(rest, names) {
            return width;
        }
        loops::bind(rest, names);
        if language.name == "perl" {
            loops::bind_behind(rest, names);
        }
        let (path, width) = dotted(rest);
        let after = rest.get(width..).unwrap_or_default();
        if let [Token::Mark('='), next, ..] = after
            && !matches!(next, Token::Mark('=' | '~' | '>'))
        {
            let cost = assign(&path, after.get(1..).unwrap_or_default(), names);
            self.allowance.spend(cost);
            return width + 1;
        }
        // `File::Path::rmtree`, `$dir->remove`: only the last part names the call.
        let (method, resolved) = match all.get(..at).unwrap_or_default() {
            [.., Token::Name(require), Token::Mark('('), Token::Text(module), Token::Mark(')'), Token::Mark('.')]
                if matches!(require.as_str(), "require" | "__import__") =>
            {
                (false, format!("{}.{path}", module.shown().trim_start_matches("node:")))
            }
            [.., Token::Mark('.')] | [.., Token::Mark('-'), Token::Mark('>')] => (true, path.clone()),
            _ => (false, names.resolved(&path)),
        };
        let resolved = if language.name == "node" { plain(resolved) } else { resolved };
        if loops::is_each(path.rsplit('.').next().unwrap_or_default()) {
            let listed = listed(&path, all, at, names);
            self.for_each(language, listed, after, names, place);
        }
        let topic = [Token::Name("$_".to_string())];
        let parts = match after.first() {
            Some(Token::Mark('(')) => Some(arguments(after).0),
            // `unlink for …` takes what the loop is at.
            Some(Token::Name(next)) if path == "unlink" && matches!(next.as_str(), "for" | "foreach") => {
                Some(vec![topic.as_slice()])
            }
            Some(next) if language.bare && starts_value(next) && !method => Some(bare_arguments(after)),
            _ => None,
        };
        let Some(parts) = parts else { return width };
        // Calls in calls are looked through for each of them.
        self.allowance.spend(parts.iter().map(|part| part.len()).sum());
        if resolved == "sqlite3.connect" {
            let database = parts.first().map_or_else(|| unknown("…"), |part| names.word(part));
            names.constants.insert(DATABASE.to_string(), Argument::One(database));
        }
        let starred = names.modules.get(STAR).map(|module| format!("{module}.{path}"));
        let known = |name: &str| name == resolved || starred.as_deref() == Some(name);
        let function = language.calls.iter().find(|(name, _)| !method && known(name));
        if let Some((_, effect)) = function {
            let given: Vec<Argument> = parts.iter().map(|part| names.argument(part)).collect();
            self.allowance.spend(given.iter().map(Argument::weight).sum());
            self.effect(language, *effect, &given, &parts, place);
            // What stands inside the parentheses is looked at as well.
            return width;
        }
        if let Some((effect, receiver)) = receiver(language, &path, all, at, names) {
            let receiver = if effect == Effect::Sql { names.database().unwrap_or(receiver) } else { receiver };
            let mut given = vec![Argument::One(receiver)];
            given.extend(parts.iter().map(|part| names.argument(part)));
            self.allowance.spend(given.iter().map(Argument::weight).sum());
            self.effect(language, effect, &given, &parts, place);
        }
        width
    }

    pub(super) fn effect(
        &mut self,
        language: &'static Language,
        effect: Effect,
        given: &[Argument],
        parts: &[&[Token]],
        place: &Place,
    ) {
        if matches!(effect, Effect::Shell | Effect::Code) {
            self.foreign_code(language, effect, given, parts, place);
        }
        match effect {
            Effect::Shell => match given.first() {
                Some(Argument::List(words)) => self.script_words(words.clone(), place),
                // Several words are a program with its arguments, not shell text.
                Some(Argument::One(_)) if language.bare && given.len() > 1 => self.script_words(flat(given), place),
                Some(Argument::One(text)) => {
                    self.read_text(&shell_text(text), place);
                }
                None => {}
            },
            Effect::Words => self.script_words(program_words(given), place),
            Effect::Becomes(prefix, count) => {
                let mut words: Vec<Word> =
                    prefix.iter().map(|word| if *word == "?" { unknown("…") } else { Word::text(*word) }).collect();
                let wanted = flat(given.get(..count.min(given.len())).unwrap_or_default());
                // One file after the other in a whole tree is the tree.
                if *prefix == ["rm"] && wanted.iter().any(|word| word.has_glob() && word.shown().contains("**")) {
                    words.push(Word::text("-r"));
                }
                words.extend(wanted.into_iter().take(limits::SPREAD));
                self.script_words(words, place);
            }
            Effect::Remove => {
                let recursive = parts
                    .iter()
                    .flat_map(|part| part.iter())
                    .any(|token| matches!(token, Token::Name(name) if name == "recursive"));
                let mut words = vec![Word::text("rm"), Word::text(if recursive { "-rf" } else { "-f" })];
                words.extend(flat(given.get(..1).unwrap_or_default()));
                self.script_words(words, place);
            }
            Effect::Write => self.script_file(given.first(), RedirectKind::Write, place),
            Effect::Append => self.script_file(given.first(), RedirectKind::Append, place),
            Effect::Read => self.script_file(given.first(), RedirectKind::Read, place),
            Effect::Sql => {
                let mut words = match flat(given).first() {
                    Some(file) if file.known().is_some() => vec![Word::text("sqlite3"), file.clone()],
                    _ => vec![Word::text("psql"), Word::text("-c")],
                };
                words.extend(flat(given.get(1..2).unwrap_or_default()));
                self.script_words(words, place);
            }
            Effect::Open => self.script_open(given, parts, place),
            Effect::Kill | Effect::SignalFirst => self.script_kill(effect, given, place),
            Effect::Code => {
                if let Some(code) = flat(given).first().and_then(Word::known)
                    && self.allowance.sink()
                {
                    self.walk_script(language, &code, &place.under(Via::Script(language.name.to_string())));
                    self.allowance.rise();
                }
            }
        }
    }

    fn script_words(&mut self, words: Vec<Word>, place: &Place) {
        let command = self.command(words, place);
        if !command.words.is_empty() {
            self.run(command, place);
        }
    }

    fn script_file(&mut self, target: Option<&Argument>, kind: RedirectKind, place: &Place) {
        let Some(Argument::One(target)) = target else { return };
        // A number is a descriptor that is open already.
        if target.known().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit())) {
            return;
        }
        let mut command = self.command(Vec::new(), place);
        command.redirects.push(Redirect { kind, target: target.clone(), errors: false });
        self.report(command);
    }

    /// `open(path, 'w')`, and Perl's `open(F, '>', path)` and `open(F, ">path")`.
    fn script_open(&mut self, given: &[Argument], parts: &[&[Token]], place: &Place) {
        let texts: Vec<String> = given
            .iter()
            .map(|argument| match argument {
                Argument::One(word) => word.shown(),
                Argument::List(_) => String::new(),
            })
            .collect();
        let perl = texts.get(1).is_some_and(|mode| mode.starts_with(['>', '+', '<', '|', '-']));
        if perl {
            let mode = texts.get(1).map(String::as_str).unwrap_or_default();
            let kind = if mode.starts_with(">>") { RedirectKind::Append } else { RedirectKind::Write };
            if mode.starts_with(['>', '+']) {
                let inline = Argument::One(Word::text(mode.trim_start_matches(['>', '+', '<', ' '])));
                let target = if given.len() > 2 { given.get(2) } else { Some(&inline) };
                self.script_file(target, kind, place);
            } else if mode.starts_with('|') {
                self.read_text(mode.trim_start_matches('|'), place);
            } else if mode.starts_with('<') {
                self.script_file(given.get(2), RedirectKind::Read, place);
            }
            return;
        }
        let keyword = |part: &&[Token]| matches!(part, [Token::Name(name), Token::Mark('='), ..] if name == "mode");
        let mode = match parts.iter().find(|part| keyword(part)) {
            Some([_, _, Token::Text(mode), ..]) => mode.shown(),
            _ => texts.get(1).cloned().unwrap_or_default(),
        };
        let kind = match mode.as_str() {
            mode if mode.len() > 4 || !mode.contains(['w', 'a', 'x', '+']) => RedirectKind::Read,
            mode if mode.contains('a') => RedirectKind::Append,
            _ => RedirectKind::Write,
        };
        self.script_file(given.first(), kind, place);
    }

    fn script_kill(&mut self, effect: Effect, given: &[Argument], place: &Place) {
        let words = flat(given);
        let [first, second, ..] = words.as_slice() else {
            let mut all = vec![Word::text("kill")];
            all.extend(words);
            self.script_words(all, place);
            return;
        };
        let (pid, signal) = if effect == Effect::Kill { (first, second) } else { (second, first) };
        let mut option = Word::text("-");
        let name = signal.shown();
        option
            .pieces
            .push(crate::WordPiece::Text(name.rsplit('.').next().unwrap_or(&name).trim_start_matches('-').to_string()));
        let option = Word::text(option.shown());
        self.script_words(vec![Word::text("kill"), option, pid.clone()], place);
    }

    /// `print > "file"` and `print | "command"`.
    fn awk_output(&mut self, rest: &[Token], names: &Names, place: &Place) {
        match rest {
            [Token::Mark('>'), Token::Mark('>'), target @ Token::Text(_), ..] => {
                self.script_file(Some(&names.argument(std::slice::from_ref(target))), RedirectKind::Append, place)
            }
            [Token::Mark('>'), target @ Token::Text(_), ..] => {
                self.script_file(Some(&names.argument(std::slice::from_ref(target))), RedirectKind::Write, place)
            }
            [Token::Mark('|'), Token::Text(text), ..] => {
                self.read_text(&text.shown(), place);
            }
            _ => {}
        }
    }
}

/// One name for the same function: `fs.promises.rm`, `fsp.rm` and `node:fs.rm` are `fs.rm`.
fn plain(resolved: String) -> String {
    let Some((module, rest)) = resolved.split_once('.') else { return resolved };
    let module = match module.trim_start_matches("node:") {
        "fs/promises" | "fsp" | "fse" | "fsPromises" => "fs",
        "cp" | "childProcess" => "child_process",
        other => other,
    };
    format!("{module}.{}", rest.trim_start_matches("promises."))
}

/// Binds a name, and says what that costs.
fn assign(path: &str, tail: &[Token], names: &mut Names) -> usize {
    let reach = tail.get(..600).unwrap_or(tail);
    let end = reach.iter().position(|token| *token == Token::End).unwrap_or(reach.len());
    let value = names.argument(reach.get(..end).unwrap_or_default());
    // A value is put together, kept, and copied into what is made of it.
    let cost = end + 4 * value.weight();
    if names.constants.len() < 4096 {
        names.constants.insert(path.to_string(), value);
    }
    cost
}

fn starts_value(token: &Token) -> bool {
    match token {
        Token::Text(_) | Token::Number(_) | Token::Mark('[') => true,
        Token::Name(name) => !STOPPERS.contains(&name.as_str()) && name != "x",
        _ => false,
    }
}

fn bare_arguments(after: &[Token]) -> Vec<&[Token]> {
    let reach = after.get(..200).unwrap_or(after);
    let ends = |token: &Token| match token {
        Token::End | Token::Mark('}' | ')' | '|' | '&') => true,
        Token::Name(name) => STOPPERS.contains(&name.as_str()),
        _ => false,
    };
    let end = reach.iter().position(ends).unwrap_or(reach.len());
    split(reach.get(..end).unwrap_or_default())
}

/// All words of the arguments, lists opened.
fn flat(given: &[Argument]) -> Vec<Word> {
    let mut out = Vec::new();
    for argument in given {
        match argument {
            Argument::One(word) => out.push(word.clone()),
            Argument::List(words) => out.extend(words.iter().cloned()),
        }
    }
    out
}

/// A program and its words: the first argument and the lists; options after them are not words.
fn program_words(given: &[Argument]) -> Vec<Word> {
    match given {
        [Argument::One(program), Argument::List(words), ..] => {
            // `os.execv(path, [name, …])` repeats the program as the first word.
            let repeated = words.first().is_some_and(|first| first == program);
            std::iter::once(program.clone()).chain(words.iter().skip(usize::from(repeated)).cloned()).collect()
        }
        [Argument::List(words), ..] => words.clone(),
        [Argument::One(program), rest @ ..] => std::iter::once(program.clone())
            .chain(flat(rest).into_iter().filter(|word| word.known().is_some()))
            .collect(),
        [] => Vec::new(),
    }
}

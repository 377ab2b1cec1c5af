//! Inline scripts: the calls of other languages, given as the shell commands that would do the same.

mod calls;
mod foreign;
mod imports;
mod languages;
mod lexer;
mod listing;
mod loops;
mod receivers;
mod tables;
mod values;

use std::sync::Arc;

use crate::files::KnownFile;
use crate::reading::{Command, StdinSource, Via, Word};
use crate::walk::{Place, Walker};
use tables::{Language, language};

/// Whether a program runs code of a language that is known here.
pub(crate) fn is_interpreter(program: &str) -> bool {
    language(program).is_some()
}

impl Walker {
    /// Opens an interpreter that is given code in its words or on its standard input.
    pub(crate) fn open_script(&mut self, program: &str, command: &Command, place: &Place) {
        let Some(language) = language(program) else { return };
        let given = given(language, program, command.args());
        let inside = place.fed(StdinSource::Inherited, None);
        for file in given.first.iter().filter_map(|file| self.file_named(file)).collect::<Vec<_>>() {
            self.in_code_file(&file, &inside, |walker, code, here| walker.script(language, code, here));
        }
        for code in &given.codes {
            self.script(language, &code.shown(), &inside);
            if let Some(file) = loaded(&code.shown()).and_then(|file| self.file_named(&Word::text(file))) {
                self.in_code_file(&file, &inside, |walker, code, here| walker.script(language, code, here));
            }
        }
        if !given.codes.is_empty() || given.other {
            return;
        }
        let from_input = given.file.as_ref().is_none_or(|file| matches!(file.shown().as_str(), "-" | "/dev/stdin"));
        let text = match &given.file {
            _ if from_input => place.draft.clone(),
            Some(file) => self.written(file).map(|text| text.as_str().into()),
            None => None,
        };
        if let Some(code) = text {
            self.script(language, &code, &inside);
            return;
        }
        let files = match &given.file {
            _ if from_input => self.fed_files(place),
            Some(module) if given.module => self.module(module),
            Some(file) => self.printed_file(file, place).or_else(|| self.file_named(file)).into_iter().collect(),
            None => Vec::new(),
        };
        for file in files {
            self.in_code_file(&file, &inside, |walker, code, here| walker.script(language, code, here));
        }
    }

    /// The file of `python -m package.module`, where it stands in the folder.
    fn module(&mut self, module: &Word) -> Vec<Arc<KnownFile>> {
        let Some(name) = module.known().filter(|name| !COMMON_MODULES.contains(&name.as_str())) else {
            return Vec::new();
        };
        let path = name.replace('.', "/");
        let files = [format!("{path}.py"), format!("{path}/__main__.py")];
        files.into_iter().filter_map(|file| self.file_named(&Word::text(file))).collect()
    }

    /// Reads code of a language, here.
    fn script(&mut self, language: &'static Language, code: &str, place: &Place) {
        if !self.allowance.sink() {
            return;
        }
        if self.allowance.parse(code.len()) {
            let here = place.under(Via::Script(language.name.to_string()));
            self.walk_script(language, &languages::plain_code(language, code, self.scope.home.as_deref()), &here);
        }
        self.allowance.rise();
    }
}

/// Modules that are hardly ever a project's own: nothing is looked for.
const COMMON_MODULES: &[&str] = &[
    "pytest", "pip", "venv", "unittest", "http.server", "json.tool", "mypy", "black", "ruff", "build", "twine",
    "flask", "django", "uvicorn", "gunicorn", "isort", "flake8", "pylint", "coverage", "timeit", "cProfile", "pdb",
    "ensurepip", "virtualenv", "pipx", "jupyter", "sphinx", "tox", "nox", "compileall", "py_compile", "site",
    "zipfile", "pyflakes",
];

/// What an interpreter's words give it.
#[derive(Default)]
struct Given {
    codes: Vec<Word>,
    file: Option<Word>,
    /// Files that are run before anything else.
    first: Vec<Word>,
    /// The file is named as a module.
    module: bool,
    /// It does something else than run code.
    other: bool,
}

/// Modules that run the script behind them.
const RUNNING_MODULES: &[&str] = &["pdb", "cProfile", "profile", "trace", "runpy", "bdb", "coverage", "kernprof"];

/// Calls of code that run the file they name.
const LOADS: &[&str] =
    &["require(", "import(", "do ", "load ", "load(", "run_path(", "require_relative ", "include ", "exec(open("];

/// The file that a piece of inline code runs: `require("./x.js")`, `exec(open("x.py").read())`.
fn loaded(code: &str) -> Option<String> {
    LOADS.iter().find_map(|call| {
        let rest = code.split_once(call)?.1;
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let path = rest.get(1..)?.split(quote).next()?;
        (path.starts_with(['.', '/']) || path.contains('.')).then(|| path.to_string())
    })
}

/// The file that an option has an interpreter run first: `node -r ./x.js`, `ruby -r./x.rb`,
/// `php -d auto_prepend_file=x`.
fn preloaded(option: &str, value: Option<&Word>) -> Option<Word> {
    let value = value.and_then(Word::known).unwrap_or_default();
    let path = match option {
        "-r" | "--require" | "--import" | "--loader" => Some(value.as_str()),
        "-d" => value.strip_prefix("auto_prepend_file=").or_else(|| value.strip_prefix("auto_append_file=")),
        _ => ["-r", "--require=", "--import="].iter().find_map(|name| option.strip_prefix(name)),
    }?;
    let local = path.starts_with(['.', '/']) || option == "-d";
    local.then(|| Word::text(path))
}

fn given(language: &Language, program: &str, args: &[Word]) -> Given {
    let mut out = Given::default();
    let mut rest = args;
    // `deno eval CODE` and `bun run x.ts` name the mode first; their other modes run no file that is named.
    if let ("deno" | "bun" | "crystal", Some((mode, tail))) = (program, rest.split_first()) {
        match mode.shown().as_str() {
            "eval" => {
                out.codes.extend(tail.iter().find(|word| !word.shown().starts_with('-')).cloned());
                return out;
            }
            "run" => rest = tail,
            word if word.starts_with('-') || word.contains('.') => {}
            _ => {
                out.other = true;
                return out;
            }
        }
        let operand = rest.iter().find(|word| !word.shown().starts_with('-') || word.shown() == "-");
        let coded = rest.iter().any(|word| code_option(language, &word.shown()));
        out.other = !coded && operand.is_some_and(|word| !word.shown().contains('.') && word.shown() != "-");
        if out.other {
            return out;
        }
    }
    while let [first, tail @ ..] = rest {
        rest = tail;
        let text = first.shown();
        if code_option(language, &text) {
            out.codes.extend(tail.first().cloned());
            rest = tail.get(1..).unwrap_or_default();
            // Perl and Ruby take several; for the others the rest are arguments of the code.
            if !matches!(language.name, "perl" | "ruby") {
                return out;
            }
        } else if let Some(code) = attached(language, &text) {
            out.codes.push(Word::text(code));
        } else if language.valued.contains(&text.as_str()) {
            // `python -m module` runs a module, not what stands on its input.
            out.first.extend(preloaded(&text, tail.first()));
            let module = tail.first().and_then(Word::known).unwrap_or_default();
            if text == "-m" && language.name == "python" && RUNNING_MODULES.contains(&module.as_str()) {
                out.file = tail.iter().find(|word| word.shown().ends_with(".py")).cloned();
                out.other = out.file.is_none();
                return out;
            }
            if text == "-m" && language.name == "python" || text == "-f" {
                out.module = text == "-m";
                out.file = tail.first().cloned();
                return out;
            }
            rest = tail.get(1..).unwrap_or_default();
        } else if !text.starts_with('-') || text == "-" {
            if language.name == "awk" && out.codes.is_empty() {
                out.codes.push(first.clone());
            } else {
                out.file = Some(first.clone());
            }
            return out;
        } else if matches!(language.name, "node" | "ruby") {
            out.first.extend(preloaded(&text, None));
        }
    }
    out
}

/// `-c`, and clusters that end in it: `-Sc`, `-lne`.
fn code_option(language: &Language, text: &str) -> bool {
    if language.inline.contains(&text) {
        return true;
    }
    let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.starts_with('-') && letters.len() > 1) else {
        return false;
    };
    // Perl's `-i.bak` and `-F:` take what follows for a value.
    let plain =
        letters.chars().all(|c| c.is_ascii_alphanumeric()) && !letters.starts_with(['I', 'M', 'm', 'F', 'W', 'X', 'd']);
    plain && letters.chars().last().is_some_and(|last| language.inline.contains(&format!("-{last}").as_str()))
}

/// `-cCODE`, `--eval=CODE`.
fn attached<'t>(language: &Language, text: &'t str) -> Option<&'t str> {
    language.inline.iter().find_map(|option| {
        let rest = text.strip_prefix(option)?;
        if option.starts_with("--") {
            rest.strip_prefix('=')
        } else {
            Some(rest).filter(|rest| rest.contains([' ', '(', ';', '\'']))
        }
    })
}

//! Size: a file that fits in one head, a function that fits on one screen, a `main` that does nothing itself.

use crate::source::{Function, Keep, blank, functions, production};
use crate::{SourceFile, Violation};

/// Something that may be larger for now. The list may only shrink: an entry that is no longer needed, or larger than
/// what it excuses, breaks the gate.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    pub path: &'static str,
    /// A function's name, or empty for the file itself.
    pub function: &'static str,
    pub lines: usize,
}

pub const EXCEPTIONS: &[Exception] = &[];

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 80;
/// In characters; rustfmt breaks no text by itself.
const LINE_WIDTH: usize = 160;
const MAIN: &str = "world/cli/src/main.rs";
const MAIN_LINES: usize = 15;

/// Something too large.
struct Excess<'a> {
    file: &'a SourceFile,
    function: String,
    line: usize,
    lines: usize,
    limit: usize,
}

pub(crate) fn check_tree(files: &[SourceFile]) -> Vec<Violation> {
    check(files, EXCEPTIONS)
}

/// The gate with a given list of exceptions.
pub fn check(files: &[SourceFile], exceptions: &[Exception]) -> Vec<Violation> {
    let excesses: Vec<_> = files.iter().filter(|file| file.is_rust()).flat_map(of_file).collect();
    let mut found: Vec<_> =
        excesses.iter().filter(|excess| !exceptions.iter().any(|known| known.covers(excess))).map(say).collect();
    found.extend(exceptions.iter().filter(|known| !excesses.iter().any(|excess| known.covers(excess))).map(|known| {
        let what =
            format!("the exception for {:?} with {} lines fits nothing: shrink the list", known.function, known.lines);
        Violation { path: known.path.to_owned(), line: 0, what }
    }));
    found.extend(files.iter().filter(|file| file.is_rust()).flat_map(wide_lines));
    found
}

fn wide_lines(file: &SourceFile) -> impl Iterator<Item = Violation> {
    let wide = file.text.lines().enumerate().filter(|(_, line)| line.chars().count() > LINE_WIDTH);
    wide.map(|(at, _)| file.breaks(at + 1, format!("the line is wider than {LINE_WIDTH} characters: break its text")))
}

impl Exception {
    fn covers(&self, excess: &Excess<'_>) -> bool {
        self.path == excess.file.path && self.function == excess.function && self.lines == excess.lines
    }
}

/// Tests may make a file long, because cases are data; a test function obeys the same limit as any other.
fn of_file(file: &SourceFile) -> Vec<Excess<'_>> {
    let excess = |function: &Function, limit| Excess {
        file,
        function: function.name.clone(),
        line: function.line,
        lines: function.lines,
        limit,
    };
    let long = functions(&blank(&file.text, Keep::Code)).into_iter().filter(|found| found.lines > FUNCTION_LINES);
    let mut found: Vec<_> = long.map(|function| excess(&function, FUNCTION_LINES)).collect();
    let whole = |lines| Function { name: String::new(), line: 0, lines };
    let lines = if file.is_test() { 0 } else { production_lines(&file.text) };
    if lines > FILE_LINES {
        found.push(excess(&whole(lines), FILE_LINES));
    }
    let code_lines = blank(&file.text, Keep::Code).lines().filter(|line| !line.trim().is_empty()).count();
    if file.path == MAIN && code_lines > MAIN_LINES {
        found.push(excess(&whole(code_lines), MAIN_LINES));
    }
    found
}

/// Lines that are not part of a test item, comments and blank ones included.
fn production_lines(text: &str) -> usize {
    let blanked = production(text, Keep::Code);
    let all_code = blank(text, Keep::Code);
    let in_tests = all_code.lines().zip(blanked.lines()).filter(|(all, kept)| all != kept).count();
    text.lines().count() - in_tests
}

fn say(excess: &Excess<'_>) -> Violation {
    let Excess { file, function, line, lines, limit } = excess;
    let what = if function.is_empty() { "this file".to_owned() } else { format!("fn {function}") };
    file.breaks(*line, format!("{what} has {lines} lines, the limit is {limit}: split it by what it owns"))
}

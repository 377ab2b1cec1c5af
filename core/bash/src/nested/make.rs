//! `make`: the recipes of a file the line itself has written, or gives on the standard input.

use std::rc::Rc;

use super::options;
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

const VALUED: &[&str] =
    &["-C", "-f", "-I", "-o", "-W", "-l", "--file", "--makefile", "--directory", "--justfile", "--assume-old"];

impl Walker {
    pub(super) fn open_make(&mut self, args: &[Word], place: &Place) {
        let (options, _) = options::split(args, VALUED);
        let named = options::value(&options, &["-f", "--file", "--makefile", "--justfile"]).cloned();
        let text = match named.as_ref().map(Word::shown).as_deref() {
            Some("-" | "/dev/stdin") => place.draft.as_deref().map(|text| Rc::new(text.to_string())),
            Some(_) => named.as_ref().and_then(|file| self.written(file)),
            None => ["Makefile", "makefile", "GNUmakefile", "justfile"]
                .iter()
                .find_map(|file| self.written(&Word::text(*file))),
        };
        let Some(text) = text else { return };
        let dry = options::given(&options, &["-n", "--dry-run", "--just-print", "--recon"]);
        if !dry {
            self.inner_text(&recipes(&text), Via::Shell("make".to_string()), place);
        }
    }
}

/// The lines of the recipes as shell text: without their marks, with make's `$(X)` and `$$` as the shell writes them.
fn recipes(text: &str) -> String {
    let lines = text.lines().filter(|line| line.starts_with(['\t', ' ']));
    lines.map(|line| shell_line(line.trim_start().trim_start_matches(['@', '-', '+']))).collect::<Vec<_>>().join("\n")
}

fn shell_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        out.push('$');
        let name = after.strip_prefix('(').and_then(|inside| inside.split_once(')'));
        rest = match (after.strip_prefix('$'), name) {
            (Some(shell), _) => shell,
            (None, Some((name, behind))) if name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) => {
                out.push_str(&format!("{{{name}}}"));
                behind
            }
            _ => after,
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_becomes_what_the_shell_gets() {
        assert_eq!(recipes("all: x\n\t@rm -rf $(OUT) $$x\n"), "rm -rf ${OUT} $x");
    }
}

//! Justfiles: which recipes a line would run, with what their parameters hold.

mod parse;
mod values;

use std::collections::HashSet;

use super::{DEPTH, EntryPiece, PIECES, interpreted};
use parse::{Justfile, Recipe};
use values::Values;

/// What was asked of `just`.
#[derive(Debug, Clone, Default)]
pub(crate) struct JustCall {
    /// Recipes and their arguments, one after the other as on the line.
    pub(crate) words: Vec<String>,
    /// `NAME=value` and `--set NAME value`.
    pub(crate) overrides: Vec<(String, String)>,
    /// The folder of the justfile.
    pub(crate) folder: Option<String>,
}

struct Run {
    file: Justfile,
    values: Values,
    seen: HashSet<(String, Vec<String>)>,
    pieces: Vec<EntryPiece>,
}

/// The shell that `just` would run. `include` gives the texts of imported files, by the name they are asked for.
pub(crate) fn just(text: &str, call: &JustCall, include: &mut dyn FnMut(&str) -> Option<String>) -> Vec<EntryPiece> {
    let mut file = Justfile::default();
    parse::read(&mut file, text, include, 0);
    let mut values = Values::new(call);
    let mut pieces = Vec::new();
    for assignment in std::mem::take(&mut file.assignments) {
        let value = values.evaluate(&assignment.text);
        values.set(&assignment.name, value);
        let ran = std::mem::take(&mut values.ran);
        let piece = |text| EntryPiece { file: assignment.file.clone(), ..EntryPiece::new(text, assignment.line) };
        pieces.extend(ran.into_iter().map(piece));
    }
    let mut run = Run { file, values, seen: HashSet::new(), pieces };
    let mut words = call.words.as_slice();
    if words.is_empty() {
        let first = run.file.recipes.first().map(|recipe| recipe.name.clone());
        first.into_iter().for_each(|name| {
            run.recipe(&name, &[], 0);
        });
    }
    while let [name, rest @ ..] = words {
        let Some(taken) = run.recipe(name, rest, 0) else { break };
        words = rest.get(taken..).unwrap_or_default();
    }
    run.pieces
}

impl Run {
    /// Runs a recipe with the first of `args`, and says how many of them it takes.
    fn recipe(&mut self, name: &str, args: &[String], depth: usize) -> Option<usize> {
        let name = self.file.aliases.iter().find(|(alias, _)| alias == name).map_or(name, |(_, name)| name).to_string();
        let at = self.file.recipes.iter().position(|recipe| recipe.name == name)?;
        let recipe = self.file.recipes.get(at)?.clone();
        let most = recipe.parameters.iter().map(|parameter| if parameter.many { args.len() } else { 1 }).sum();
        let args = args.get(..args.len().min(most)).unwrap_or_default();
        if depth > DEPTH || self.pieces.len() > PIECES || self.seen.len() > PIECES {
            return Some(args.len());
        }
        if !self.seen.insert((name, args.to_vec())) {
            return Some(args.len());
        }
        let kept = self.bind(&recipe, args);
        for (other, given) in &recipe.before {
            let given: Vec<String> = given.iter().map(|text| self.values.evaluate(text)).collect();
            self.recipe(other, &given, depth + 1);
        }
        self.body(&recipe);
        for (other, given) in &recipe.after {
            let given: Vec<String> = given.iter().map(|text| self.values.evaluate(text)).collect();
            self.recipe(other, &given, depth + 1);
        }
        self.values.truncate(kept);
        Some(args.len())
    }

    /// Gives the parameters their values; what is returned takes them back.
    fn bind(&mut self, recipe: &Recipe, args: &[String]) -> usize {
        let kept = self.values.len();
        let mut args = args;
        for parameter in &recipe.parameters {
            let value = match args {
                [] => parameter.default.as_ref().map(|text| self.values.evaluate(text)).unwrap_or_default(),
                all if parameter.many => {
                    args = &[];
                    all.join(" ")
                }
                [first, rest @ ..] => {
                    args = rest;
                    first.clone()
                }
            };
            self.values.set(&parameter.name, value);
        }
        kept
    }

    fn body(&mut self, recipe: &Recipe) {
        let piece = |text: String, line| EntryPiece {
            file: recipe.file.clone(),
            folder: recipe.folder.clone(),
            ..EntryPiece::new(text, line)
        };
        let lines: Vec<(usize, String)> =
            recipe.body.iter().map(|(line, text)| (*line, self.values.filled(text))).collect();
        let first = recipe.body.first().map_or(0, |(line, _)| *line);
        let ran = std::mem::take(&mut self.values.ran);
        self.pieces.extend(ran.into_iter().map(|text| piece(text, first)));
        let script = lines.first().and_then(|(_, text)| text.strip_prefix("#!")).map(str::to_string);
        if let Some(interpreter) = script.or_else(|| recipe.script.clone()) {
            let code: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
            self.pieces.push(piece(interpreted(&plain(&interpreter), &code.join("\n")), first));
            return;
        }
        let mut open: Option<EntryPiece> = None;
        for (line, text) in lines {
            let more = match open.take() {
                Some(before) => EntryPiece { text: before.text + "\n" + &text, ..before },
                None => piece(text.trim_start_matches(['@', '-', ' ']).to_string(), line),
            };
            if more.text.ends_with('\\') {
                open = Some(more);
            } else {
                self.line(more);
            }
        }
        open.into_iter().for_each(|piece| self.line(piece));
    }

    fn line(&mut self, piece: EntryPiece) {
        if !piece.text.trim().is_empty() {
            let text = match &self.file.shell {
                Some(shell) => interpreted(shell, &piece.text),
                None => piece.text.clone(),
            };
            self.pieces.push(EntryPiece { text, ..piece });
        }
    }
}

/// `/usr/bin/env -S python3 -u` is python3.
fn plain(interpreter: &str) -> String {
    let mut words = interpreter.split_whitespace();
    let first = words.next().unwrap_or_default();
    if first.rsplit('/').next() != Some("env") {
        return first.to_string();
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or("sh").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str, words: &[&str]) -> Vec<(usize, String)> {
        let words = words.iter().map(ToString::to_string).collect();
        let call = JustCall { words, folder: Some("/srv/app".into()), ..JustCall::default() };
        just(text, &call, &mut |_| None).into_iter().map(|piece| (piece.line, piece.text)).collect()
    }

    fn pairs(list: &[(usize, &str)]) -> Vec<(usize, String)> {
        list.iter().map(|(line, text)| (*line, text.to_string())).collect()
    }

    #[test]
    fn g12_a_recipe_runs_what_it_depends_on_and_the_first_is_the_default() {
        let text = "set dotenv-load\n# a comment\ndefault: fmt\n  echo done\n\nfmt:\n  @cargo fmt\n  -ls\n\nalias f := fmt\n\n\
                    [private]\nnuke: (gone '~') && fmt\n  echo nuke\n\ngone dir='x':\n  rm -rf {{dir}}\n";
        assert_eq!(runs(text, &[]), pairs(&[(7, "cargo fmt"), (8, "ls"), (4, "echo done")]));
        assert_eq!(runs(text, &["f"]), pairs(&[(7, "cargo fmt"), (8, "ls")]));
        assert_eq!(runs(text, &["nuke"]), pairs(&[(17, "rm -rf ~"), (14, "echo nuke"), (7, "cargo fmt"), (8, "ls")]));
        assert_eq!(runs(text, &["gone"]), pairs(&[(17, "rm -rf x")]));
        assert_eq!(runs(text, &["gone", "/", "f"]), pairs(&[(17, "rm -rf /"), (7, "cargo fmt"), (8, "ls")]));
        assert!(runs(text, &["none"]).is_empty());
    }

    #[test]
    fn g12_values_of_the_file_are_put_in() {
        let text = "out := 'build'\nall := out / \"x\" + '.o'\nroot := justfile_directory()\nlib := env_var_or_default('LIB', 'l')\n\
                    v := `git rev-parse HEAD`\nc := if os() == 'x' { 'a' } else { 'b' }\n\nclean *args:\n  \
                    rm -rf {{ all }} {{root}}/{{lib}} {{c}} {{args}} {{{{\n";
        let found = [(5, "git rev-parse HEAD"), (9, "rm -rf build/x.o /srv/app/${LIB:-l} ${just:?} a b {{")];
        assert_eq!(runs(text, &["clean", "a", "b"]), pairs(&found));
    }

    #[test]
    fn g12_recipes_of_other_languages_are_handed_to_them() {
        let text = "set shell := [\"bash\", \"-uc\"]\na:\n  #!/usr/bin/env python3\n  import shutil\n\nb:\n  #!/bin/bash\n  rm -rf ~\n";
        assert_eq!(runs(text, &["a"]), pairs(&[(3, "python3 -c '#!/usr/bin/env python3\nimport shutil'")]));
        assert_eq!(runs(text, &["b"]), pairs(&[(7, "#!/bin/bash\nrm -rf ~")]));
        assert_eq!(runs("a:\n  if x; then \\\n    y; \\\n  fi\n", &["a"]), pairs(&[(2, "if x; then \\\n  y; \\\nfi")]));
    }

    #[test]
    fn hostile_files_end() {
        let mut text = "a := 'x'\n".to_string();
        (0..60).for_each(|n| text.push_str(&format!("a{} := a{n} + a{n}\n", n + 1)));
        text.push_str("a0 := a1\nr: r (s 'x')\n  echo {{a60}}\ns x: (s x + 'y') r\n  echo {{x}}\n");
        assert!(runs(&text, &["r"]).iter().all(|(_, text)| text.len() < 1 << 20));
        for text in
            ["{{".repeat(4000), "a: (".repeat(3000), "a := ".repeat(3000), format!("a:\n  {}", "{{(".repeat(3000))]
        {
            runs(&text, &["a"]);
        }
    }
}

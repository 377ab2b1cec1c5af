//! From goals to the recipes that would run for them.

use std::collections::HashSet;

use super::super::{DEPTH, EntryPiece, PIECES, interpreted};
use super::expand::stem;
use super::{Make, Makefile, Rule};

/// How often the recipe of one rule is taken, for the targets it serves.
const TIMES: usize = 3;

struct Run<'a> {
    file: Makefile,
    asked: &'a Make,
    seen: HashSet<String>,
    /// How often each rule's recipe was taken.
    taken: Vec<usize>,
    pieces: Vec<EntryPiece>,
}

/// A rule that makes a target, and the stem it does so with.
struct Fit {
    rule: usize,
    stem: Option<String>,
}

/// The pieces that run for what was asked, and before them those that run while the file is read.
pub(super) fn run(mut file: Makefile, asked: &Make) -> Vec<EntryPiece> {
    let mut goals = asked.goals.clone();
    if goals.is_empty() {
        let named = file.variables.given(".DEFAULT_GOAL").map(str::to_string);
        goals.extend(named.map(|goal| file.variables.expand(&goal)).or_else(|| file.first.clone()));
    }
    let pieces = std::mem::take(&mut file.ran);
    let taken = vec![0; file.rules.len()];
    let mut run = Run { file, asked, seen: HashSet::new(), taken, pieces };
    for goal in &goals {
        run.target(goal.trim(), 0);
    }
    run.pieces
}

impl Run<'_> {
    fn target(&mut self, target: &str, depth: usize) {
        if depth > DEPTH * 2 || self.pieces.len() > PIECES || !self.seen.insert(target.to_string()) {
            return;
        }
        let fits = self.fits(target);
        let mut needed: Vec<String> = Vec::new();
        let mut own = Vec::new();
        for fit in &fits {
            let Some(rule) = self.file.rules.get(fit.rule) else { continue };
            needed.extend(rule.prerequisites.iter().map(|name| with_stem(name, fit.stem.as_deref())));
            own.extend(rule.own.iter().cloned());
        }
        for name in &needed {
            self.target(name, depth + 1);
        }
        for fit in fits {
            let times = self.taken.get_mut(fit.rule);
            let over = times.is_some_and(|times| {
                *times += 1;
                *times > TIMES
            });
            if over && depth > 0 {
                continue;
            }
            let mut locals = own.clone();
            locals.extend(automatic(target, &needed, fit.stem.as_deref().unwrap_or_default()));
            self.recipe(fit.rule, locals);
        }
    }

    /// The rules for a target: those that name it, or else the first pattern that fits.
    fn fits(&self, target: &str) -> Vec<Fit> {
        let stem_of = |rule: &Rule| {
            let pattern = rule.stem.as_deref()?;
            stem(target, pattern).map(str::to_string)
        };
        let named = self.file.by_target.get(target).map(Vec::as_slice).unwrap_or_default();
        let mut fits: Vec<Fit> =
            named.iter().filter_map(|at| Some(Fit { rule: *at, stem: stem_of(self.file.rules.get(*at)?) })).collect();
        let has_recipe = |fit: &Fit| self.file.rules.get(fit.rule).is_some_and(|rule| !rule.recipe.is_empty());
        if !fits.iter().any(has_recipe) && !self.file.patterns.is_empty() {
            let pattern = self.file.patterns.iter().take(256).find_map(|at| {
                let rule = self.file.rules.get(*at)?;
                let stem = rule.targets.iter().find_map(|pattern| stem(target, pattern))?;
                (!rule.recipe.is_empty()).then(|| Fit { rule: *at, stem: Some(stem.to_string()) })
            });
            fits.extend(pattern);
        }
        fits
    }

    fn recipe(&mut self, at: usize, locals: Vec<(String, String)>) {
        let Some(rule) = self.file.rules.get_mut(at) else { return };
        let file = rule.file.clone();
        // The lines are put back: a rule may serve several targets.
        let lines = std::mem::take(&mut rule.recipe);
        let mut together: Option<EntryPiece> = None;
        for line in &lines {
            let always = line.text.trim_start_matches(['@', '-', ' ', '\t']).starts_with('+');
            let text = self.file.variables.expand_with(&line.text, locals.clone());
            let piece = |text: String| EntryPiece { file: file.clone(), ..EntryPiece::new(text, line.line) };
            self.pieces.extend(std::mem::take(&mut self.file.variables.ran).into_iter().map(piece));
            let text = unmarked(&text);
            if text.is_empty() || (self.asked.dry && !always) {
                continue;
            }
            match together.as_mut().filter(|_| self.file.one_shell) {
                Some(before) => {
                    before.text.push('\n');
                    before.text.push_str(&text);
                }
                None => {
                    self.pieces.extend(together.take().map(|piece| self.in_shell(piece)));
                    together = Some(piece(text));
                }
            }
        }
        self.pieces.extend(together.map(|piece| self.in_shell(piece)));
        if let Some(rule) = self.file.rules.get_mut(at) {
            rule.recipe = lines;
        }
    }

    /// The piece as `SHELL` gets it, when that is not a shell.
    fn in_shell(&self, piece: EntryPiece) -> EntryPiece {
        let shell = self.file.variables.given("SHELL").unwrap_or("/bin/sh").trim();
        if shell.contains('$') || shell.is_empty() {
            return piece;
        }
        EntryPiece { text: interpreted(shell, &piece.text), ..piece }
    }
}

/// `$@`, `$<` and their kind.
fn automatic(target: &str, needed: &[String], stem: &str) -> Vec<(String, String)> {
    let first = needed.first().cloned().unwrap_or_default();
    let all = needed.iter().take(256).cloned().collect::<Vec<_>>().join(" ");
    let (folder, name) = target.rsplit_once('/').unwrap_or((".", target));
    [
        ("@", target.to_string()),
        ("@D", folder.to_string()),
        ("@F", name.to_string()),
        ("<", first.clone()),
        ("<F", first.rsplit('/').next().unwrap_or_default().to_string()),
        ("^", all.clone()),
        ("+", all.clone()),
        ("?", all),
        ("*", stem.to_string()),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .to_vec()
}

fn with_stem(name: &str, stem: Option<&str>) -> String {
    match stem {
        Some(stem) => name.replacen('%', stem, 1),
        None => name.to_string(),
    }
}

/// A recipe line without the marks that make takes off, also where a `define` gave several lines.
fn unmarked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut continued = false;
    for line in text.split('\n') {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(if continued { line } else { line.trim_start_matches(['@', '-', '+', ' ', '\t']) });
        continued = line.ends_with('\\');
    }
    out.truncate(out.trim_end().len());
    out
}

//! Brace words: `{a,b}` and `{1..3}` become several words before anything else is expanded.

use std::rc::Rc;

use super::Atom;
use crate::limits::{self, Allowance};
use crate::reading::WordPiece;

/// One unquoted character, or an atom that braces do not look into.
#[derive(Clone)]
enum Bit {
    Char(char),
    Whole(Rc<Atom>),
}

/// The words a brace word becomes. A word without braces comes back alone.
pub(super) fn spread(atoms: Vec<Atom>, allowance: &mut Allowance) -> Vec<Vec<Atom>> {
    let active = atoms.iter().any(|atom| matches!(atom, Atom::Plain(text) if text.contains('{')));
    if !active {
        return vec![atoms];
    }
    let mut done: Vec<Vec<Atom>> = Vec::new();
    let mut waiting: Vec<Vec<Bit>> = vec![bits(atoms)];
    while let Some(word) = waiting.pop() {
        if !allowance.spend(word.len()) {
            done.push(atoms_of(word));
            continue;
        }
        let taken = done.len() + waiting.len();
        match first(&word) {
            Some(brace)
                if taken + brace.choices.len() <= limits::SPREAD
                    && allowance.spend(brace.choices.len() * word.len()) =>
            {
                waiting.extend(brace.words(&word).into_iter().rev());
            }
            Some(_) => {
                allowance.refuse("a brace word makes too many words");
                done.push(vec![Atom::Kept(WordPiece::Unknown(atoms_of(word).iter().map(shown).collect()))]);
            }
            None => done.push(atoms_of(word)),
        }
    }
    done
}

fn bits(atoms: Vec<Atom>) -> Vec<Bit> {
    let mut out = Vec::new();
    for atom in atoms {
        match atom {
            Atom::Plain(text) => out.extend(text.chars().map(Bit::Char)),
            other => out.push(Bit::Whole(Rc::new(other))),
        }
    }
    out
}

fn atoms_of(word: Vec<Bit>) -> Vec<Atom> {
    let mut out: Vec<Atom> = Vec::new();
    for bit in word {
        match (out.last_mut(), bit) {
            (Some(Atom::Plain(text)), Bit::Char(c)) => text.push(c),
            (_, Bit::Char(c)) => out.push(Atom::Plain(c.to_string())),
            (_, Bit::Whole(atom)) => out.push((*atom).clone()),
        }
    }
    out
}

fn shown(atom: &Atom) -> &str {
    match atom {
        Atom::Plain(text) | Atom::Quoted(text) => text,
        Atom::Loose(piece) | Atom::Kept(piece) => match piece {
            WordPiece::Text(text) | WordPiece::Glob(text) | WordPiece::Unknown(text) => text,
        },
        Atom::Cut => " ",
    }
}

/// A brace that expands: where it stands and what may stand in its place.
struct Brace {
    start: usize,
    end: usize,
    choices: Vec<Vec<Bit>>,
}

impl Brace {
    fn words(&self, word: &[Bit]) -> Vec<Vec<Bit>> {
        let head = word.get(..self.start).unwrap_or_default();
        let tail = word.get(self.end + 1..).unwrap_or_default();
        self.choices.iter().map(|choice| [head, choice, tail].concat()).collect()
    }
}

/// The first outermost brace that expands; `None` when there is none.
fn first(word: &[Bit]) -> Option<Brace> {
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut best: Option<(usize, usize, Vec<usize>)> = None;
    for (at, bit) in word.iter().enumerate() {
        let Bit::Char(c) = bit else { continue };
        match c {
            '{' => open.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                let Some((start, commas)) = open.pop() else { continue };
                // Inner braces close before the one around them, which then takes their place.
                if !commas.is_empty() || sequence(word.get(start + 1..at)?).is_some() {
                    best = Some((start, at, commas));
                }
                if open.is_empty() && best.is_some() {
                    break;
                }
            }
            _ => {}
        }
    }
    let (start, end, commas) = best?;
    let choices =
        if commas.is_empty() { sequence(word.get(start + 1..end)?)? } else { listed(word, start, end, &commas) };
    Some(Brace { start, end, choices })
}

fn listed(word: &[Bit], start: usize, end: usize, commas: &[usize]) -> Vec<Vec<Bit>> {
    let mut choices = Vec::new();
    let mut from = start + 1;
    for &stop in commas.iter().chain([&end]) {
        choices.push(word.get(from..stop).unwrap_or_default().to_vec());
        from = stop + 1;
    }
    choices
}

/// `1..5`, `a..e`, `1..9..2`. A long one stays a single unknown word.
fn sequence(inside: &[Bit]) -> Option<Vec<Vec<Bit>>> {
    if inside.len() > 64 {
        return None;
    }
    let mut text = String::new();
    for bit in inside {
        let Bit::Char(c) = bit else { return None };
        text.push(*c);
    }
    let mut ends = text.split("..");
    let (from, to, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() {
        return None;
    }
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1) as usize;
    let letters = (single(from), single(to));
    let (low, high) = match letters {
        (Some(from), Some(to)) => (from as i64, to as i64),
        _ => (from.parse().ok()?, to.parse().ok()?),
    };
    if high.abs_diff(low) as usize / step >= limits::SPREAD {
        let unknown = Atom::Kept(WordPiece::Unknown(format!("{{{text}}}")));
        return Some(vec![vec![Bit::Whole(Rc::new(unknown))]]);
    }
    let numbers: Vec<i64> =
        if low <= high { (low..=high).step_by(step).collect() } else { (high..=low).rev().step_by(step).collect() };
    let shown = |number: i64| match letters {
        (Some(_), Some(_)) => u32::try_from(number).ok().and_then(char::from_u32).map(String::from).unwrap_or_default(),
        _ => number.to_string(),
    };
    Some(numbers.into_iter().map(|number| shown(number).chars().map(Bit::Char).collect()).collect())
}

/// The one letter of a text, when it is one.
fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let letter = chars.next().filter(char::is_ascii_alphabetic)?;
    chars.next().is_none().then_some(letter)
}

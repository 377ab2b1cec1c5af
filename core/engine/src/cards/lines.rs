//! Which lines stay, go and come between two texts: the shortest such list (Myers), as long as it is not too long.

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineChange<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

use LineChange::{Added, Kept, Removed};

/// Two texts that differ in more lines than this are shown one after the other: the time grows with the square.
const MOST_CHANGES: usize = 400;

pub fn changes<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<LineChange<'a>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let middle = |lines: &'_ [&'a str]| lines.get(..lines.len() - tail).unwrap_or_default().to_vec();
    let (old_middle, new_middle) = (middle(old_rest), middle(new_rest));
    let mut all: Vec<_> = old.iter().take(head).map(|line| Kept(line)).collect();
    all.extend(shortest(&old_middle, &new_middle).unwrap_or_else(|| one_after_the_other(&old_middle, &new_middle)));
    all.extend(old.iter().skip(old.len() - tail).map(|line| Kept(line)));
    all
}

fn one_after_the_other<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<LineChange<'a>> {
    old.iter().map(|line| Removed(line)).chain(new.iter().map(|line| Added(line))).collect()
}

/// How far each diagonal has come: lines of the old text, by the diagonal's number.
type Reached = BTreeMap<isize, usize>;

fn shortest<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<LineChange<'a>>> {
    let mut rounds: Vec<Reached> = Vec::new();
    let mut reached = Reached::from([(1, 0)]);
    for round in 0..=MOST_CHANGES.cast_signed() {
        rounds.push(reached.clone());
        for diagonal in (-round..=round).step_by(2) {
            let mut at = step(&reached, diagonal, round);
            while let Some(line) = old.get(at)
                && new_at(at, diagonal).and_then(|place| new.get(place)) == Some(line)
            {
                at += 1;
            }
            reached.insert(diagonal, at);
            if at >= old.len() && new_at(at, diagonal).is_some_and(|place| place >= new.len()) {
                return Some(walked_back(old, new, &rounds));
            }
        }
    }
    None
}

/// Where a diagonal begins in a round: a line added beside it, or one removed.
fn step(reached: &Reached, diagonal: isize, round: isize) -> usize {
    let (below, above) = (reached.get(&(diagonal - 1)), reached.get(&(diagonal + 1)));
    if is_added(below, above, diagonal, round) {
        above.copied().unwrap_or_default()
    } else {
        below.map_or(0, |at| at + 1)
    }
}

fn is_added(below: Option<&usize>, above: Option<&usize>, diagonal: isize, round: isize) -> bool {
    diagonal == -round || (diagonal != round && below < above)
}

fn new_at(old_at: usize, diagonal: isize) -> Option<usize> {
    old_at.checked_add_signed(-diagonal)
}

fn walked_back<'a>(old: &[&'a str], new: &[&'a str], rounds: &[Reached]) -> Vec<LineChange<'a>> {
    let mut all = Vec::new();
    let (mut at, mut place) = (old.len(), new.len());
    for (round, reached) in rounds.iter().enumerate().rev() {
        let (round, diagonal) = (round.cast_signed(), at.cast_signed() - place.cast_signed());
        let (below, above) = (reached.get(&(diagonal - 1)), reached.get(&(diagonal + 1)));
        let added = is_added(below, above, diagonal, round);
        let before = if added { diagonal + 1 } else { diagonal - 1 };
        let begin = reached.get(&before).copied().unwrap_or_default();
        let begin_place = new_at(begin, before).unwrap_or_default();
        while at > begin && place > begin_place {
            at -= 1;
            place -= 1;
            all.extend(old.get(at).map(|line| Kept(line)));
        }
        if round > 0 {
            all.extend(if added {
                new.get(begin_place).map(|line| Added(line))
            } else {
                old.get(begin).map(|line| Removed(line))
            });
        }
        (at, place) = (begin, begin_place);
    }
    all.reverse();
    all
}

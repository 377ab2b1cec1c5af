//! Shell patterns matched against certain text, for `${x#…}` and `${x%…}`.

/// The parts of a pattern. Only `*`, `?` and `[…]` count.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Part>);

#[derive(Debug)]
enum Part {
    Star,
    Any,
    Literal(char),
    Set {
        negated: bool,
        members: Vec<char>,
    },
    /// A set that does not close, or a backslash at the end: matches nothing.
    Nothing,
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Self {
        let chars: Vec<char> = pattern.chars().collect();
        let mut parts = Vec::new();
        let mut rest = chars.as_slice();
        // Once a set has been looked for in vain, the others are not looked for.
        let mut sets = true;
        while let [first, tail @ ..] = rest {
            let (part, width) = match (first, tail) {
                ('*', _) => (Part::Star, 1),
                ('?', _) => (Part::Any, 1),
                ('\\', [escaped, ..]) => (Part::Literal(*escaped), 2),
                ('\\', []) => (Part::Nothing, 1),
                ('[', _) => {
                    let close = sets.then(|| rest.iter().skip(2).position(|c| *c == ']')).flatten();
                    sets = close.is_some();
                    close.map_or((Part::Nothing, 1), |close| (set(rest.get(1..close + 2)), close + 3))
                }
                (literal, _) => (Part::Literal(*literal), 1),
            };
            parts.push(part);
            rest = rest.get(width..).unwrap_or_default();
        }
        Self(parts)
    }

    /// With how many parts and members of sets each character is compared.
    pub(super) fn len(&self) -> usize {
        let members = |part: &Part| match part {
            Part::Set { members, .. } => members.len() + 1,
            _ => 1,
        };
        self.0.iter().map(members).sum()
    }

    /// The same pattern for a text that is gone through from its end.
    pub(super) fn reversed(mut self) -> Self {
        self.0.reverse();
        self
    }

    /// How many characters the shortest or longest start of the text that matches has. The text is gone through once,
    /// with every place in the pattern that may have been reached.
    pub(super) fn start(&self, text: impl Iterator<Item = char>, longest: bool) -> Option<usize> {
        let mut reached = vec![false; self.0.len() + 1];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        self.skip_stars(&mut reached);
        let whole = |reached: &[bool]| reached.last() == Some(&true);
        let mut found = whole(&reached).then_some(0);
        for (at, c) in text.enumerate() {
            if (found.is_some() && !longest) || !self.step(&mut reached, c) {
                break;
            }
            self.skip_stars(&mut reached);
            if whole(&reached) {
                found = Some(at + 1);
            }
        }
        found
    }

    /// Goes on by one character; `false` when no place is left.
    fn step(&self, reached: &mut [bool], c: char) -> bool {
        let mut from = false;
        let mut any = false;
        for (at, place) in reached.iter_mut().enumerate() {
            let here = std::mem::replace(&mut from, *place);
            let stays = *place && matches!(self.0.get(at), Some(Part::Star));
            let comes =
                here && at.checked_sub(1).and_then(|before| self.0.get(before)).is_some_and(|part| part.takes(c));
            *place = stays || comes;
            any |= *place;
        }
        any
    }

    /// A star may stand for nothing.
    fn skip_stars(&self, reached: &mut [bool]) {
        let mut skipped = false;
        for (at, place) in reached.iter_mut().enumerate() {
            *place |= skipped;
            skipped = *place && matches!(self.0.get(at), Some(Part::Star));
        }
    }
}

impl Part {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Star | Self::Nothing => false,
            Self::Any => true,
            Self::Literal(literal) => *literal == c,
            Self::Set { negated, members } => in_set(members, c) != *negated,
        }
    }
}

fn set(inside: Option<&[char]>) -> Part {
    match inside.unwrap_or_default() {
        ['!' | '^', members @ ..] => Part::Set { negated: true, members: members.to_vec() },
        members => Part::Set { negated: false, members: members.to_vec() },
    }
}

fn in_set(set: &[char], c: char) -> bool {
    let mut rest = set;
    loop {
        rest = match rest {
            [low, '-', high, tail @ ..] => {
                if (*low..=*high).contains(&c) {
                    return true;
                }
                tail
            }
            [only, tail @ ..] => {
                if *only == c {
                    return true;
                }
                tail
            }
            [] => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn start(pattern: &str, text: &str) -> (Option<usize>, Option<usize>) {
        let pattern = Pattern::new(pattern);
        (pattern.start(text.chars(), false), pattern.start(text.chars(), true))
    }

    #[test]
    fn the_shortest_and_the_longest_start_are_found() {
        assert_eq!(start("*/", "a/b/c"), (Some(2), Some(4)));
        assert_eq!(start("a?c", "abcd"), (Some(3), Some(3)));
        assert_eq!(start("[!a-c]*", "dab"), (Some(1), Some(3)));
        assert_eq!(start("*", "ab"), (Some(0), Some(2)));
        assert_eq!(start("", "ab"), (Some(0), Some(0)));
        assert_eq!(start("\\*x", "*xy"), (Some(2), Some(2)));
        assert_eq!(start("[a", "[ab"), (None, None));
        assert_eq!(start("b", "ab"), (None, None));
        assert_eq!(start("*b*c", "aabb"), (None, None));
    }

    #[test]
    fn an_end_is_the_start_of_what_is_reversed() {
        let pattern = Pattern::new("/*").reversed();
        assert_eq!(pattern.start("a/b/c".chars().rev(), false), Some(2));
        assert_eq!(pattern.start("a/b/c".chars().rev(), true), Some(4));
    }
}

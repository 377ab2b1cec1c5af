//! Shell patterns matched against certain text, for `${x#…}`, `${x%…}`, `${x/…/…}` and `case`.

/// Whether the whole of `text` matches `pattern`. Only `*`, `?` and `[…]` count.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where to go on when a later character fails: the star and how far it had reached.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                retry = Some((p, t));
                continue;
            }
            None if t == text.len() => return true,
            Some(_) if t < text.len() => {
                if let Some(width) = text.get(t).and_then(|&c| one(pattern.get(p..).unwrap_or_default(), c)) {
                    p += width;
                    t += 1;
                    continue;
                }
            }
            _ => {}
        }
        match retry {
            Some((star, reached)) if reached < text.len() => {
                retry = Some((star, reached + 1));
                p = star;
                t = reached + 1;
            }
            _ => return false,
        }
    }
}

/// How many pattern characters match `c` at the start of `pattern`.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => {
            let close = pattern.iter().skip(2).position(|&p| p == ']')? + 2;
            let set = pattern.get(1..close)?;
            let (negated, set) = match set.first() {
                Some('!' | '^') => (true, set.get(1..)?),
                _ => (false, set),
            };
            (in_set(set, c) != negated).then_some(close + 1)
        }
        '\\' => (pattern.get(1) == Some(&c)).then_some(2),
        &literal => (literal == c).then_some(1),
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

//! Dependencies that wait for each other: found before they are written.

use std::collections::{BTreeMap, HashMap};

/// So many of a circle are named; of a longer one the beginning and the end.
const MOST_NAMED: usize = 12;

/// A circle among the dependencies, as the slugs along it, or `None`.
pub fn cycle(deps: &BTreeMap<String, Vec<String>>) -> Option<Vec<String>> {
    let mut waiting: BTreeMap<&str, usize> = deps.keys().map(|slug| (slug.as_str(), 0)).collect();
    let mut dependents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (slug, blockers) in deps {
        for blocker in blockers.iter().filter(|blocker| deps.contains_key(*blocker)) {
            dependents.entry(blocker).or_default().push(slug);
            *waiting.entry(slug).or_default() += 1;
        }
    }
    let mut free: Vec<&str> = waiting.iter().filter(|(_, count)| **count == 0).map(|(slug, _)| *slug).collect();
    while let Some(slug) = free.pop() {
        waiting.remove(slug);
        for dependent in dependents.get(slug).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(dependent) {
                *count -= 1;
                if *count == 0 {
                    free.push(dependent);
                }
            }
        }
    }
    // Whatever is left waits for something that is left too: following it must come round.
    let mut path = vec![*waiting.keys().next()?];
    let mut places: HashMap<&str, usize> = path.iter().map(|slug| (*slug, 0)).collect();
    while let Some(next) = path
        .last()
        .and_then(|slug| deps.get(*slug))
        .and_then(|blockers| blockers.iter().map(String::as_str).find(|blocker| waiting.contains_key(blocker)))
    {
        if let Some(start) = places.insert(next, path.len()) {
            return Some(path.split_off(start).into_iter().map(str::to_string).collect());
        }
        path.push(next);
    }
    None
}

/// Once round, in few words however long it is.
pub fn round(circle: &[String]) -> String {
    let left_out = circle.len().saturating_sub(MOST_NAMED);
    let (start, rest) = circle.split_at(circle.len().min(if left_out > 0 { MOST_NAMED / 2 } else { MOST_NAMED }));
    let more = (left_out > 0).then(|| format!("… {left_out} more …"));
    let end = rest.iter().skip(left_out).cloned();
    let words: Vec<String> = start.iter().cloned().chain(more).chain(end).chain(circle.first().cloned()).collect();
    words.join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deps(pairs: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        pairs.iter().map(|(slug, on)| ((*slug).to_string(), on.iter().map(|s| (*s).to_string()).collect())).collect()
    }

    #[test]
    fn q7_a_circle_is_named_and_a_diamond_is_none() {
        assert_eq!(cycle(&deps(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"]), ("d", &[])])), None);
        let found = cycle(&deps(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"]), ("d", &["a"])])).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found.contains(&"b".to_string()) && found.contains(&"c".to_string()));
        assert_eq!(cycle(&deps(&[("a", &["a"])])), Some(vec!["a".to_string()]));
    }

    #[test]
    fn q7_a_long_circle_is_named_by_its_beginning_and_its_end() {
        let circle: Vec<String> = (0..20_000).map(|n| format!("t{n}")).collect();
        let few =
            "t0 → t1 → t2 → t3 → t4 → t5 → … 19988 more … → t19994 → t19995 → t19996 → t19997 → t19998 → t19999 → t0";
        assert_eq!(round(&circle), few);
        assert_eq!(round(&circle[..2]), "t0 → t1 → t0");
        assert_eq!(round(&circle[..1]), "t0 → t0");
        assert_eq!(round(&circle[..12]).matches('t').count(), 13);
    }

    #[test]
    fn a_blocker_that_is_not_known_closes_no_circle() {
        assert_eq!(cycle(&deps(&[("a", &["elsewhere"])])), None);
    }
}

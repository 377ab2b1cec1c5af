//! The first task that can be claimed and fits, asked for in small pages: a server that has thousands of them is not to
//! send them all with every look.

use model::Ms;

/// The first page. A server sends so few in one flight.
const FIRST: usize = 16;
/// Each page is so many times as long as the one before, so that all together are not much more than the longest.
const LONGER: usize = 4;
/// A queue that looks the same is not searched again before.
const SEARCH_AGAIN_MS: i64 = 10_000;

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FoundClaimable<T> {
    pub first: Option<T>,
    /// Those before it in the order of the queue.
    pub passed: Vec<T>,
}

/// Among the first `most` of the queue that `from` gives, of which `ask` has as many as it is told.
pub(crate) fn first<C, T, E>(
    from: &mut C,
    most: usize,
    ask: impl Fn(&mut C, usize) -> Result<Vec<T>, E>,
    fits: impl Fn(&mut C, &T) -> Result<bool, E>,
) -> Result<FoundClaimable<T>, E> {
    let mut limit = FIRST.min(most);
    loop {
        let tasks = ask(from, limit)?;
        let is_all = tasks.len() < limit || limit >= most;
        let mut found = FoundClaimable { first: None, passed: Vec::new() };
        for task in tasks {
            if fits(from, &task)? {
                found.first = Some(task);
                return Ok(found);
            }
            found.passed.push(task);
        }
        if is_all {
            return Ok(found);
        }
        limit = (limit * LONGER).min(most);
    }
}

/// That nothing in a queue fits, and of which state of it that was found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NothingFits(Option<(u64, Ms)>);

impl NothingFits {
    pub(crate) fn found(&mut self, mark: u64, now: Ms) {
        self.0 = Some((mark, now));
    }

    /// Tasks may have changed places without a trace in the mark, so that it is searched again after a while.
    pub(crate) fn holds(self, mark: u64, now: Ms) -> bool {
        self.0.is_some_and(|(of, at)| of == mark && at <= now && now.since(at) < SEARCH_AGAIN_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// A queue of so many, and what it was asked for.
    struct Asked(usize, Vec<usize>);

    fn search(queued: usize, most: usize, wanted: usize) -> (Option<usize>, usize, Vec<usize>) {
        let mut queue = Asked(queued, Vec::new());
        let ask = |queue: &mut Asked, limit: usize| {
            queue.1.push(limit);
            Ok::<_, Infallible>((0..queue.0.min(limit)).collect())
        };
        let found = first(&mut queue, most, ask, |_, nth| Ok(*nth == wanted)).unwrap();
        (found.first, found.passed.len(), queue.1)
    }

    #[test]
    fn l11_a_queue_of_thousands_is_asked_for_no_more_than_it_takes_to_find_one() {
        assert_eq!(search(5_000, 5_001, 0), (Some(0), 0, vec![16]));
        assert_eq!(search(5_000, 5_001, 40), (Some(40), 40, vec![16, 64]));
        assert_eq!(search(40, 5_001, 50), (None, 40, vec![16, 64]), "it has no more");
        assert_eq!(search(5_000, 100, 99), (Some(99), 99, vec![16, 64, 100]));
        assert_eq!(search(5_000, 100, 100), (None, 100, vec![16, 64, 100]), "those behind are nobody's question");
        assert_eq!(search(3, 2, 1), (Some(1), 1, vec![2]));
    }

    #[test]
    fn l11_a_queue_in_which_nothing_fits_is_searched_again_when_it_changed_or_after_a_while() {
        let mut nothing = NothingFits::default();
        assert!(!nothing.holds(0, Ms(0)));
        nothing.found(7, Ms(1_000));
        assert!(nothing.holds(7, Ms(1_000)) && nothing.holds(7, Ms(10_999)));
        assert!(!nothing.holds(8, Ms(1_500)) && !nothing.holds(7, Ms(11_000)));
        assert!(!nothing.holds(7, Ms(999)), "the clock was set back");
    }
}

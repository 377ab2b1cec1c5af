//! Tasks of any number, asked for in pages: what one flight brings back is read up to a bound, and a task may be long.

use super::Identity;
use super::answer::{self, shift};
use super::flights::{Flights, Trouble, json};
use crate::Rows;
use serde_json::Value;

/// So few are asked for without asking first how long they are.
pub(super) const FEW: usize = 20;
/// As the server counts them. Written as JSON, a control character is six.
const MOST_BYTES: u64 = 4 << 20;
const MOST_TASKS: usize = 1_000;

/// An id, and about how many bytes the task has.
type Found = (i64, u64);

/// The tasks that the statement `found` finds, in its order, and the shift of their clock.
pub(super) fn paged(
    flights: &mut Flights<'_>,
    identity: &Identity,
    found: &str,
    parameters: Vec<Option<String>>,
) -> Result<(Rows, i64), Trouble> {
    let found: Vec<Found> = answer::rows(flights.one(found, parameters)?)?;
    let (mut all, mut first) = (Rows::new(), None);
    for page in pages(&found) {
        let ids: Vec<i64> = page.iter().map(|(id, _)| *id).collect();
        let rows = flights.one("tasks_of", vec![identity.project(), json(Value::from(ids))])?;
        // That of the first is the earliest.
        first.get_or_insert_with(|| shift(flights.sent, &rows));
        all.extend(rows);
    }
    Ok((all, first.unwrap_or_default()))
}

fn pages(found: &[Found]) -> Vec<&[Found]> {
    let (mut pages, mut rest) = (Vec::new(), found);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |(_, more): &&Found| {
            bytes += more;
            bytes <= MOST_BYTES
        };
        let fit = rest.iter().take(MOST_TASKS).take_while(fits).count();
        let (page, left) = rest.split_at(fit.max(1));
        pages.push(page);
        rest = left;
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_as_many_tasks_as_fit_and_one_at_least() {
        let found: Vec<Found> = [3 << 20, 1 << 20, 1, 9 << 20, 2].into_iter().zip(1..).map(|(n, id)| (id, n)).collect();
        let shown = |found: &[Found]| -> Vec<Vec<i64>> {
            pages(found).iter().map(|page| page.iter().map(|(id, _)| *id).collect()).collect()
        };
        assert_eq!(shown(&found), [vec![1, 2], vec![3], vec![4], vec![5]]);
        assert_eq!(shown(&[]), Vec::<Vec<i64>>::new());
        let many: Vec<Found> = (0..2_500).map(|id| (id, 10)).collect();
        assert_eq!(pages(&many).iter().map(|page| page.len()).collect::<Vec<_>>(), [1_000, 1_000, 500]);
    }
}

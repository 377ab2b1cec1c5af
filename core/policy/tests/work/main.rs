//! The work of judging, counted in bytes allocated: it grows with the line and not faster.

use model::fact::Facts;
use policy::{Around, Circumstances, ParsedCall, Policy, judge, reason};
use testkit::allocations::{Counting, bytes};
use testkit::hostile::FAMILIES;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SMALL: usize = 2 << 10;
const LARGE: usize = 24 << 10;
const LARGEST: usize = 48 << 10;

/// Families whose short line costs next to nothing, so that a long one is above its share by a constant. From there on
/// they must not grow faster than the line either. The list may only shrink.
const CHEAP_WHEN_SHORT: &[&str] = &[
    // A short one is a single document to the parser; a long one is read flat, command by command.
    "here-documents that never end",
];

/// All that is done with a line before it is answered.
fn work(line: &str, policy: &Policy) -> u64 {
    let around = Around { home: Some("/home/dev".into()), ..Around::default() };
    bytes(|| {
        let parsed_call = ParsedCall::line(line, Some("/home/dev/project".into()), &around);
        parsed_call.probes();
        reason(&judge(&parsed_call, policy, &Facts::default(), &Circumstances::default()));
    })
}

#[test]
fn t1_judging_a_hostile_line_takes_no_more_than_twice_its_share_of_a_short_one() {
    let policy = Policy::built_in();
    // What is worked out once for the process is not the first line's.
    work("rm -rf x; git push; sudo ls", &policy);
    let mut above = Vec::new();
    for family in FAMILIES {
        let cost = |size: usize| {
            let line = (family.line)(size);
            let bytes = work(&line, &policy);
            assert!(bytes > 0, "nothing is counted");
            bytes as f64 / line.len() as f64
        };
        let (from, to, most) =
            if CHEAP_WHEN_SHORT.contains(&family.name) { (LARGE, LARGEST, 1.2) } else { (SMALL, LARGE, 2.0) };
        let share = cost(to) / cost(from);
        if share > most {
            above.push(format!("{}: {share:.2} times its share", family.name));
        }
    }
    assert!(above.is_empty(), "{} families:\n{}", above.len(), above.join("\n"));
}

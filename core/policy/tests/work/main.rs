//! The work of judging, counted in bytes allocated: it grows with the line and not faster.

use model::fact::Facts;
use policy::{Around, Circumstances, Matter, Policy, judge, reason};
use testkit::allocations::{Counting, bytes};
use testkit::hostile::FAMILIES;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SMALL: usize = 2 << 10;
const LARGE: usize = 24 << 10;

/// All that is done with a line before it is answered.
fn work(line: &str, policy: &Policy) -> u64 {
    let around = Around { home: Some("/home/dev".into()), ..Around::default() };
    bytes(|| {
        let matter = Matter::line(line, Some("/home/dev/project".into()), &around);
        matter.probes();
        reason(&judge(&matter, policy, &Facts::default(), &Circumstances::default()));
    })
}

#[test]
fn t7_judging_a_hostile_line_takes_no_more_than_twice_its_share_of_a_short_one() {
    let policy = Policy::built_in();
    // What is worked out once for the process is not the first line's.
    work("rm -rf x; git push; sudo ls", &policy);
    let mut above = Vec::new();
    for family in FAMILIES {
        let (small, large) = ((family.line)(SMALL), (family.line)(LARGE));
        let (few, many) = (work(&small, &policy), work(&large, &policy));
        assert!(few > 0, "nothing is counted");
        let share = many as f64 / few as f64 * small.len() as f64 / large.len() as f64;
        if share > 2.0 {
            above.push(format!("{}: {share:.2} times its share ({few} bytes, {many} bytes)", family.name));
        }
    }
    assert!(above.is_empty(), "{} families:\n{}", above.len(), above.join("\n"));
}

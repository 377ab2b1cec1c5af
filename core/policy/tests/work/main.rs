//! The work of judging, counted in bytes allocated: it grows with the line and not faster.

use model::fact::Facts;
use policy::{Around, Circumstances, Matter, Policy, judge, reason};
use testkit::allocations::{Counting, bytes};
use testkit::hostile::FAMILIES;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SMALL: usize = 2 << 10;
const LARGE: usize = 24 << 10;
/// A long tangled text is read flat, which sees every command of it and costs more by a constant; from there on it must
/// not grow faster than the line either.
const LARGEST: usize = 48 << 10;

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
fn t1_judging_a_hostile_line_takes_no_more_than_twice_its_share_of_a_short_one() {
    let policy = Policy::built_in();
    // What is worked out once for the process is not the first line's.
    work("rm -rf x; git push; sudo ls", &policy);
    let mut above = Vec::new();
    for family in FAMILIES {
        let large = (family.line)(LARGE);
        let many = work(&large, &policy);
        let share = |size: usize| {
            let small = (family.line)(size);
            let few = work(&small, &policy);
            assert!(few > 0, "nothing is counted");
            many as f64 / few as f64 * small.len() as f64 / large.len() as f64
        };
        let small = share(SMALL);
        if small > 2.0 {
            let largest = (family.line)(LARGEST);
            let most = work(&largest, &policy);
            let further = most as f64 / many as f64 * large.len() as f64 / largest.len() as f64;
            if further > 1.5 {
                let name = family.name;
                above.push(format!("{name}: {small:.2} times its share ({many} bytes), then {further:.2} ({most})"));
            }
        }
    }
    assert!(above.is_empty(), "{} families:\n{}", above.len(), above.join("\n"));
}

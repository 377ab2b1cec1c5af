//! Lines made to be slow: what the floor stops is found in them, wherever it stands.

use crate::common::{judged, said};
use model::RuleKind;
use testkit::hostile::{FAMILIES, HostileFamily};

/// The longest line the floor must be found in.
const LONGEST: usize = 64 << 10;

fn floor_is_found(line: &str) -> bool {
    judged(line).0.iter().any(|finding| finding.kind == RuleKind::Floor && finding.rule == "rm-root")
}

/// The lines of these families, with a removal of everything in three places, in which it was not found.
fn missed<'f>(families: impl Iterator<Item = &'f HostileFamily>, size: usize) -> Vec<String> {
    let mut missed = Vec::new();
    for family in families {
        for (at, line) in family.with("rm -rf /", size - 64).iter().enumerate() {
            if !floor_is_found(line) {
                missed.push(format!("{} (place {at}): {}", family.name, said(&judged(line))));
            }
        }
    }
    missed
}

#[test]
fn g1_the_floor_is_found_at_the_beginning_the_middle_and_the_end_of_every_hostile_line() {
    let missed = missed(FAMILIES.iter(), 6 << 10);
    assert!(missed.is_empty(), "{} lines:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn g1_the_floor_is_found_in_64_kilobytes_of_hostile_lines() {
    // Each of a different kind of cost; all families at this length take minutes where nothing is optimised.
    let chosen = FAMILIES.iter().step_by(9);
    let missed = missed(chosen, LONGEST);
    assert!(missed.is_empty(), "{} lines:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn g1_the_floor_is_found_however_deep_it_stands() {
    let brackets = [
        ("$(", ")"),
        ("\"$(", ")\""),
        ("<(", ")"),
        ("( ", " )"),
        ("{ ", "; }"),
        ("if a; then ", "; fi"),
        ("while a; do ", "; done"),
        ("for a in b; do ", "; done"),
        ("${x:-$(", ")}"),
    ];
    for (open, close) in brackets {
        for levels in [5, 20, 200, 5_000] {
            for close in [close, ""] {
                let line = format!("echo {}rm -rf /{}", open.repeat(levels), close.repeat(levels));
                let line = if open.ends_with(' ') { line.replacen("echo ", "", 1) } else { line };
                assert!(floor_is_found(&line), "{levels} × {open:?} … {close:?}: {}", said(&judged(&line)));
            }
        }
    }
}

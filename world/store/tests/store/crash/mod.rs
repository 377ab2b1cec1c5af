//! Power cuts: every write is remembered, the files are laid out as a cut at any of them would leave them, and what
//! was promised by then must be there. `CRASH_CUTS=4000` tries that many cuts instead of a few hundred,
//! `CRASH_SEED=7` others.

mod cuts;
mod failing;
mod fingerprint;
mod migrations;
mod story;

use cuts::Cuts;
use std::sync::OnceLock;
use story::{Story, Told};
use testkit::disk::{Cut, Op};

fn told() -> &'static Told {
    static TOLD: OnceLock<Told> = OnceLock::new();
    TOLD.get_or_init(Story::whole)
}

/// Q2, Q6: what was acknowledged as claimed, done or released is never forgotten, and events written without a flush
/// may be lost but never damage anything: what is left is always the state after some commit.
#[test]
fn q2_q6_a_power_cut_at_any_write_keeps_every_claim_and_release_and_corrupts_nothing() {
    let told = told();
    let cuts = Cuts::from_environment(80);
    let broken: Vec<String> =
        cuts.power(told).into_iter().filter_map(|(at, cut)| told.broken_by(&told.ops, at, cut).err()).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn a_process_killed_at_any_write_has_lost_nothing_it_acknowledged() {
    let told = told();
    let cuts = Cuts::from_environment(30);
    let broken: Vec<String> =
        cuts.places(told).into_iter().filter_map(|at| told.broken_by(&told.ops, at, Cut::Process).err()).collect();
    assert_eq!(broken, Vec::<String>::new());
}

/// The proof can fail: on a disk that forgets to flush, promises are broken and found to be.
#[test]
fn a_disk_that_does_not_flush_is_caught_breaking_promises() {
    let told = told();
    let lying: Vec<Op> = told.ops.iter().filter(|op| !matches!(op, Op::Sync { .. })).cloned().collect();
    let caught = (0..40).any(|seed| told.broken_by(&lying, lying.len(), Cut::Power { seed }).is_err());
    assert!(caught, "a story of {} writes without a flush was kept whole", lying.len());
}

//! A night of the loop with a scripted agent: everything that can go wrong does, once.

use testkit::stage::{Night, Stage};

const TROUBLES: [&str; 4] = ["crashed", "limited", "the context is full", "a was told"];

fn night(workers: usize) -> Night {
    Night::new(Stage::without_daemon(), workers).with_scripted_agent()
}

fn assert_noted(night: &Night, wanted: &[&str]) {
    let notes = night.notes();
    for wanted in wanted {
        assert!(notes.iter().any(|note| note.starts_with(wanted)), "no `{wanted}` in {notes:#?}");
    }
}

#[test]
fn l12_one_agent_gets_through_a_night_in_which_everything_goes_wrong_once() {
    let night = night(1);
    let said = night.undisturbed();
    night.assert_all_is_well(&said);
    assert_noted(&night, &TROUBLES);
    // What the tests said reached the next attempt in its prompt.
    assert!(night.noted("prompt-a").contains("expected alpha, got alhpa"), "{}", night.noted("prompt-a"));
}

#[test]
fn l9_l12_one_agent_whose_loop_is_killed_ten_times_gets_through_the_same_night() {
    let night = night(1);
    let said = night.killed(10, Night::seed());
    night.assert_all_is_well(&said);
}

#[test]
fn l11_l12_two_agents_get_through_the_same_night_and_solve_their_conflict() {
    let night = night(2);
    let said = night.undisturbed();
    night.assert_all_is_well(&said);
    assert_noted(&night, &TROUBLES);
    assert_noted(&night, &["conflict merge-"]);
}

#[test]
fn l9_l11_two_agents_whose_loop_is_killed_ten_times_get_through_the_same_night() {
    let night = night(2);
    let said = night.killed(10, Night::seed());
    night.assert_all_is_well(&said);
}

//! What is proven where several machines share a queue and a remote: the tree that is pushed, on the machine that has it.

use super::FINE;
use super::over_machines::Team;
use super::parallel::CLAIM;
use std::collections::BTreeSet;
use testkit::stage::{put_program, summary};

/// A proof that says where it ran, of which tree, and refutes one in which two changes come together unagreed.
const PROOF: &str = "#!/bin/sh
said=passed
if [ -e t1.txt ] && [ -e t2.txt ] && ! [ -e agreed.txt ]; then said=refuted; fi
echo $HOME $PWD $(git rev-parse HEAD^{tree}) $said >> \"${0%/*}/proofs\"
[ $said = passed ]
";

#[test]
fn x1_l11_what_is_good_alone_and_clashes_with_what_others_pushed_is_refuted_where_its_tree_is_and_never_pushed() {
    let Some(team) = Team::of(2) else { return };
    let beside = team.first().sandbox.root().join("beside");
    let proof = beside.join("prove");
    put_program(&proof, PROOF);
    let note = format!(
        "#!/bin/sh\nwhile read old new name; do git rev-parse $new^{{tree}} >> {}/pushed; done\n",
        beside.display()
    );
    put_program(&team.remote().join("hooks/post-receive"), &note);
    for slug in ["t1", "t2"] {
        team.first().task(&["create", slug, "do it"]);
    }
    for (nth, machine) in team.machines.iter().enumerate() {
        // None is through before both are at work.
        let meet = format!("cd {} && touch {nth}; until [ -e 0 ] && [ -e 1 ]; do sleep 0.1; done", beside.display());
        machine.client_does(&format!(
            "{CLAIM}; ({meet}); [ ! -e {beside}/$id ] || echo yes > agreed.txt; touch {beside}/$id; echo $id > $id.txt; \
             git add -A; git commit -qm \"$id\"; taut task done $id; {FINE}",
            beside = beside.display()
        ));
    }
    let done = team.loops(&["--push", "--verify", proof.to_str().unwrap()]);
    for done in &done {
        assert_eq!(summary(done)["finish"], "complete", "{}", done.stderr_text());
    }
    let written = |name: &str| std::fs::read_to_string(beside.join(name)).unwrap();
    let (proofs, pushed) = (written("proofs"), written("pushed"));
    let proofs: Vec<[&str; 4]> =
        proofs.lines().map(|line| line.split(' ').collect::<Vec<_>>().try_into().unwrap()).collect();
    let trees = |wanted: &str| -> BTreeSet<&str> {
        proofs.iter().filter(|[.., said]| *said == wanted).map(|[.., tree, _]| *tree).collect()
    };
    let (passed, refuted, pushed) = (trees("passed"), trees("refuted"), pushed.lines().collect::<BTreeSet<_>>());
    assert!(!refuted.is_empty(), "the two came together unagreed: {proofs:?}");
    assert!(pushed.len() >= 2 && pushed.is_subset(&passed), "{pushed:?} of {proofs:?}");
    for machine in &team.machines {
        let (home, trees) = (machine.sandbox.home(), machine.sandbox.taut_home().join("worktrees"));
        let (home, trees) = (home.to_str().unwrap(), trees.to_str().unwrap());
        let mut own = proofs.iter().filter(|[by, ..]| *by == home).peekable();
        assert!(own.peek().is_some() && own.all(|[_, at, ..]| at.starts_with(trees)), "{proofs:?}");
    }
    let at_last = team.on_remote(&["ls-tree", "--name-only", "main"]);
    assert!(["t1.txt", "t2.txt", "agreed.txt"].iter().all(|file| at_last.contains(file)), "{at_last}");
}

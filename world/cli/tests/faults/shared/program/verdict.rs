//! What must be so on the machines when the dust has settled, besides the laws of the queue: the record and every message
//! exactly once, nobody held up, and nothing grown without bound.

use super::super::Outcome;
use super::super::ledger::said;
use super::account::{MachineAccount, Recorded};
use std::collections::{BTreeMap, BTreeSet};

/// A daemon of a build without optimisation stays below it.
const MOST_KB: u64 = 80 * 1024;
/// Database, log and spool of a machine stay below it.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// What workers wrote down, by its word.
pub type Noted = BTreeMap<String, Vec<(String, i64)>>;

/// What nobody may have written down.
const NEVER: [(&str, &str); 3] = [
    ("held-up", "programs that held somebody up"),
    ("failed-hook", "hooks that failed"),
    ("let-through", "commands that were not denied"),
];

/// Gives what is wrong; nothing, where all is as it must be.
pub fn wrongs(machines: &[MachineAccount], noted: &Noted) -> Vec<String> {
    let mut wrong: Vec<String> = machines.iter().flat_map(of_machine).collect();
    wrong.extend(of_messages(machines, noted));
    wrong
}

/// What is wrong for good, whatever comes after it.
pub fn never(noted: &Noted) -> Vec<String> {
    let mut wrong = Vec::new();
    for (word, what) in NEVER {
        let those: Vec<String> = all(noted, word).map(|(what, number)| format!("{what} {number}")).collect();
        law(&mut wrong, what, those);
    }
    wrong
}

fn of_machine(machine: &MachineAccount) -> Vec<String> {
    let mut wrong = Vec::new();
    law(&mut wrong, "commands that failed in the end", machine.failed.clone());
    law(&mut wrong, "refused words that are not shown", machine.unshown.clone());
    let taken = (machine.ids.0 != machine.ids.1).then(|| format!("{:?}", machine.ids));
    law(&mut wrong, "machines that took themselves for another", taken.into_iter().collect());
    of_record(&machine.own, &machine.there, &mut wrong);
    let unsent = (machine.unsent != (0, 0)).then(|| format!("{:?}", machine.unsent));
    law(&mut wrong, "counts of events that wait or were forgotten", unsent.into_iter().collect());
    let owed = (machine.owed != 0).then(|| machine.owed.to_string());
    law(&mut wrong, "counts of words owed and tasks held", owed.into_iter().collect());
    let heavy = (machine.most_kb == 0 || machine.most_kb > MOST_KB).then(|| format!("{} KiB", machine.most_kb));
    law(&mut wrong, "daemons whose memory has no bound", heavy.into_iter().collect());
    let large = (machine.disk_bytes > MOST_BYTES).then(|| format!("{} bytes", machine.disk_bytes));
    law(&mut wrong, "homes whose size has no bound", large.into_iter().collect());
    wrong.into_iter().map(|what| format!("{}: {what}", machine.label)).collect()
}

fn of_record(own: &[Recorded], there: &[Recorded], wrong: &mut Vec<String>) {
    law(wrong, "records with nothing in them", if own.is_empty() { vec!["its own".into()] } else { Vec::new() });
    let denied = own.iter().any(|(_, verdict)| verdict == "deny");
    law(wrong, "records without a denial", if denied { Vec::new() } else { vec!["its own".into()] });
    let (ours, theirs): (BTreeSet<&Recorded>, BTreeSet<&Recorded>) = (own.iter().collect(), there.iter().collect());
    let shown = |one: &&Recorded| format!("{} {}", one.0, one.1);
    law(wrong, "events that the server never got", ours.difference(&theirs).map(shown).collect());
    law(wrong, "events that never happened here", theirs.difference(&ours).map(shown).collect());
    law(wrong, "events that the server has twice", twice(there.iter().map(|(id, _)| id.as_str())));
}

/// Each body is of one message. Who was told that it is sent is believed; who was killed while it was, may have sent it.
fn of_messages(machines: &[MachineAccount], noted: &Noted) -> Vec<String> {
    let mut wrong = Vec::new();
    let arrived: Vec<&str> = machines.iter().flat_map(|machine| &machine.arrived).map(String::as_str).collect();
    let known: BTreeSet<&str> = arrived.iter().copied().collect();
    let sent = all(noted, "sent").map(|(body, _)| body.as_str());
    law(
        &mut wrong,
        "messages that never arrived",
        sent.filter(|body| !known.contains(body)).map(str::to_string).collect(),
    );
    law(&mut wrong, "messages that arrived twice", twice(arrived.into_iter()));
    law(&mut wrong, "messages that were told twice", twice(all(noted, "told").map(|(body, _)| body.as_str())));
    let strange = all(noted, "told").filter(|(body, _)| !known.contains(body.as_str()));
    law(&mut wrong, "messages that were told and never arrived", strange.map(|(body, _)| body.clone()).collect());
    wrong
}

fn all<'n>(noted: &'n Noted, word: &str) -> impl Iterator<Item = &'n (String, i64)> {
    noted.get(word).into_iter().flatten()
}

fn twice<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.filter(|text| !seen.insert(*text)).map(str::to_string).collect()
}

fn law(wrong: &mut Vec<String>, what: &str, broken: Vec<String>) {
    if !broken.is_empty() {
        wrong.push(said(what, &broken));
    }
}

/// One thing that is wrong, and what must be said of it.
type Fault = (&'static str, fn(&mut Vec<MachineAccount>, &mut Noted));

const FAULTS: [Fault; 16] = [
    ("never got", |machines, _| drop(machines[0].there.pop())),
    ("never happened", |machines, _| drop(machines[1].own.pop())),
    ("server has twice", |machines, _| machines[0].there.extend_from_within(..1)),
    ("never got", |machines, _| machines[0].there[0].1 = "pass".into()),
    ("without a denial", |machines, _| machines[0].own.retain(|(_, verdict)| verdict != "deny")),
    ("took themselves for another", |machines, _| machines[0].ids.1 = "m9".into()),
    ("wait or were forgotten", |machines, _| machines[1].unsent = (0, 1)),
    ("owed", |machines, _| machines[1].owed = 1),
    ("failed in the end", |machines, _| machines[0].failed.push("db check".into())),
    ("not shown", |machines, _| machines[0].unshown.push("t/0001".into())),
    ("memory", |machines, _| machines[0].most_kb = MOST_KB + 1),
    ("size", |machines, _| machines[0].disk_bytes = MOST_BYTES + 1),
    ("never arrived", |machines, _| machines[1].arrived.clear()),
    ("arrived twice", |machines, _| machines[0].arrived.push("a".into())),
    ("told twice", |_, noted| noted.entry("told".into()).or_default().push(("a".into(), 0))),
    ("held somebody up", |_, noted| drop(noted.insert("held-up".into(), vec![("claim".into(), 0)]))),
];

/// Every law must be able to fail, and none may where all is well.
pub fn is_able_to_fail() -> Outcome {
    let well = || -> (Vec<MachineAccount>, Noted) {
        let record = vec![("e1".to_string(), "deny".to_string()), ("e2".to_string(), "pass".to_string())];
        let machine = |label: &str| MachineAccount {
            label: label.into(),
            ids: (label.into(), label.into()),
            own: record.clone(),
            there: record.clone(),
            most_kb: 1,
            ..MachineAccount::default()
        };
        let mut machines = vec![machine("m0"), machine("m1")];
        machines[1].arrived = vec!["a".into()];
        let one = |word: &str| (word.to_string(), vec![("a".to_string(), 0)]);
        (machines, Noted::from([one("sent"), one("told")]))
    };
    let (machines, noted) = well();
    let found = |machines: &[MachineAccount], noted: &Noted| [wrongs(machines, noted), never(noted)].concat();
    let wrong = found(&machines, &noted);
    if !wrong.is_empty() {
        return Err(format!("where all is well something is found: {}", wrong.join("; ")));
    }
    for (expected, spoil) in FAULTS {
        let (mut machines, mut noted) = well();
        spoil(&mut machines, &mut noted);
        let wrong = found(&machines, &noted);
        if !wrong.iter().any(|wrong| wrong.contains(expected)) {
            return Err(format!("nothing is found of '{expected}': {wrong:?}"));
        }
    }
    let log = "2026-01-01 00:00:00.000 UTC [7] ERROR:  deadlock detected\nDETAIL: of two\n";
    if super::super::ledger::deadlocks(log).len() != 1 {
        return Err("a deadlock in the log is not found".into());
    }
    Ok(format!("{} faults are found, and none where there is none", FAULTS.len() + 1))
}

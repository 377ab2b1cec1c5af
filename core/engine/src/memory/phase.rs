//! Phases: forward and in order. A jump needs somebody's word.

/// Where a phase stands: its number, and the number of a step within it.
type Place = (u32, Option<u32>);

/// What came of a wish to go to a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// It is there already.
    Stay,
    /// To this phase, as the skill spells it.
    To(String),
    Refused(String),
}

pub fn step(phases: &[String], current: Option<&str>, wanted: &str, approved: Option<&str>) -> Move {
    let wanted = wanted.trim();
    let listed = find(phases, wanted);
    let label = listed.and_then(|at| phases.get(at)).map_or(wanted, String::as_str);
    if current == Some(label) {
        return Move::Stay;
    }
    if phases.is_empty() || approved.is_some() || in_order(phases, current, listed) || grows(current, wanted) {
        return Move::To(label.to_string());
    }
    let next = next(phases, current);
    let known = phases.join(", ");
    match listed {
        None => Move::Refused(format!("there is no phase `{wanted}`; the phases are: {known}")),
        Some(_) => Move::Refused(format!(
            "phases go forward in order; the next is {}. To jump, ask the user and run \
             `taut effort phase \"{label}\" --approved \"what the user said\"`",
            next.map_or("none: `taut effort finish` ends the effort".to_string(), |next| format!(
                "`taut effort phase \"{next}\"`"
            ))
        )),
    }
}

/// The phase after this one.
pub fn next<'p>(phases: &'p [String], current: Option<&str>) -> Option<&'p str> {
    let at = match current {
        Some(current) => find(phases, current)? + 1,
        None => 0,
    };
    phases.get(at).map(String::as_str)
}

/// By its whole label, its name, or its number.
fn find(phases: &[String], wanted: &str) -> Option<usize> {
    let same = |text: &str| text.eq_ignore_ascii_case(wanted);
    let by_label = phases.iter().position(|phase| same(phase));
    let by_name = || phases.iter().position(|phase| phase.split_once(':').is_some_and(|(_, name)| same(name.trim())));
    let by_number = || {
        let number = wanted.chars().all(|c| c.is_ascii_digit() || c == '.') && !wanted.is_empty();
        phases
            .iter()
            .position(|phase| number && phase.split_once(':').is_some_and(|(before, _)| before.trim() == wanted))
    };
    by_label.or_else(by_name).or_else(by_number)
}

/// The next one, or the next whole phase when only steps of this one are left out.
fn in_order(phases: &[String], current: Option<&str>, listed: Option<usize>) -> bool {
    let Some(to) = listed else { return false };
    let from = match current {
        None => return to == 0,
        Some(current) => match find(phases, current) {
            Some(at) => at,
            // A step that was added on the way stands where its phase stands.
            None => {
                return place(current)
                    .zip(phases.get(to).and_then(|label| place(label)))
                    .is_some_and(|(now, then)| then.0 == now.0 + 1);
            }
        },
    };
    let skipped = phases.get(from + 1..to).unwrap_or_default();
    to > from && skipped.iter().all(|label| place(label).is_some_and(|(_, step)| step.is_some()))
}

/// A further step of the phase it is in.
fn grows(current: Option<&str>, wanted: &str) -> bool {
    match (current.and_then(place), place(wanted)) {
        (Some((now, step)), Some((then, Some(next)))) => now == then && next > step.unwrap_or(0),
        _ => false,
    }
}

/// `2.1: Build` stands at (2, 1).
fn place(label: &str) -> Option<Place> {
    let (number, _) = label.split_once(':')?;
    match number.trim().split_once('.') {
        Some((phase, step)) => Some((phase.parse().ok()?, Some(step.parse().ok()?))),
        None => Some((number.trim().parse().ok()?, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_go_forward_in_order_and_a_jump_needs_a_word() {
        let phases: Vec<String> =
            ["1: Plan", "2: Build", "2.1: Test", "2.2: Fix", "3: Close"].map(str::to_string).to_vec();
        let to = |label: &str| Move::To(label.to_string());
        let go = |current, wanted, approved| step(&phases, current, wanted, approved);
        assert_eq!(go(None, "1: Plan", None), to("1: Plan"));
        assert_eq!(go(None, "plan", None), to("1: Plan"));
        assert_eq!(go(Some("1: Plan"), "1: Plan", None), Move::Stay);
        assert_eq!(go(Some("1: Plan"), "2", None), to("2: Build"));
        assert_eq!(go(Some("2.1: Test"), "3: Close", None), to("3: Close"), "steps may be left out");
        assert_eq!(go(Some("2: Build"), "2.7: Measure", None), to("2.7: Measure"), "a step may be added");
        assert_eq!(go(Some("2.7: Measure"), "3: Close", None), to("3: Close"));
        assert_eq!(go(Some("1: Plan"), "3: Close", Some("the user said so")), to("3: Close"));
        for (current, wanted) in [(Some("1: Plan"), "3: Close"), (Some("3: Close"), "1: Plan"), (None, "2: Build")] {
            let Move::Refused(why) = go(current, wanted, None) else { panic!("{wanted} was let through") };
            assert!(why.contains("--approved"), "{why}");
        }
        let Move::Refused(why) = go(Some("1: Plan"), "Dance", None) else { panic!() };
        assert!(why.contains("1: Plan, 2: Build"), "{why}");
        assert_eq!(step(&[], Some("x"), "y", None), to("y"), "a skill without phases has any");
    }
}

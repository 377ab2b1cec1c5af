//! The `[notify]` section (F5, G11): the user decides, a project can only be left out.

use model::row::AgentStatus;
use policy::notify::Quiet;
use policy::{Diagnostic, Layer, LayerKind, Notify, Policy, Trust, config};

fn layered(layers: &[(LayerKind, &str)], trust: Trust) -> (Notify, Vec<Diagnostic>) {
    let file = |kind: LayerKind| format!("{kind:?}.toml").to_lowercase();
    let layers: Vec<Layer> =
        layers.iter().map(|(kind, text)| Layer { kind: *kind, file: file(*kind), text: (*text).into() }).collect();
    let (policy, wrong) = Policy::layered(&layers, trust);
    (policy.sections.notify, wrong)
}

const USER: &str = "[notify]\non = [\"attention\", \"done\"]\nterminal = true\ncommand = [\"/usr/bin/tell\", \"me\"]\n\
                    debounce = \"30s\"\nquiet = [\"22:00-07:00\", \"12:00-13:00\"]\n";

#[test]
fn f5_nothing_is_told_until_it_is_switched_on() {
    let (notify, _) = layered(&[], Trust::Trusted);
    assert_eq!(notify, Notify::default());
    assert!(!notify.rings() && !notify.reaches_out());
    let (ways, _) = layered(&[(LayerKind::User, "[notify]\nterminal = true\ndesktop = true\n")], Trust::Trusted);
    assert!(!ways.rings() && !ways.reaches_out(), "a way without a kind");
    let (kinds, _) = layered(&[(LayerKind::User, "[notify]\non = [\"done\"]\n")], Trust::Trusted);
    assert!(!kinds.rings() && !kinds.reaches_out(), "a kind without a way");
}

#[test]
fn f5_the_users_section_is_read_whole() {
    let (notify, wrong) = layered(&[(LayerKind::User, USER)], Trust::Untrusted);
    assert_eq!(wrong, []);
    let quiet = vec![Quiet { from: 1320, to: 420 }, Quiet { from: 720, to: 780 }];
    assert_eq!(
        notify,
        Notify {
            on: vec![AgentStatus::Attention, AgentStatus::Done],
            terminal: true,
            desktop: false,
            command: vec!["/usr/bin/tell".into(), "me".into()],
            debounce_ms: 30_000,
            quiet,
            ..Notify::default()
        }
    );
}

/// Trusted or not, shared or local: a repository is no place to say what runs on somebody's machine.
#[test]
fn f5_g11_a_project_can_neither_switch_on_nor_run_anything_and_may_leave_kinds_out() {
    let loud = "[notify]\non = [\"attention\", \"error\", \"done\"]\ndesktop = true\ndebounce = \"0s\"\nquiet = []\n\
                command = [\"/repo/evil\"]\n";
    for trust in [Trust::Untrusted, Trust::Trusted] {
        for kind in [LayerKind::Project, LayerKind::Local] {
            let (alone, wrong) = layered(&[(kind, loud)], trust);
            assert_eq!(alone, Notify::default(), "{trust:?} {kind:?}");
            assert_eq!(wrong.len(), 4, "{wrong:?}");
            let (over, _) = layered(&[(LayerKind::User, USER), (kind, loud)], trust);
            assert_eq!(over, layered(&[(LayerKind::User, USER)], trust).0, "{trust:?} {kind:?}");
            let (less, wrong) = layered(&[(LayerKind::User, USER), (kind, "[notify]\non = [\"done\"]\n")], trust);
            assert_eq!((less.on.as_slice(), wrong.len()), ([AgentStatus::Done].as_slice(), 0));
            let (none, _) = layered(&[(LayerKind::User, USER), (kind, "[notify]\non = []\n")], trust);
            assert!(!none.rings() && !none.reaches_out());
        }
    }
    let (_, wrong) = layered(&[(LayerKind::Project, loud)], Trust::Trusted);
    assert_eq!(
        wrong.last().unwrap().to_string(),
        "project.toml:6:1: `notify.command` is ignored: a project may only leave kinds out of `on` \
         (set it in your own configuration: `taut notify on`)"
    );
}

#[test]
fn f5_a_bad_value_is_named_with_its_line_and_costs_only_itself() {
    for (text, said) in [
        ("on = \"done\"", "a.toml:2:6: `on` is a list such as [\"attention\", \"error\", \"done\"]"),
        ("on = [\"don\"]", "a.toml:2:7: unknown kind of notification `don` (did you mean `done`?)"),
        ("desktop = \"yes\"", "a.toml:2:11: `desktop` is true or false"),
        (
            "debounce = \"5 parsecs\"",
            "a.toml:2:12: `debounce` is a length of time up to an hour, such as \"5s\" or \"2m\"",
        ),
        ("debounce = 5", "a.toml:2:12: `debounce` is a length of time up to an hour, such as \"5s\" or \"2m\""),
        (
            "quiet = \"at night\"",
            "a.toml:2:9: `quiet` is a stretch of the day such as \"22:00-07:00\", or a list of them",
        ),
        ("destop = true", "a.toml:2:1: unknown key `destop` (did you mean `desktop`?)"),
        (
            "command = \"say hi\"",
            "a.toml:2:11: `command` is a list: [\"/path/to/program\", \"argument\"] \
             (for a line of shell: [\"/bin/sh\", \"-c\", \"…\"])",
        ),
        (
            "command = [\"say\"]",
            "a.toml:2:11: `command` begins with the full path of a program (for a line of shell: [\"/bin/sh\", \"-c\", \"…\"])",
        ),
    ] {
        let wrong = config::check(&format!("[notify]\n{text}\n"), "a.toml").unwrap_err();
        assert_eq!(wrong[0].to_string(), said, "{text}");
    }
    let text = "[notify]\non = [\"done\", 7]\nterminal = true\nquiet = [\"x\", \"1:00-2:00\"]\n";
    let (notify, wrong) = layered(&[(LayerKind::User, text)], Trust::Untrusted);
    assert_eq!((wrong.len(), notify.rings(), notify.quiet.len()), (2, true, 1));
}

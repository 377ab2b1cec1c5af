//! The `[shared]` section (X2): the user says where a queue is and what is sent, a repository only what it is called.

use policy::config::sections::{OnUnsure, SharedEvents, SharedSection, SslMode};
use policy::{Diagnostic, Layer, LayerKind, Policy, Trust, config};

fn layered(layers: &[(LayerKind, &str)], trust: Trust) -> (SharedSection, Vec<Diagnostic>) {
    let file = |kind: LayerKind| format!("{kind:?}.toml").to_lowercase();
    let layers: Vec<Layer> =
        layers.iter().map(|(kind, text)| Layer { kind: *kind, file: file(*kind), text: (*text).into() }).collect();
    let (policy, wrong) = Policy::layered(&layers, trust);
    (policy.sections.shared, wrong)
}

const USER: &str = "[shared]\nurl = \"postgresql://taut_agent@db:5432/taut\"\nprojects = [\"acme/shop\"]\n\
                    password_file = \"shared.pass\"\nevents = \"summary\"\non_unsure = \"stop\"\nsslmode = \"require\"\n";

const REPOSITORY: &str = "[shared]\nproject = \"acme/shop\"\nurl = \"postgresql://elsewhere/taut\"\n\
                          projects = [\"a\"]\nevents = \"full\"\nschema = \"x\"\nca = \"/repo/ca\"\nlabel = \"me\"\n\
                          password_file = \"/etc/passwd\"\ncert = \"c\"\nkey = \"k\"\nsslmode = \"require\"\n\
                          on_unsure = \"tell\"\nservice = \"s\"\n";

#[test]
fn x2_without_the_section_nothing_is_shared() {
    let (shared, wrong) = layered(&[], Trust::Trusted);
    assert_eq!((shared.url, shared.project, shared.projects), (None, None, Vec::new()));
    assert_eq!((shared.events, shared.sslmode), (SharedEvents::None, SslMode::VerifyFull));
    assert_eq!((shared.on_unsure, shared.schema.as_str()), (OnUnsure::Tell, "taut"));
    assert_eq!(wrong, []);
}

/// Trusted or not, shared or local: cloning a repository must not send anything anywhere.
#[test]
fn x2_g11_a_repository_may_only_name_its_queue() {
    let (mine, wrong) = layered(&[(LayerKind::User, USER)], Trust::Untrusted);
    assert_eq!(wrong, []);
    for trust in [Trust::Untrusted, Trust::Changed, Trust::Trusted] {
        for kind in [LayerKind::Project, LayerKind::Local] {
            let (alone, wrong) = layered(&[(kind, REPOSITORY)], trust);
            let named = SharedSection { project: Some("acme/shop".into()), ..SharedSection::default() };
            assert_eq!(alone, named, "{trust:?} {kind:?}");
            assert_eq!(wrong.len(), SharedSection::KEYS.len() - 1, "{wrong:?}");
            let (over, _) = layered(&[(LayerKind::User, USER), (kind, REPOSITORY)], trust);
            assert_eq!(over, SharedSection { project: Some("acme/shop".into()), ..mine.clone() }, "{trust:?} {kind:?}");
        }
    }
    let (_, wrong) = layered(&[(LayerKind::Project, REPOSITORY)], Trust::Trusted);
    assert_eq!(
        wrong.first().unwrap().to_string(),
        "project.toml:3:1: `shared.url` is ignored: a repository may only name its queue, with `project` \
         (set it in your own configuration: `taut shared connect`)"
    );
}

#[test]
fn x2_a_local_file_has_the_last_word_on_the_name_of_the_queue_trusted_or_not() {
    for trust in [Trust::Untrusted, Trust::Trusted] {
        let files = [
            (LayerKind::Project, "[shared]\nproject = \"acme/shop\"\n"),
            (LayerKind::Local, "[shared]\nproject = \"acme/mine\"\n"),
        ];
        assert_eq!(layered(&files, trust).0.project.as_deref(), Some("acme/mine"), "{trust:?}");
    }
}

#[test]
fn x2_the_users_own_file_does_not_name_the_queue_of_every_project() {
    let (shared, wrong) = layered(&[(LayerKind::User, "[shared]\nproject = \"acme/shop\"\n")], Trust::Trusted);
    assert_eq!(shared.project, None);
    assert!(wrong.iter().any(|wrong| wrong.message.contains("`shared.project` is ignored")), "{wrong:?}");
}

#[test]
fn x2_a_password_in_the_configuration_and_a_wrong_name_are_mistakes_with_their_line() {
    let expected = [
        ("url = \"postgresql://a:secret@db/taut\"", "without a password"),
        ("url = \"postgresql://db/taut?password=secret\"", "without a password"),
        ("project = \"acme shop\"", "a name such as \"acme/shop\""),
        ("projects = [\"a\", \"b'; DROP\"]", "a name such as \"acme/shop\""),
        ("schema = \"Taut; --\"", "a plain name"),
        ("sslmode = \"disable\"", "sslmode"),
        ("events = \"all\"", "level"),
    ];
    for (text, said) in expected {
        let wrong = config::check(&format!("[shared]\n{text}\n"), "a.toml").unwrap_err();
        let first = wrong.first().unwrap().to_string();
        assert!(first.starts_with("a.toml:2:") && first.contains(said), "{text}: {first}");
        assert!(!first.contains("secret"), "{first}");
    }
}

/// Who cannot be read is as strict as can be.
#[test]
fn x2_i7_a_misspelled_word_never_sends_more_nor_checks_less() {
    let text = "[shared]\nevents = \"ful\"\nsslmode = \"requir\"\non_unsure = \"stopp\"\n";
    let (shared, _) = layered(&[(LayerKind::User, text)], Trust::Trusted);
    assert_eq!((shared.events, shared.sslmode), (SharedEvents::None, SslMode::VerifyFull));
    assert_eq!(shared.on_unsure, OnUnsure::Stop);
}

/// Trusted or not, shared or local: cloning a repository must not have anything sent to a collector.
#[test]
fn x2_g11_a_repository_has_no_word_in_what_is_sent_to_a_collector() {
    let theirs = "[telemetry]\notlp = true\nendpoint = \"https://evil.example\"\nlevel = \"full\"\nheaders_file = \"/etc/passwd\"\n";
    let mine = "[telemetry]\notlp = true\nendpoint = \"http://127.0.0.1:4318\"\n";
    let of = |layers: &[(LayerKind, &str)], trust: Trust| {
        let layer =
            |(kind, text): &(LayerKind, &str)| Layer { kind: *kind, file: "f.toml".into(), text: (*text).into() };
        let (policy, wrong) = Policy::layered(&layers.iter().map(layer).collect::<Vec<_>>(), trust);
        (policy.sections.telemetry, wrong)
    };
    let (own, wrong) = of(&[(LayerKind::User, mine)], Trust::Untrusted);
    assert_eq!((own.address().as_deref(), wrong), (Some("http://127.0.0.1:4318/v1/logs"), Vec::new()));
    for trust in [Trust::Untrusted, Trust::Changed, Trust::Trusted] {
        for kind in [LayerKind::Project, LayerKind::Local] {
            let (telemetry, wrong) = of(&[(LayerKind::User, mine), (kind, theirs)], trust);
            assert_eq!((&telemetry, wrong.len()), (&own, 4), "{wrong:?}");
            assert_eq!(of(&[(kind, theirs)], trust).0.address(), None);
        }
    }
    let (_, wrong) = of(&[(LayerKind::User, "[telemetry]\nendpoint = \"http://elsewhere.example\"\n")], Trust::Trusted);
    assert_eq!(wrong.len(), 1, "plain HTTP leaves this machine for nobody: {wrong:?}");
}

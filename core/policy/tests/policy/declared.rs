//! Configuration that cannot lie (I7): every declared key is checked, shown, documented, and a limit is never lost.

use policy::config::declare::{ConfigType, KeyDecl, ValueKind, WhenUnreadable};
use policy::config::sections::{Sections, example};
use policy::config::{self, page, schema, show};
use policy::{Layer, LayerKind, Policy, Trust};
use std::path::PathBuf;

fn layer(kind: LayerKind, text: &str) -> Layer {
    Layer { kind, file: format!("{kind:?}.toml").to_lowercase(), text: text.into() }
}

fn user(text: &str) -> Policy {
    Policy::layered(&[layer(LayerKind::User, text)], Trust::Untrusted).0
}

/// A place in a file of one line where a value of some kind is expected.
struct Place {
    before: String,
    after: String,
    kind: ValueKind,
}

/// Every place that the declarations know, each with the shortest line that leads there.
fn places(kind: ValueKind, before: &str, after: &str, found: &mut Vec<Place>) {
    found.push(Place { before: before.to_string(), after: after.to_string(), kind });
    match kind {
        ValueKind::Table(keys) => keys.iter().for_each(|key| {
            places(key.kind, &format!("{before}{{ {} = ", key.name), &format!(" }}{after}"), found);
        }),
        ValueKind::Named(kind) => {
            // The names of packs and rules are not the user's to choose.
            let name = if before.contains("packs") { "git" } else { "git-clean" };
            places(*kind, &format!("{before}{{ {name} = "), &format!(" }}{after}"), found);
        }
        ValueKind::List(kind) => places(*kind, &format!("{before}["), &format!("]{after}"), found),
        ValueKind::Either(kinds) => kinds.iter().for_each(|kind| places(*kind, before, after, found)),
        ValueKind::Checked { of, .. } => places(*of, before, after, found),
        _ => {}
    }
}

fn all_places() -> Vec<Place> {
    let mut found = Vec::new();
    Sections::KEYS.iter().for_each(|key| places(key.kind, &format!("{} = ", key.name), "", &mut found));
    found
}

#[test]
fn i7_every_declared_key_of_a_wrong_type_is_an_error_at_its_line_and_column() {
    let all = all_places();
    assert!(all.len() > 150, "only {} places", all.len());
    for Place { before, after, kind } in all {
        // A moment is what nothing but `expires` takes, and a truth is what that does not.
        let wrong = if matches!(kind, ValueKind::Moment) { "true" } else { "1979-05-27" };
        let text = format!("# one line above\n{before}{wrong}{after}\n");
        let found = config::check(&text, "a.toml").expect_err(&text);
        let column = before.chars().count() + 1;
        assert!(found.iter().any(|found| (found.line, found.column) == (2, column)), "{text}{found:#?}");
    }
}

#[test]
fn i7_every_table_names_the_nearest_key_for_a_misspelled_one() {
    let mut tables = all_places();
    tables.push(Place { before: String::new(), after: String::new(), kind: ValueKind::Table(Sections::KEYS) });
    for Place { before, after, kind } in tables {
        let ValueKind::Table(keys) = kind else { continue };
        for key in keys {
            let wrong = format!("{}x", key.name);
            if keys.iter().any(|key| key.name == wrong) {
                continue;
            }
            let (open, close) = if before.is_empty() { ("", "") } else { ("{ ", " }") };
            let text = format!("{before}{open}{wrong} = 1{close}{after}");
            let found = config::check(&text, "a.toml").expect_err(&text);
            let column = before.chars().count() + open.len() + 1;
            let at = format!("a.toml:1:{column}: unknown key `{wrong}`");
            let named =
                found.iter().any(|found| found.to_string().starts_with(&at) && found.to_string().contains(key.name));
            assert!(named, "{text}\n{found:#?}");
        }
    }
}

#[test]
fn i7_the_mistakes_that_were_sound_before_are_errors_with_their_place() {
    for (text, said) in [
        ("[loop]\nmax_cst = 5.0", "a.toml:2:1: unknown key `max_cst` (did you mean `max_cost`?)"),
        ("[loop]\nmax_cost = \"lots\"", "a.toml:2:12: `max_cost` is a number from 0 to 1000000000"),
        ("[loop]\nmax_cost = nan", "a.toml:2:12: `max_cost` is a number from 0 to 1000000000"),
        ("[loop]\nmax_cost = -1", "a.toml:2:12: `max_cost` is a number from 0 to 1000000000"),
        ("[loop]\nmax_iterations = 5000000000", "a.toml:2:18: `max_iterations` is a whole number from 0 to 4294967295"),
        (
            "[loop]\nmax_time = \"potato\"",
            "a.toml:2:12: `max_time` is a length of time such as \"90s\", \"10m\", \"8h\" or \"1d\"",
        ),
        ("[heartbeat]\nwran = 3", "a.toml:2:1: unknown key `wran` (did you mean `warn`?)"),
        (
            "[[workflow.rule]]\nid = \"r\"\nurgncy = \"block\"\ntrigger = { type = \"phase\", condition = { matches = \"x\" } }",
            "a.toml:3:1: unknown key `urgncy` (did you mean `urgency`?)",
        ),
        ("[compaction]\nauto = \"stopp\"", "a.toml:2:8: unknown way to compact `stopp` (did you mean `stop`?)"),
        (
            "[contacts]\nann = [\"claude_dirct\"]",
            "a.toml:2:8: unknown tag `claude_dirct` (did you mean `claude_direct`?)",
        ),
        ("[heartbeet]\nwarn = 3", "a.toml:1:2: unknown key `heartbeet` (did you mean `heartbeat`?)"),
    ] {
        let found = config::check(text, "a.toml").expect_err(text);
        assert_eq!(found[0].to_string(), said, "{text}");
    }
}

/// G9: a rule that could never hold is a mistake, and not a sound rule.
#[test]
fn g9_a_trigger_that_can_never_hold_is_named_with_the_nearest_that_can() {
    let rule = |trigger: &str| format!("[[workflow.rule]]\nid = \"r\"\npayload = \"x\"\ntrigger = {trigger}\n");
    for (trigger, said) in [
        ("{ type = \"toolcont\", condition = { gte = 3 } }", "unknown trigger `toolcont` (did you mean `toolCount`?)"),
        ("{ type = \"lifecycle\", condition = { eq = \"lodaing\" } }", "`loading`"),
        ("{ type = \"lifecycle\", condition = { gte = 3 } }", "`eq` or `noActiveSession`"),
        ("{ type = \"phase\", condition = { gte = 3 } }", "`matches`"),
        ("{ type = \"contextThreshold\", condition = { gte = \"OVERFLOW_TRESHOLD\" } }", "`OVERFLOW_THRESHOLD`"),
        ("{ type = \"contextThreshold\", condition = { matches = \"x\" } }", "`gte`"),
        ("{ type = \"toolCount\", condition = { gte = \"blok\" } }", "`block`"),
        ("{ type = \"discovery\", condition = { field = \"x\" } }", "`nonEmpty`"),
        ("{ type = \"perTranscriptToolCount\", condition = { eq = \"five\" } }", "`eq` or `gte`"),
        ("{ type = \"phase\", condition = {} }", "`matches`"),
    ] {
        let found = config::check(&rule(trigger), "a.toml").expect_err(trigger);
        assert!(
            found[0].to_string().starts_with("a.toml:4:") && found[0].to_string().contains(said),
            "{trigger}: {}",
            found[0]
        );
    }
    for trigger in [
        "{ type = \"contextThreshold\", condition = { gte = 0.9 } }",
        "{ type = \"contextThreshold\", condition = { gte = \"OVERFLOW_THRESHOLD\" } }",
        "{ type = \"lifecycle\", condition = { noActiveSession = true } }",
        "{ type = \"lifecycle\", condition = { eq = \"dehydrating\" } }",
        "{ type = \"phase\", condition = { matches = \"Synthesis\" } }",
        "{ type = \"toolCount\", condition = { field = \"toolCallsSinceLastLog\", gte = \"toolUseWithoutLogsWarnAfter\" } }",
        "{ type = \"discovery\", condition = { field = \"pendingDirectives\", nonEmpty = true } }",
        "{ type = \"perTranscriptToolCount\", condition = { eq = 3 } }",
    ] {
        assert_eq!(config::check(&rule(trigger), "a.toml").map(|_| ()), Ok(()), "{trigger}");
    }
    let lists = "[[workflow.rule]]\nid = \"r\"\nmode = \"read\"\npayload = [\"a.md\", \"b.md\"]\n\
        trigger = { type = \"phase\", condition = { matches = \"x\" } }\n";
    assert_eq!(config::check(lists, "a.toml").map(|_| ()), Ok(()), "files may be a payload");
}

#[test]
fn the_sections_that_nobody_read_are_unknown() {
    let unread = ["daemon", "events", "log", "preset", "queue", "retention", "roles", "run", "tasks", "tmux", "ui"];
    for name in unread.into_iter().chain(["version"]) {
        assert!(config::check(&format!("[{name}]\n"), "a").is_err(), "{name}");
    }
}

/// What is shown can be written, and means the same.
#[test]
fn i7_every_default_can_be_written_down_and_read_back() {
    let shown = Sections::show(&Sections::default()).unwrap();
    let text = toml::to_string(&shown).unwrap();
    assert_eq!(config::check(&text, "a").map(|_| ()), Ok(()), "{text}");
    let again = Sections::show(&user(&text).sections).unwrap();
    assert_eq!(again, shown);
}

#[test]
fn i7_a_limit_that_cannot_be_read_keeps_the_strictest_of_the_default_and_what_stands_below() {
    let heartbeat = |users: &str, project: &str| {
        let layers = [layer(LayerKind::User, users), layer(LayerKind::Project, project)];
        let (policy, found) = Policy::layered(&layers, Trust::Trusted);
        (policy.sections.heartbeat.block, policy.unread.len(), found.len())
    };
    assert_eq!(heartbeat("", "[heartbeat]\nblock = \"lots\""), (10, 1, 1));
    assert_eq!(heartbeat("[heartbeat]\nblock = 5", "[heartbeat]\nblock = \"lots\""), (5, 1, 1));
    assert_eq!(heartbeat("[heartbeat]\nblock = 50", "[heartbeat]\nblock = \"lots\""), (10, 1, 1));
    assert_eq!(heartbeat("[heartbeat]\nblock = 50", "[heartbeat]\nblock = 40"), (40, 0, 0));
    assert_eq!(heartbeat("", "[heartbeat]\nblok = 500"), (10, 1, 1), "a misspelled one may be a limit");
    assert_eq!(heartbeat("[heartbeat]\nblock = -1", ""), (10, 1, 1));
}

#[test]
fn i7_what_would_be_off_by_a_mistake_is_on() {
    for text in ["overflow = 7", "[overflow]\nat = \"full\"", "[overflow]\nat = 300", "[overflow]\nxt = 3"] {
        let overflow = user(text).sections.overflow.expect(text);
        assert_eq!((overflow.at, overflow.warn), (95.0, 90.0), "{text}");
    }
    let policy = user("[skills.x]\noverflow = \"full\"\nheartbeat = 3\nlog = \"yes\"");
    let skill = &policy.sections.skills["x"];
    assert!(skill.overflow.is_some() && skill.heartbeat.is_some() && skill.log == Some(true));
    assert_eq!(policy.unread.len(), 3);
    let tools = "[communication]\ntools = [{ tool = \"mail\", contact = 7 }]";
    assert_eq!(user(tools).unread.len(), 1);
    let lost = "[[workflow.rule]]\nid = \"r\"\nurgency = \"block\"";
    assert_eq!(user(lost).unread.len(), 1, "a rule that is none without its trigger");
    let rule = "[[workflow.rule]]\nid = \"r\"\nurgency = \"blok\"\ntrigger = { type = \"phase\", condition = { matches = \"x\" } }";
    assert_eq!(user(rule).sections.workflow.rule[0].urgency.name(), "block");
    assert_eq!(user("[compaction]\nauto = 3").sections.compaction.auto.unwrap().name(), "stop");
    assert!(user("").sections.overflow.is_none());
    for lost in [
        "[guard]\non_failur = \"closed\"",
        "[[guard.rule]]\nid = \"x\"\nkind = \"deny\"\nprogam = \"x\"\nreason = \"y\"",
    ] {
        assert!(!user(lost).unread.is_empty(), "what the guard does not do is said: {lost}");
    }
    assert!(user("[fleet]\nreport = true").unread.is_empty(), "and what only informs is left to the check");
}

/// Before, a mistake in the syntax of one section switched all others off.
#[test]
fn i7_broken_syntax_costs_no_limit_that_stands_before_it() {
    let policy = user("[overflow]\nat = 80\n[heartbeat]\nblock = 4\nwarn = = 2\n[session]\nrequired = true\n");
    assert_eq!(policy.sections.overflow.as_ref().map(|overflow| overflow.at), Some(80.0));
    assert_eq!(policy.sections.heartbeat.block, 4);
    assert!(policy.sections.session.required);
    assert!(!policy.unread.is_empty());
}

#[test]
fn i7_what_holds_is_shown_with_the_file_that_said_so() {
    let layers = [
        layer(LayerKind::User, "[heartbeat]\nwarn = 3\nblock = 20\n[guard.rules]\nsudo = \"deny\"\n"),
        layer(
            LayerKind::Project,
            "[heartbeat]\nblock = 30\n[context]\nwindows = { \"a.b\" = 5 }\n[session]\nrequired = true\n",
        ),
    ];
    let origin = |trust: Trust, key: &str| {
        let rows = show::rows(&layers, trust);
        let row = rows.into_iter().find(|row| row.key() == key).unwrap_or_else(|| panic!("no {key}"));
        let from = row.origin.map(|origin| format!("{}:{}:{}", origin.file, origin.line, origin.column));
        (row.value.to_string(), from)
    };
    let said = |value: &str, from: &str| (value.to_string(), Some(from.to_string()));
    assert_eq!(origin(Trust::Trusted, "heartbeat.warn"), said("3", "user.toml:2:1"), "as the default, but said");
    assert_eq!(origin(Trust::Trusted, "heartbeat.block"), said("30", "project.toml:2:1"));
    assert_eq!(
        origin(Trust::Untrusted, "heartbeat.block"),
        said("20", "user.toml:3:1"),
        "an untrusted project adds only"
    );
    assert_eq!(origin(Trust::Untrusted, "session.required"), said("true", "project.toml:6:1"));
    assert_eq!(origin(Trust::Trusted, "context.windows.\"a.b\""), said("5", "project.toml:4:13"));
    assert_eq!(origin(Trust::Trusted, "guard.rules.sudo"), said("\"deny\"", "user.toml:5:1"));
    assert_eq!(origin(Trust::Trusted, "context.reserve"), ("33000".to_string(), None));
}

#[test]
fn i7_a_default_that_holds_because_nothing_could_be_read_is_no_files_word() {
    let text = "[heartbeat]\nblock = \"x\"\nwarn = 2\n";
    let rows = policy::config::show::rows(&[layer(LayerKind::User, text)], Trust::Untrusted);
    let origin = |key: &str| rows.iter().find(|row| row.key() == key).unwrap().origin.clone();
    assert_eq!(origin("heartbeat.block"), None);
    assert_eq!(origin("heartbeat.warn").unwrap().line, 3);
}

#[test]
fn i7_a_restriction_that_cannot_be_read_is_said_to_the_user() {
    for text in ["[session]\nrequired = \"yes\"", "[communication]\ntools = 3"] {
        let (policy, _) = policy::Policy::layered(&[layer(LayerKind::User, text)], Trust::Untrusted);
        assert_eq!(policy.unread.len(), 1, "{text}");
        assert_eq!(policy.sections.session.required, text.contains("required"), "what cannot be read is on");
    }
}

#[test]
fn every_section_has_an_example_without_a_mistake() {
    for section in Sections::KEYS {
        let text = example(section);
        assert!(
            text.contains(&format!("[{}", section.name)) || text.contains(&format!("[[{}", section.name)),
            "{text}"
        );
        assert_eq!(config::check(text, section.name).map(|_| ()), Ok(()), "{text}");
    }
}

#[test]
fn every_key_says_what_it_is_for_and_a_limit_has_a_default() {
    fn each(keys: &[KeyDecl], visit: &mut dyn FnMut(&KeyDecl)) {
        for key in keys {
            visit(key);
            let mut kind = key.kind;
            while let ValueKind::Named(inner) | ValueKind::List(inner) = kind {
                kind = *inner;
            }
            if let ValueKind::Table(keys) = kind {
                each(keys, visit);
            }
        }
    }
    each(Sections::KEYS, &mut |key| {
        assert!(key.doc.trim().len() > 3 && key.doc.trim().ends_with(['.', '`']), "{key:?}");
    });
    for section in Sections::KEYS {
        let ValueKind::Table(keys) = section.kind else { continue };
        let limits = keys.iter().filter(|key| matches!(key.unreadable, WhenUnreadable::Lower | WhenUnreadable::Higher));
        limits.for_each(|key| assert!((key.default)().is_some(), "{} has no default to keep", key.name));
    }
}

#[test]
fn the_page_of_the_configuration_is_what_the_declarations_say() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = page::markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == page, "docs/configuration.md is not what is declared; run `UPDATE_DOCS=1 cargo test -p policy`");
}

/// An editor knows the same keys as the check, and nothing besides.
#[test]
fn i7_the_schema_has_every_key_and_closes_every_table() {
    fn same(schema: &serde_json::Value, kind: ValueKind, at: &str) {
        match kind {
            ValueKind::Table(keys) => {
                let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{at}: {schema}"));
                assert_eq!(properties.len(), keys.len(), "{at}");
                assert_eq!(schema["additionalProperties"], false, "{at}");
                for key in keys {
                    same(&properties[key.name], key.kind, &format!("{at}.{}", key.name));
                }
            }
            ValueKind::Named(kind) => same(&schema["additionalProperties"], *kind, at),
            ValueKind::List(kind) => same(&schema["items"], *kind, at),
            ValueKind::Either(kinds) => {
                kinds.iter().enumerate().for_each(|(i, kind)| same(&schema["anyOf"][i], *kind, at));
            }
            ValueKind::Word { words, .. } => assert_eq!(schema["enum"], serde_json::json!(words), "{at}"),
            _ => assert!(schema["type"].is_string(), "{at}: {schema}"),
        }
    }
    let schema = schema::json_schema();
    same(&schema, ValueKind::Table(Sections::KEYS), "");
    assert_eq!(schema["properties"]["heartbeat"]["properties"]["block"]["default"], 10);
}

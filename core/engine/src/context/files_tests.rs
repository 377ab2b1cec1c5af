//! A world of a few files, asked in rounds as the real one is.

use super::*;
use crate::event_context::tests::context;
use model::event::Envelope;
use model::fact::Facts;
use model::{Environment, Who};
use policy::{Layer, LayerKind, Policy};
use std::collections::BTreeMap;

#[derive(Default)]
struct World {
    files: BTreeMap<&'static str, &'static str>,
    env: Vec<(&'static str, &'static str)>,
    config: &'static str,
    trust: Trust,
}

const PROJECT: &str = "/code/acme";

impl World {
    /// Every round answers all questions; a matcher by suffix is enough here.
    fn gather(&self) -> Vec<ContextFile> {
        let envelope = start();
        let env = Environment(self.env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect());
        let layer = Layer { kind: LayerKind::Project, file: "c".into(), text: self.config.into() };
        let policy = Policy::layered(&[layer], self.trust).0;
        let places = Places {
            tree: PROJECT.into(),
            home: "/home/me".into(),
            config: "/home/me/.config/taut".into(),
            ..Places::default()
        };
        let mut facts = Facts::default();
        for _ in 0..4 {
            let role = |name: &str| env.get(name).map(str::to_string);
            let (role, mode) = (role("CLAUDE_SESSION_ROLE"), role("CLAUDE_SESSION_MODE"));
            let event = EventContext {
                who: &Who { role, mode, ..Who::default() },
                env: &env,
                policy: &policy,
                facts: &facts,
                places: &places,
                ..context(&envelope)
            };
            let asks = wanted(&event);
            if asks.is_empty() {
                return walk(&event).files;
            }
            asks.iter().for_each(|ask| self.answer(ask, &mut facts));
        }
        panic!("still asking after four rounds");
    }

    fn answer(&self, ask: &Probe, facts: &mut Facts) {
        match ask {
            Probe::Text { path, within } => {
                let inside = within.iter().any(|folder| path.starts_with(&format!("{folder}/")));
                let found = match self.files.get(path.as_str()) {
                    Some(_) if !inside => TextFact::Outside,
                    Some(text) => TextFact::Text(text.to_string()),
                    None => TextFact::Missing,
                };
                facts.texts.push((path.clone(), found));
            }
            Probe::Matches { folder, pattern } => {
                let name = pattern.rsplit('/').next().unwrap().trim_start_matches('*');
                let found = self.files.keys().filter(|path| path.starts_with(folder.as_str()) && path.ends_with(name));
                let found = found.take(3).map(|path| path.to_string()).collect();
                facts.matches.push(((folder.clone(), pattern.clone()), found));
            }
            other => panic!("{other:?}"),
        }
    }

    fn loaded(&self) -> Vec<(String, ContextSource)> {
        let there = self.gather().into_iter().filter(|file| matches!(file.found, TextFact::Text(_)));
        there.map(|file| (file.title, file.source)).collect()
    }
}

fn start() -> Envelope {
    Envelope {
        agent: agents::DEFAULT.profile,
        kind: EventKind::SessionStart,
        name: "SessionStart".into(),
        host_session: None,
        transcript: None,
        cwd: None,
        prompt_id: None,
        permission_mode: None,
        sub_agent: None,
        body: model::Body::SessionStart(model::event::SessionStart::default()),
        notes: Vec::new(),
        cut: false,
    }
}

#[test]
fn i5_nothing_is_even_asked_without_a_configuration_or_a_role() {
    assert_eq!(World::default().gather(), []);
}

#[test]
fn s2_core_then_what_the_role_names_then_the_mode() {
    let world = World {
        files: BTreeMap::from([
            ("/code/acme/TODAY.md", "today"),
            (
                "/code/acme/.claude/roles/chief/role.md",
                "---\nauto_include:\n  - Desktop/identity.md\n  - gone.md\n---\nLead.",
            ),
            ("/code/acme/Desktop/identity.md", "me"),
            ("/code/acme/.claude/modes/background.md", "Work alone."),
        ]),
        env: vec![("CLAUDE_SESSION_ROLE", "chief"), ("CLAUDE_SESSION_MODE", "background")],
        config: "[context]\ncore = [{ path = \"TODAY.md\", name = \"TODAY.MD\", label = \"daily memory\" }]\n",
        ..World::default()
    };
    let title = |title: &str, source| (title.to_string(), source);
    assert_eq!(
        world.loaded(),
        [
            title("TODAY.MD (daily memory)", ContextSource::Core),
            title(".claude/roles/chief/role.md (role)", ContextSource::Role),
            title("Desktop/identity.md", ContextSource::Role),
            title(".claude/modes/background.md (mode)", ContextSource::Mode),
        ]
    );
}

#[test]
fn s2_globs_start_at_the_root_and_a_variable_that_is_not_set_leaves_its_entry_out() {
    let mut world = World {
        files: BTreeMap::from([
            (
                "/code/acme/.claude/roles/project.md",
                "---\nauto_include: [\"${PROJECT_PATH}/**/SYSTEM-SPEC.md\", \"docs/*.md\"]\n---\n",
            ),
            ("/code/acme/docs/a.md", "a"),
            ("/code/acme/app/x/SYSTEM-SPEC.md", "spec"),
        ]),
        env: vec![("CLAUDE_SESSION_ROLE", "project")],
        ..World::default()
    };
    let titles = |world: &World| world.loaded().into_iter().map(|(title, _)| title).collect::<Vec<_>>();
    assert_eq!(titles(&world), [".claude/roles/project.md (role)", "docs/a.md"]);
    world.env.push(("PROJECT_PATH", "/code/acme/app/"));
    assert_eq!(titles(&world), [".claude/roles/project.md (role)", "app/x/SYSTEM-SPEC.md", "docs/a.md"]);
}

#[test]
fn g11_an_untrusted_project_loads_nothing_from_outside_itself() {
    let mut world = World {
        files: BTreeMap::from([
            (
                "/code/acme/.claude/roles/spy.md",
                "---\nauto_include: [~/.claude/notes.md, /etc/passwd, ../other/x.md]\n---\n",
            ),
            ("/home/me/.claude/notes.md", "mine"),
            ("/etc/passwd", "root"),
            ("/code/acme/../other/x.md", "x"),
        ]),
        env: vec![("CLAUDE_SESSION_ROLE", "spy")],
        config: "[context]\ncore = [\"~/.claude/notes.md\", \"/etc/passwd\"]\n",
        ..World::default()
    };
    let titles = |world: &World| world.loaded().into_iter().map(|(title, _)| title).collect::<Vec<_>>();
    let inside = [".claude/roles/spy.md (role)", "../other/x.md"];
    assert_eq!(titles(&world), inside, "what `..` leads to is found out where links are resolved");
    world.trust = Trust::Trusted;
    assert!(titles(&world).contains(&"~/.claude/notes.md".to_string()));
    assert!(!titles(&world).contains(&"/etc/passwd".to_string()));
}

#[test]
fn s2_a_users_own_role_works_in_any_project_by_existing() {
    let world = World {
        files: BTreeMap::from([
            ("/home/me/.claude/roles/tutor.md", "---\nauto_include:\n  - ~/.claude/tutor-notes.md\n---\nTeach."),
            ("/home/me/.claude/tutor-notes.md", "notes"),
        ]),
        env: vec![("CLAUDE_SESSION_ROLE", "tutor")],
        ..World::default()
    };
    assert_eq!(world.loaded().len(), 2);
}

#[test]
fn a_role_whose_name_leads_elsewhere_is_none() {
    let files = BTreeMap::from([
        ("/code/acme/.claude/roles/../chief.md", "Lead."),
        ("/code/acme/.claude/roles/a/b.md", "Deep."),
        ("/code/acme/.claude/roles/.hidden.md", "Hidden."),
        ("/code/acme/.claude/roles/.md", "Nobody."),
    ]);
    for name in ["../chief", "a/b", ".hidden", ""] {
        let world = World { files: files.clone(), env: vec![("CLAUDE_SESSION_ROLE", name)], ..World::default() };
        assert_eq!(world.gather(), [], "{name}");
    }
}

#[test]
fn s2_the_projects_own_role_comes_before_the_users_of_the_same_name() {
    let world = World {
        files: BTreeMap::from([
            ("/code/acme/.claude/roles/chief.md", "Lead acme."),
            ("/home/me/.claude/roles/chief/role.md", "Lead."),
        ]),
        env: vec![("CLAUDE_SESSION_ROLE", "chief")],
        ..World::default()
    };
    assert_eq!(world.loaded(), [(".claude/roles/chief.md (role)".to_string(), ContextSource::Role)]);
}

#[test]
fn d4_files_that_could_not_be_read_are_named_to_be_read_by_hand() {
    let found = [TextFact::Failed, TextFact::Missing, TextFact::Failed, TextFact::Outside];
    let texts = ["/p/a.md", "/p/b.md", "/p/c.md", "/p/d.md"].map(str::to_string).into_iter().zip(found).collect();
    let config =
        "[context]\ncore = [{ path = \"a.md\" }, { path = \"b.md\" }, { path = \"c.md\" }, { path = \"d.md\" }]\n";
    let layer = Layer { kind: LayerKind::User, file: "c".into(), text: config.into() };
    let mut budget = ContextBudget::default();
    let envelope = start();
    let event = EventContext {
        policy: &Policy::layered(&[layer], Trust::Trusted).0,
        facts: &Facts { texts, ..Facts::default() },
        places: &Places { tree: "/p".into(), ..Places::default() },
        ..context(&envelope)
    };
    add_to(&event, &mut budget);
    let text = budget.fit().text.unwrap();
    assert_eq!(text, "[TAUT: WARNING]: Context could not be loaded. Read these by hand: /p/a.md, /p/c.md");
}

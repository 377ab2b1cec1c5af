use super::*;
use crate::time::Ms;

fn known(id: &str, name: &str, present: bool, at: i64) -> KnownAgent {
    KnownAgent { id: id.into(), name: Some(name.to_string()).filter(|name| !name.is_empty()), present, at: Ms(at) }
}

fn fleet() -> Vec<KnownAgent> {
    vec![
        known("acme-xvke635", "acme", true, 1),
        known("acme-abcdefg", "acme·2", true, 2),
        known("shop-kkkkkkk", "shop·3", true, 3),
        known("worker-1", "", true, 4),
        known("worker-2", "", true, 5),
        known("old-1111111", "old", false, 6),
        known("old-2222222", "old", false, 9),
        known("old-3333333", "old", false, 8),
    ]
}

fn met(typed: &str) -> Result<String, Vec<String>> {
    match resolve(typed, &fleet()) {
        AgentMatch::One(id) => Ok(id),
        AgentMatch::Several(names) => Err(names),
        AgentMatch::Unknown => Err(Vec::new()),
    }
}

#[test]
fn f4_an_agent_is_found_by_its_name_however_its_number_is_typed() {
    for typed in ["acme·2", "acme.2", "acme-2", "ACME.2", "acme-abcdefg", "acme-a"] {
        assert_eq!(met(typed), Ok("acme-abcdefg".into()), "{typed}");
    }
    for typed in ["acme", "Acme", "acme-xvke635", "acme-x"] {
        assert_eq!(met(typed), Ok("acme-xvke635".into()), "{typed}");
    }
    assert_eq!(met("shop"), Ok("shop-kkkkkkk".into()), "the only one of its project");
    assert_eq!(met("worker-1"), Ok("worker-1".into()), "an id is never taken for a number");
}

#[test]
fn f4_what_may_be_several_is_said_and_the_last_that_had_a_name_is_meant_by_it() {
    assert_eq!(met("work"), Err(vec!["worker-1".into(), "worker-2".into()]));
    assert_eq!(met("ac"), Err(vec!["acme".into(), "acme·2".into()]));
    assert_eq!(met("old"), Ok("old-2222222".into()));
    assert_eq!(met("old-3"), Ok("old-3333333".into()));
    assert_eq!(met("nobody"), Err(Vec::new()));
    assert_eq!(met(""), Err(Vec::new()));
}

#[test]
fn f4_no_folders_name_takes_what_is_for_the_agent_of_that_id() {
    let fleet = [known("acme", "", false, 1), known("acme-xvke635", "acme", true, 2)];
    assert_eq!(resolve("acme", &fleet), AgentMatch::One("acme".into()));
}

#[test]
fn f4_a_name_is_the_projects_folder_cleaned_and_bounded() {
    for (project, name) in [
        ("/home/ada/acme", "acme"),
        ("/home/ada/acme/", "acme"),
        ("/home/ada/my project (2)", "my-project-2"),
        ("/home/ada/.dotfiles", "dotfiles"),
        ("/home/ada/größe_v2.1", "größe_v2.1"),
        ("/x/\u{1b}[31mred\u{1b}[0m", "red"),
        ("/x/\u{1b}]0;owned\u{7}tail", "0-owned-tail"),
        ("/x/a\u{202e}b", "a-u-202e-b"),
        ("/x/שלום", "שלום"),
        ("/x/\n\t ", "agent"),
        ("/", "root"),
        ("", "root"),
    ] {
        assert_eq!(of_project(project), name, "{project:?}");
    }
    let long = of_project(&format!("/x/{}", "a".repeat(300)));
    assert_eq!(long.chars().count(), LONGEST);
    for c in '\0'..='\u{ffff}' {
        let name = of_project(&format!("/x/a{c}b"));
        let bad = name.chars().find(|c| !is_of_name(*c));
        assert_eq!(bad, None, "{c:?} in {name:?}");
    }
}

#[test]
fn f4_a_person_chooses_a_name_that_can_be_typed_and_shows_what_it_is() {
    for good in ["api", "review-2", "größe", "a.b_c", "7", &"x".repeat(LONGEST)] {
        assert_eq!(refused(good), None, "{good}");
    }
    for bad in
        ["", "-api", ".api", "a b", "acme·2", "a\u{1b}[31m", "a\u{202e}b", "a\nb", "a`b", &"x".repeat(LONGEST + 1)]
    {
        let why = refused(bad).unwrap_or_default();
        assert!(!why.is_empty() && !why.chars().any(char::is_control), "{bad:?}: {why}");
    }
}

#[test]
fn f4_names_that_are_typed_alike_have_one_key() {
    assert_eq!(key("Acme.2"), key("acme·2"));
    assert_eq!(key("acme-2"), "acme·2");
    assert_eq!(key("acme"), "acme");
    assert_eq!(key("v2.0-rc"), "v2.0-rc");
    assert_eq!(numbered("acme", 1), "acme");
    assert_eq!(numbered("acme", 12), "acme·12");
}

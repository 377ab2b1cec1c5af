use super::*;

fn keep(file: &str, text: &str, by: &str) -> String {
    let change = FactChange::Keep { text: fact_text(text).unwrap(), date: "2026-11-16".into(), by: by.into() };
    changed(file, &change).unwrap()
}

fn forget(file: &str, text: &str) -> String {
    changed(file, &FactChange::Forget { text: text.into(), by_agent: false }).unwrap()
}

fn texts(file: &str) -> Vec<String> {
    facts(file).into_iter().map(|fact| fact.text).collect()
}

#[test]
fn m4_a_fact_is_one_bullet_with_its_origin_and_is_found_again() {
    let file = keep("", "Build with  make,\n\tnot with cargo", "ann");
    let [fact] = facts(&file).try_into().unwrap();
    assert_eq!(fact.text, "Build with make, not with cargo");
    assert_eq!((fact.date.as_deref(), fact.by.as_deref(), fact.is_agents()), (Some("2026-11-16"), Some("ann"), true));
    let line = format!("- Build with make, not with cargo <!-- taut: {} 2026-11-16 by ann -->\n", fact.id);
    assert!(file.starts_with("# ") && file.ends_with(&line), "{file}");
    assert_eq!(fact.id.len(), 4);
}

#[test]
fn m4_the_same_fact_twice_is_one_with_the_newer_date_and_a_persons_stays_a_persons() {
    let old = "- Ports: 8080 <!-- taut: abcd 2020-01-01 by you -->\n- x9 <!-- taut: efgh 2020-01-01 by bob -->\n";
    let file = keep(&keep(old, "ports:  8080.", "ann"), "x9", "ann");
    assert_eq!(
        file,
        "- Ports: 8080 <!-- taut: abcd 2026-11-16 by you -->\n- x9 <!-- taut: efgh 2026-11-16 by ann -->\n"
    );
    assert_eq!(keep("- by hand\n", "By hand", "ann"), "- by hand\n");
    assert_eq!(texts(&keep("- use C\n", "use C++", "ann")), ["use C", "use C++"]);
}

#[test]
fn m4_a_line_written_by_hand_is_a_fact_and_nothing_else_in_the_file_is_touched() {
    let file = "# Ours\r\n\r\nSome words.\n\n* one\n  goes on\n    - and on\n+ two <!-- why -->\n\n\
        ```\n- code\n```\n<!--\n- old\n-->\n1. number\n- - -\n-not\n- three";
    assert_eq!(texts(file), ["one goes on and on", "two", "three"]);
    assert!(facts(file).iter().all(|fact| fact.by.is_none() && fact.date.is_none() && !fact.is_agents()));
    let after = forget(file, "ONE goes on and on");
    assert_eq!(after, file.replace("* one\n  goes on\n    - and on\n", ""));
    let more = keep(file, "four", "you");
    assert!(more.starts_with(file) && texts(&more).len() == 4, "{more}");
    assert_eq!(forget(&more, "four"), format!("{file}\n"));
    assert_eq!(forget(file, "no such"), file);
}

#[test]
fn m4_a_text_cannot_write_a_comment_a_second_bullet_or_hidden_characters() {
    for (said, kept) in [
        ("x <!-- taut: aaaa 2026-01-01 by you --> y", "x < !-- taut: aaaa 2026-01-01 by you -- > y"),
        ("one\n- two\n# three", "one - two # three"),
        ("- with a mark", "with a mark"),
        ("--no-verify is forbidden", "--no-verify is forbidden"),
        ("a\u{202e}b", "a\\u{202e}b"),
    ] {
        assert_eq!(fact_text(said).unwrap(), kept, "{said}");
        let file = keep("", said, "ann");
        assert_eq!(texts(&file), [kept], "{file}");
        assert_eq!(facts(&file)[0].by.as_deref(), Some("ann"));
    }
    assert_eq!(fact_text(" \n-- "), Err(FactRefusal::Empty));
}

#[test]
fn m4_facts_are_bounded_in_length_number_and_bytes() {
    assert_eq!(fact_text(&"é".repeat(501)), Err(FactRefusal::TooLong(501)));
    assert!(fact_text(&"é".repeat(500)).is_ok());
    let change = |text: &str| FactChange::Keep { text: text.into(), date: "2026-11-16".into(), by: "ann".into() };
    let full = (0..MOST_FACTS).fold(String::new(), |file, n| keep(&file, &format!("fact {n}"), "ann"));
    assert_eq!(changed(&full, &change("one more")), Err(FactRefusal::TooMany));
    assert!(changed(&full, &change("fact 7")).is_ok(), "one that is known needs no room");
    let large = format!("- x\n{}\n", "y".repeat(LARGEST_FILE - 40));
    assert_eq!(changed(&large, &change("one more")), Err(FactRefusal::FileTooLarge));
    assert_eq!(changed("```\nunclosed\n", &change("one more")), Err(FactRefusal::Unclosed));
}

#[test]
fn m4_every_fact_has_an_id_of_its_own() {
    let full = (0..MOST_FACTS).fold(String::new(), |file, n| keep(&file, &format!("fact {n}"), "ann"));
    let copied = "- a <!-- taut: abcd 2026-11-16 by you -->\n- b <!-- taut: abcd 2026-11-16 by you -->\n- c\n- c\n";
    for file in [full.as_str(), copied] {
        let mut ids: Vec<String> = facts(file).into_iter().map(|fact| fact.id).collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "{file}");
    }
    assert_eq!(facts(copied)[0].id, "abcd");
    assert_eq!(facts("- by hand\n"), facts("# x\n\n- by hand\n"), "of its text alone");
}

/// What a person wrote beside a fact, below it or around it is theirs.
#[test]
fn m4_a_fact_that_is_noted_again_has_a_newer_date_and_every_other_byte_stays() {
    let file = |date: &str, by: &str| {
        format!(
            "* Ports: 8080 <!-- taut: abcd {date} by {by} --> <!-- my own remark -->\r\n  - why: the proxy\r\n\r\n\
             - x9  <!-- mine --> <!--taut: efgh {date}  by {by} so said the log--> !\n"
        )
    };
    let before = file("2020-01-01", "bob");
    for said in ["ports: 8080", "Ports: 8080 why: the proxy"] {
        let after = keep(&before, said, "bob");
        assert_eq!(after.replace("2026-11-16", "2020-01-01"), before, "{said}");
        assert_eq!(after.matches("2026-11-16").count(), 1, "{said}");
    }
    assert_eq!(keep(&keep(&before, "x9 !", "ann"), "ports: 8080", "ann"), file("2026-11-16", "ann"));
}

#[test]
fn m4_a_mark_at_the_beginning_of_the_file_hides_no_fact_and_stays() {
    let file = "\u{feff}- first\n- second\n";
    assert_eq!(texts(file), ["first", "second"]);
    assert_eq!(forget(file, "first"), "\u{feff}- second\n");
    assert_eq!(texts(&keep("\u{feff}", "one", "ann")), ["one"]);
}

//! `docs/requirements.md` is made from the list and the tests. `UPDATE_DOCS=1 cargo test -p gates` writes it.

use gates::{SourceFile, requirements_page};

#[test]
fn the_page_of_requirements_is_what_list_and_tests_say() {
    let file = gates::root().join("docs/requirements.md");
    let page = requirements_page(&gates::load(&gates::root()).expect("the tree can be read"));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == page, "docs/requirements.md is not what the tests say; run `UPDATE_DOCS=1 cargo test -p gates`");
}

#[test]
fn a_requirement_is_shown_with_every_test_that_names_it_and_one_without_says_so() {
    let test = |name: &str| format!("#[test]\nfn {name}() {{}}\n");
    let files = [
        SourceFile::new("b/tests/a.rs", &(test("d3_d4_both") + &test("not_d3") + "fn d3_no_test() {}\n")),
        SourceFile::new("a/src/b.rs", &test("d3_alone")),
        SourceFile::new("docs/c.md", &test("d3_in_prose")),
    ];
    let page = requirements_page(&files);
    let of = |id: &str| page.split(&format!("**{id}** ")).nth(1).unwrap().split("\n**").next().unwrap().to_owned();
    let listed = |id: &str| of(id).lines().filter(|line| line.starts_with("- ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(listed("D3"), ["- `a/src/b.rs`: `d3_alone`", "- `b/tests/a.rs`: `d3_d4_both`"]);
    assert_eq!(listed("D4"), ["- `b/tests/a.rs`: `d3_d4_both`"]);
    assert_eq!(listed("D1"), ["- no test claims it yet"]);
}

//! The real tree keeps to every gate.

use std::sync::OnceLock;

use gates::{ALL, SourceFile};

#[test]
fn the_core_is_pure() {
    passes("purity");
}

#[test]
fn the_fence_around_the_core_stands() {
    passes("fence");
}

#[test]
fn lints_are_expected_with_a_reason_and_never_allowed() {
    passes("levels");
}

#[test]
fn rooms_depend_only_where_they_may() {
    passes("rooms");
}

#[test]
fn names_say_something() {
    passes("names");
}

#[test]
fn a_type_has_one_definition_and_a_plain_name() {
    passes("types");
}

#[test]
fn every_gate_is_run_here() {
    let tests = include_str!("tree.rs");
    for gate in ALL {
        assert!(tests.contains(&format!("passes(\"{}\")", gate.name)), "{} is run nowhere", gate.name);
    }
}

#[test]
fn files_and_functions_are_small() {
    passes("size");
}

#[test]
fn docs_lead_somewhere() {
    passes("docs");
}

#[test]
fn i5_tests_that_tables_of_pages_name_exist() {
    passes("named_tests");
}

#[test]
fn claimed_requirements_exist() {
    passes("claims");
}

#[test]
fn nothing_unfinished_and_no_machine_is_committed() {
    passes("words");
}

#[test]
fn events_are_listed_once() {
    passes("events");
}

#[test]
fn an_agent_is_named_in_its_folder_and_the_table_only() {
    passes("agent_names");
}

#[test]
fn t6_only_the_printer_prints() {
    passes("output");
}

#[test]
fn t2_only_one_function_reads_what_others_control() {
    passes("reads");
}

#[test]
fn unsafe_code_stands_in_its_rooms() {
    passes("unsafe");
}

fn passes(name: &str) {
    static TREE: OnceLock<Vec<SourceFile>> = OnceLock::new();
    let files = TREE.get_or_init(|| gates::load(&gates::root()).expect("the tree can be read"));
    assert!(files.iter().any(|file| file.path == "core/model/src/lib.rs"), "this is not the tree");
    let gate = ALL.iter().find(|gate| gate.name == name).expect("a gate of this name");
    let found: Vec<_> = (gate.check)(files).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{} broken by\n  {}\n", name, found.join("\n  "));
}

//! Each gate fails on a bad example at the right place, and lets its good twin through.

use gates::{ALL, Exception, SourceFile, Violation, size_with};

const CLIPPY: &str = include_str!("../../../../core/clippy.toml");
const EVENTS: &str = include_str!("../../../../core/model/src/event.rs");
const DENY: &str = "#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]\n";

#[test]
fn every_gate_has_a_seed_here() {
    let seeds = include_str!("seeds.rs");
    for gate in ALL {
        assert!(seeds.contains(&format!("check(\"{}\"", gate.name)), "{} is not proven able to fail", gate.name);
    }
}

#[test]
fn purity_sees_every_way_out_of_the_core() {
    for bad in [
        "use std::fs;",
        "use std::{fmt, env};",
        "use std::{collections::BTreeMap, time::{Duration, Instant}};",
        "use std::time::*;",
        "fn a() { std::process::exit(1) }",
        "fn a() { std::thread::spawn(|| ()); }",
        "fn a() { println!(\"x\") }",
        "fn a() { dbg!(1); }",
        "type A = std::net::TcpStream;",
        "type A = std::time::SystemTime;",
    ] {
        assert_lines(&check("purity", &[("core/x/src/a.rs", bad)]), &[1], bad);
    }
    let good = "// std::fs\nuse std::time::Duration;\nconst A: &str = \"println!\";\n#[cfg(test)]\nmod tests {\n use std::fs;\n}";
    assert_lines(&check("purity", &[("core/x/src/a.rs", good)]), &[], good);
    assert_lines(&check("purity", &[("world/x/src/a.rs", "use std::fs;")]), &[], "the world may");
}

#[test]
fn fence_misses_each_ban_and_each_deny_line() {
    let good = [("core/clippy.toml", CLIPPY), ("core/x/src/lib.rs", DENY)];
    assert_lines(&check("fence", &good), &[], "as it stands");
    let torn = CLIPPY.replace("std::fs::read_dir", "std::fs::other");
    assert_lines(&check("fence", &[("core/clippy.toml", &torn)]), &[0], "a ban is gone");
    assert_lines(&check("fence", &[]), &[0], "the fence is gone");
    let short = DENY.replace("clippy::panic, ", "");
    assert_lines(&check("fence", &[good[0], ("core/x/src/lib.rs", &short)]), &[1], "a lint is gone");
    assert_lines(&check("fence", &[good[0], ("core/x/clippy.toml", "")]), &[0], "a second fence hides the first");
}

#[test]
fn levels_sees_allow_and_expect_without_reason() {
    for bad in [
        "#[allow(dead_code)]", "#![allow(dead_code)]", "#[cfg_attr(test, allow(dead_code))]",
        "#[ allow ( dead_code ) ]", "#[expect(dead_code)]",
    ] {
        assert_lines(&check("levels", &[("world/x/tests/a.rs", bad)]), &[1], bad);
    }
    for good in ["#[expect(dead_code, reason = \"why\")]", "// #[allow(x)]", "const A: &str = \"#[allow(x)]\";"] {
        assert_lines(&check("levels", &[("world/x/src/a.rs", good)]), &[], good);
    }
}

#[test]
fn rooms_sees_a_door_that_should_not_be() {
    let lock =
        "[[package]]\nname = \"innocent\"\ndependencies = [\"regex 1.0\", \"tokio\"]\n[[package]]\nname = \"regex\"\n";
    for (path, name, needs) in [
        ("core/model", "model", "[dependencies]\npolicy.workspace = true"),
        ("core/engine", "engine", "[dependencies]\nstore.workspace = true"),
        ("core/engine", "engine", "[dev-dependencies]\nstore.workspace = true"),
        ("core/engine", "engine", "[dependencies]\nlibc.workspace = true"),
        ("world/fast_client", "fast_client", "[build-dependencies]\nstore.workspace = true"),
        ("world/store", "store", "[target.'cfg(unix)'.dependencies]\nhost = { path = \"../host\" }"),
        ("world/store", "store", "[dependencies]\nharmless = { package = \"tokio\", version = \"1\" }"),
        ("world/daemon", "daemon", "[dependencies]\ninnocent = \"1\""),
        ("world/host", "host", "[dependencies]\ntestkit.workspace = true"),
        ("world/pipeline", "pipeline", "[dependencies]\nshared_store.workspace = true"),
        ("world/daemon", "daemon", "[dependencies]\nshared_store.workspace = true"),
        ("world/service", "service", "[dependencies]\ntokio-postgres = \"0.7\""),
        ("world/nowhere", "nowhere", ""),
        ("world/model", "model", ""),
    ] {
        let toml = format!("[package]\nname = \"{name}\"\n{needs}\n[lints]\nworkspace = true\n");
        let files = [("Cargo.lock", lock), (&*format!("{path}/Cargo.toml"), &*toml)];
        assert_lines(&check("rooms", &files), &[0], &toml);
    }
    let bare = "[package]\nname = \"host\"\n";
    assert_lines(&check("rooms", &[("world/host/Cargo.toml", bare)]), &[0], "no lints");
    let drawer = "[package]\nname = \"utils\"\n[lints]\nworkspace = true\n";
    assert_lines(&check("rooms", &[("core/utils/Cargo.toml", drawer)]), &[0, 0], "a drawer, and no room");
    assert_lines(&check("rooms", &[("world/store/src/a.rs", "async fn a() { b().await }")]), &[1, 1], "async");
    let fuzzer = "[package]\nname = \"bash-fuzz\"\n[dependencies]\nbash = { path = \"..\" }\n";
    assert_lines(&check("rooms", &[("core/bash/fuzz/Cargo.toml", fuzzer)]), &[], "a fuzzer of its room");
    let stray = format!("{fuzzer}policy.workspace = true\n");
    assert_lines(&check("rooms", &[("core/bash/fuzz/Cargo.toml", &stray)]), &[0], "a fuzzer of two rooms");
    let good = "[package]\nname = \"daemon\"\n[dependencies]\nentry.workspace = true\n[dev-dependencies]\ntaut.workspace = true\n[lints]\nworkspace = true\n";
    assert_lines(&check("rooms", &[("world/daemon/Cargo.toml", good)]), &[], good);
}

#[test]
fn names_sees_drawers_and_second_versions() {
    for bad in
        ["world/x/src/utils.rs", "world/x/src/helpers/a.rs", "core/x/src/decode_v2.rs", "core/x/src/decode_new.rs"]
    {
        assert_lines(&check("names", &[(bad, "//! x")]), &[0], bad);
    }
    assert_lines(&check("names", &[("core/x/src/git_index.rs", "//! x")]), &[], "a name that says something");
}

#[test]
fn types_sees_a_public_name_defined_twice_and_a_metaphor() {
    let twice =
        [("core/x/src/a.rs", "pub struct Row;"), ("world/y/src/b.rs", "use z;\n#[derive(Debug)]\npub enum Row {}")];
    assert_lines(&check("types", &twice), &[3], "two crates");
    let twice = [("core/x/src/a.rs", "pub type Row = u8;\npub trait Row {}")];
    assert_lines(&check("types", &twice), &[2], "one file");
    for bad in ["struct Desk;", "pub(crate) enum WakeLetter {}"] {
        assert_lines(&check("types", &[("core/x/src/a.rs", bad)]), &[1], bad);
    }
    assert_lines(&check("types", &[("core/x/src/law.rs", "//! x")]), &[0], "a file's name");
    let good = [
        ("core/x/src/a.rs", "pub struct Row;\nimpl Iterator for Row {\n    type Item = u8;\n}\npub struct Lawful;"),
        ("core/x/src/b.rs", "struct Row;\nimpl Iterator for Row {\n    type Item = u8;\n}"),
        ("core/x/src/c.rs", "#[cfg(test)]\nmod tests {\n    pub struct Row;\n}\n// struct Desk"),
        ("core/x/tests/d.rs", "pub struct Row;"),
    ];
    assert_lines(&check("types", &good), &[], "private, nested, of tests");
}

#[test]
fn size_sees_long_files_functions_lines_and_mains() {
    let body = "    a();\n".repeat(79);
    let function = format!("\nfn long() {{\n{body}}}\n");
    assert_lines(&check("size", &[("world/x/tests/a.rs", &function)]), &[2], "a function of 81 lines");
    let file = "//! x\n".repeat(601);
    assert_lines(&check("size", &[("world/x/src/a.rs", &file)]), &[0], "a file of 601 lines");
    let tests = format!("//! x\n#[cfg(test)]\nmod tests {{\n{}}}\n", "    const A: u8 = 0;\n".repeat(700));
    assert_lines(&check("size", &[("world/x/src/a.rs", &tests)]), &[], "tests do not count");
    let wide = format!("//! x\nconst A: &str = \"{}\";\n", "ä".repeat(160));
    assert_lines(&check("size", &[("world/x/tests/a.rs", &wide)]), &[2], "a line that no screen shows");
    let main = "mod a;\n".repeat(16);
    assert_lines(&check("size", &[("world/cli/src/main.rs", &main)]), &[0], "a main of 16 lines");
}

#[test]
fn size_exceptions_may_only_shrink() {
    let file = SourceFile::new("world/x/src/a.rs", &"//! x\n".repeat(610));
    let excuse = |lines| [Exception { path: "world/x/src/a.rs", function: "", lines }];
    let files = std::slice::from_ref(&file);
    assert_lines(&size_with(files, &excuse(610)), &[], "excused");
    assert_lines(&size_with(files, &excuse(700)), &[0, 0], "it has shrunk since");
    assert_lines(&size_with(&[], &excuse(610)), &[0], "no longer needed");
}

#[test]
fn docs_sees_long_readmes_dead_links_silent_files_and_diaries() {
    let long = "x\n".repeat(151);
    assert_lines(&check("docs", &[("README.md", &long)]), &[151], "151 lines");
    assert_lines(&check("docs", &[("docs/a.md", "x\n[b](b.md)")]), &[2], "a dead link");
    assert_lines(&check("docs", &[("docs/a.md", "[b](../../b.md)")]), &[1], "a link out of the tree");
    let two = |to: &'static str| [("docs/a.md", "x\n[b](b.md#c)"), ("docs/b.md", to)];
    assert_lines(&check("docs", &two("## C")), &[], "a link that leads");
    assert_lines(&check("docs", &two("## D")), &[2], "a heading that is not there");
    let contents = |to: &'static str| [("docs/SUMMARY.md", to), ("docs/a.md", "")];
    assert_lines(&check("docs", &contents("- [a](a.md)")), &[], "every page is in the contents");
    assert_lines(&check("docs", &contents("- nothing")), &[0], "a page is not in the contents");
    assert_lines(&check("docs", &[("world/x/src/a.rs", "use b;")]), &[1], "says nothing");
    assert_lines(&check("docs", &[("world/x/tests/a.rs", "use b;")]), &[], "a test may");
    for diary in ["PROGRESS.md", "docs/design/my-notes.md", "TODO", "notes.txt", "IMPLEMENTATION_SUMMARY.md"] {
        assert_lines(&check("docs", &[(diary, "")]), &[0], diary);
    }
}

#[test]
fn named_tests_sees_tests_in_tables_that_nobody_wrote() {
    let tests = "#[test]\nfn short() {}\n#[test]\nfn q1_it_goes_on_as_before() {}\nfn a_helper_that_tests_nothing() {}";
    let page =
        |row: &str| format!("| what | the test |\n|---|---|\n| `not_one` | {row} |\n\n| `short` | `max_age` |\n");
    let found = |row: &str| check("named_tests", &[("docs/a.md", &page(row)), ("world/x/tests/a.rs", tests)]);
    for good in ["`short`", "`short`, `q1_it_goes_on_as_before`", "`taut top`", "one"] {
        assert_lines(&found(good), &[], good);
    }
    for bad in ["`shorter`", "`short`, `q1_it_goes_on_as_after`", "`a_helper_that_tests_nothing`"] {
        assert_lines(&found(bad), &[3], bad);
    }
    let elsewhere = "words `it_goes_on_as_before`\n\n| a | b |\n|---|---|\n| `it_goes_on_as_before` | c |\n";
    assert_lines(&check("named_tests", &[("docs/a.md", elsewhere)]), &[5], "a long name in any table");
}

#[test]
fn claims_sees_requirements_that_do_not_exist() {
    for bad in ["d10_x", "z1_x", "g16_x", "d3_q9_x", "d0_x"] {
        let text = format!("#[test]\nfn {bad}() {{}}");
        assert_lines(&check("claims", &[("core/x/src/a.rs", &text)]), &[2], bad);
    }
    let good = "#[test]\nfn d3_g0_x() {}\n#[test]\nfn utf8_x() {}\nfn z1_x() {}\n";
    assert_lines(&check("claims", &[("core/x/src/a.rs", good)]), &[], good);
}

#[test]
fn words_sees_unfinished_work_and_machines() {
    for bad in [
        "fn a() { todo!() }",
        "fn a() { unimplemented!(\"x\") }",
        "#[ignore]",
        "#[ignore = \"slow\"]",
        "// FIXME x",
        "const A: &str = \"/workspace/x\";",
        concat!("const A: &str = \"/", "work/x\";"),
        "// see /root/.cargo",
        "// https://Artifactory.example.org",
    ] {
        assert_lines(&check("words", &[("world/x/src/a.rs", bad)]), &[1], bad);
    }
    for good in ["let a = \"todo!(\";", "// ~/workspace/x and /home/me/workspace/x", "rm -rf /root"] {
        assert_lines(&check("words", &[("world/x/src/a.rs", good)]), &[], good);
    }
}

#[test]
fn events_sees_a_second_list() {
    let names = "Setup SessionStart InstructionsLoaded UserPromptSubmit UserPromptExpansion PreToolUse PermissionRequest \
                 PermissionDenied PostToolUse PostToolUseFailure PostToolBatch MessageDisplay Notification SubagentStart \
                 SubagentStop";
    let listed = format!("//! x\nconst ALL: &str = \"{names}\";");
    let table = ("core/model/src/event.rs", EVENTS);
    assert_lines(&check("events", &[table, ("world/x/src/a.rs", &listed)]), &[0], "a second list");
    assert_lines(&check("events", &[table, ("world/x/src/a.rs", &format!("//! {names}"))]), &[], "only told of");
    assert_lines(&check("events", &[table, ("core/agents/src/x/a.rs", &listed)]), &[], "a dialect may");
    assert_lines(&check("events", &[]), &[0], "the table is gone");
    assert_lines(&check("events", &[("core/model/src/event.rs", "")]), &[0], "the table is empty");
}

#[test]
fn agent_names_sees_an_agent_outside_its_folder() {
    for bad in [
        "const A: &str = \"claude-code\";", "fn a() { env.get(\"CLAUDE_PID\"); }", "use agents::claude_code::DIALECT;",
        "fn a() { path.join(\".codex/hooks.json\"); }", "struct GeminiCall;",
    ] {
        assert_lines(&check("agent_names", &[("world/x/src/a.rs", bad)]), &[1], bad);
        assert_lines(&check("agent_names", &[("core/agents/src/dialect.rs", bad)]), &[1], bad);
        for path in ["core/agents/src/x/a.rs", "core/agents/src/lib.rs", "core/x/tests/a.rs", "docs/a.rs", "dev/x/a.rs"]
        {
            assert_lines(&check("agent_names", &[(path, bad)]), &[], path);
        }
    }
    assert_lines(&check("agent_names", &[("world/x/src/a.js", "\nlet a = 'claude';")]), &[2], "a script");
    let good = "// Claude Code\nfn ngrok() {}\n#[cfg(test)]\nmod tests { const A: &str = \"claude\"; }";
    assert_lines(&check("agent_names", &[("world/x/src/a.rs", good)]), &[], good);
    let listed = "core/policy/src/guarded_keys.rs";
    assert_lines(&check("agent_names", &[(listed, "const A: &str = \".claude\";")]), &[], "on the list");
    assert_lines(&check("agent_names", &[(listed, "fn a() {}")]), &[0], "no longer needed");
}

#[test]
fn reads_sees_a_file_that_is_opened_by_hand() {
    for bad in [
        "fn a() { std::fs::read(path) }", "fn a() { fs::read_to_string (path) }",
        "fn a() { let f = File::open(path); }", "fn a() { std::fs::File::open(path) }",
    ] {
        assert_lines(&check("reads", &[("world/x/src/a.rs", bad)]), &[1], bad);
    }
    let good = "fn a() { outside::read(p, r); fs::read_dir(p); file.read(b); }\n#[cfg(test)]\nmod tests { fn b() { fs::read(p); } }";
    assert_lines(&check("reads", &[("world/x/src/a.rs", good)]), &[], good);
    assert_lines(&check("reads", &[("world/host/src/paths.rs", "fn a() { File::open(p) }")]), &[], "on the list");
    assert_lines(&check("reads", &[("world/host/src/paths.rs", "fn a() {}")]), &[0], "no longer needed");
}

#[test]
fn output_sees_every_way_around_the_printer() {
    for bad in [
        "fn a() { println!(\"x\") }", "fn a() { eprint!(\"x\") }", "fn a() { dbg!(1); }",
        "fn a() { std::io::stdout().flush(); }", "fn a() { write!(stderr(), \"x\") }", "fn a() { io :: stdout ( ) }",
        "use std::io::stdout;", "use std::io::{Write, stderr as out};", "fn a(out: std::io::Stdout) {}",
        "const A: fn() -> std::io::Stderr = b;", "fn a() { printer.line(Text::of(format_args!(\"{b}\"))) }",
    ] {
        assert_lines(&check("output", &[("world/x/src/a.rs", bad)]), &[1], bad);
    }
    let good = "use std::io::{Read, Write};\n\
                fn a() { b.stdout(Stdio::null()).stderr(c); d.stdout; answer.stderr() }\n// println!\n#[cfg(test)]\nmod tests { fn a() { println!() } }";
    assert_lines(&check("output", &[("world/x/src/a.rs", good)]), &[], good);
    for path in ["world/x/tests/a.rs", "world/x/build.rs", "world/x/examples/a.rs", "dev/x/src/a.rs"] {
        assert_lines(&check("output", &[(path, "fn a() { println!() }")]), &[], path);
    }
    assert_lines(&check("output", &[("world/cli/src/hook/mod.rs", "fn a() { io::stdout() }")]), &[], "on the list");
    assert_lines(&check("output", &[("world/cli/src/hook/mod.rs", "fn a() {}")]), &[0], "no longer needed");
}

#[test]
fn unsafe_sees_every_kind_of_it_outside_its_rooms() {
    for bad in ["fn a() { unsafe { b() } }", "unsafe fn a() {}", "unsafe impl Send for A {}", "#[unsafe(no_mangle)]"] {
        for path in ["world/host/src/a.rs", "core/x/src/a.rs", "dev/bench/src/a.rs"] {
            assert_lines(&check("unsafe", &[(path, bad)]), &[1], bad);
        }
        for path in ["world/sys/src/a.rs", "world/fast_client/src/a.rs", "dev/testkit/src/a.rs", "world/x/tests/a.rs"] {
            assert_lines(&check("unsafe", &[(path, bad)]), &[], path);
        }
    }
    let good = "// unsafe\nfn a() { \"unsafe\" }\n#[cfg(test)]\nmod tests { fn b() { unsafe { c() } } }";
    assert_lines(&check("unsafe", &[("world/x/src/a.rs", good)]), &[], good);
}

fn check(gate: &str, files: &[(&str, &str)]) -> Vec<Violation> {
    let files: Vec<_> = files.iter().map(|(path, text)| SourceFile::new(path, text)).collect();
    let gate = ALL.iter().find(|known| known.name == gate).expect("a gate of this name");
    (gate.check)(&files)
}

fn assert_lines(found: &[Violation], lines: &[usize], about: &str) {
    let at: Vec<_> = found.iter().map(|violation| violation.line).collect();
    assert_eq!(at, lines, "{about}: {found:?}");
}

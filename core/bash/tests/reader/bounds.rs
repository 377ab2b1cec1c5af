//! Bounds: whatever the line, the reader comes back, on a small stack, and says when it stopped.

use crate::common;
use bash::Reading;

/// Reads on a stack smaller than the one a hook's thread has. Code that is not optimised takes four times as much.
fn on_a_small_stack(line: String) -> Reading {
    let size = if cfg!(debug_assertions) { 2 << 20 } else { 512 << 10 };
    let thread = std::thread::Builder::new().stack_size(size);
    thread.spawn(move || common::read(&line)).unwrap().join().unwrap()
}

fn nested(open: &str, inside: &str, close: &str, levels: usize) -> String {
    format!("{}{inside}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn deep_nesting_is_refused_and_not_passed() {
    let pairs = [
        ("( ", ")"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("`", "`"),
        ("${x:-", "}"),
        ("if a; then ", "; fi"),
        ("while a; do ", "; done"),
        ("case a in a) ", ";; esac"),
        ("$((", "))"),
        ("<(", ")"),
        ("{a,", "}"),
        ("[[ ! ", " ]]"),
        ("f() { ", "; }; f"),
        ("bash -c \"", "\""),
        ("eval ", ""),
        ("sudo ", ""),
        ("env ", ""),
        ("find . -exec ", ""),
        ("xargs ", ""),
        ("! ", ""),
        ("time ", ""),
        ("x=(", ")"),
        ("a | ", "b"),
        ("a && ", "b"),
        ("python3 -c 'f(", ")'"),
        ("cat <<A\n$(", ")\nA\n"),
        ("((", "))"),
    ];
    for (open, close) in pairs {
        for levels in [10, 45, 500, 5000] {
            for close in [close, ""] {
                let line = nested(open, "rm -rf /", close, levels);
                let reading = on_a_small_stack(line);
                let seen = reading.commands.iter().any(|command| common::shown(command).contains("rm -rf /"));
                let data = matches!(
                    open,
                    "x=("
                        | "[[ ! "
                        | "{a,"
                        | "python3 -c 'f("
                        | "(("
                        | "$(("
                        | "f() { "
                        | "${x:-"
                        | "`"
                        | "bash -c \""
                        | "cat <<A\n$("
                );
                assert!(seen || data || !reading.troubles.is_empty(), "{levels} × {open:?} passed in silence");
            }
        }
    }
}

#[test]
fn a_hundred_thousand_levels_are_read_on_a_small_stack() {
    for (open, close) in [
        ("(", ")"),
        ("( ", " )"),
        ("$(", ")"),
        ("{ ", "; }"),
        ("\"$(", ")\""),
        ("if a; then ", "; fi"),
        ("`", "`"),
        ("${x:-", "}"),
        ("$((", "))"),
        ("<(", ")"),
        ("case a in b) ", ";; esac"),
        ("case a in @(", ")"),
        ("f() { ", "; }"),
        ("[[ ( ", " ) ]]"),
        ("! ", ""),
        ("a && ", ""),
        ("a | ", ""),
    ] {
        for close in [close, ""] {
            let reading = on_a_small_stack(nested(open, "rm -rf /", close, 100_000));
            let seen = reading.commands.iter().any(|command| common::shown(command).contains("rm -rf /"));
            assert!(seen || !reading.troubles.is_empty(), "100000 × {open:?} passed in silence");
        }
    }
}

#[test]
fn a_pattern_that_the_parser_would_try_without_end_is_not_given_to_it() {
    // Each level doubled the time: thirty took minutes.
    for close in ["", ")"] {
        let reading = on_a_small_stack(nested("case a in @(", "rm -rf /", close, 200));
        assert!(reading.commands.iter().any(|command| common::shown(command).contains("rm -rf /")));
    }
}

#[test]
fn a_long_line_of_plain_commands_is_read_to_its_end() {
    let reading = on_a_small_stack("a;".repeat(32 << 10) + "rm -rf /");
    assert_eq!((reading.commands.len(), reading.cut, reading.troubles.len()), ((32 << 10) + 1, false, 0));
}

#[test]
fn what_is_written_out_behind_a_bound_is_found() {
    let doubling = format!("x=aaaaaaaaaaaaaaaa;{} rm $x", "x=$x$x$x$x;".repeat(200));
    let deep = format!("cd {}", "a/".repeat(5_000));
    for long in [doubling, deep] {
        let line = format!("{long}\nsudo rm -rf \"/\" $(dd of=/dev/sda) ~/x > /etc/passwd");
        let reading = on_a_small_stack(line);
        assert!(reading.cut);
        let shown: Vec<String> = reading.commands.iter().map(common::shown).collect();
        for wanted in ["rm -rf / ", "dd of=/dev/sda"] {
            assert!(shown.iter().any(|command| command.contains(wanted)), "{wanted}: {shown:?}");
        }
        let mut targets = reading.commands.iter().flat_map(|command| &command.redirects);
        assert!(targets.any(|redirect| redirect.target.shown() == "/etc/passwd"));
    }
}

#[test]
fn growth_is_cut_off_with_a_trouble() {
    let doubling = format!("x=aaaaaaaaaaaaaaaa;{} rm $x", "x=$x$x$x$x;".repeat(200));
    let calls: String =
        (0..60).map(|at| format!("f{at}() {{ f{next}; f{next}; }};", next = at + 1)).collect::<String>() + "f0";
    let loops = "for a in {1..200}; do ".repeat(5) + "x" + &"; done".repeat(5);
    let silent = "for a in {1..200}; do ".repeat(5) + "[[ x ]]" + &"; done".repeat(5);
    let braces = format!("rm {}", "{a,b}".repeat(40));
    let feeding = format!("echo '{}'{}", "a ".repeat(20_000), "|cat".repeat(900));
    let echoes = format!("x='{}';{}", "a ".repeat(10_000), "y=$(echo $x$x);".repeat(2_000));
    for line in [doubling, calls, loops, silent, braces, echoes] {
        let start: String = line.chars().take(40).collect();
        let reading = on_a_small_stack(line);
        assert!(!reading.troubles.is_empty(), "{start:?} grew without trouble");
        assert!(reading.commands.len() <= 100_000);
    }
    assert!(on_a_small_stack(feeding).commands.len() <= 1_000);
}

#[test]
fn the_report_grows_with_the_line_and_not_faster() {
    for unit in [
        "rm x;", "echo \"$(a)\" ", "x=1;", "a | b;", "cat <<E\n$(a)\nE\n", "python3 -c 'import os; os.remove(1)';",
        "sudo rm x;",
    ] {
        let count = |times: usize| on_a_small_stack(unit.repeat(times)).commands.len();
        let (small, large) = (count(50), count(200));
        assert!(large <= small * 4 + 8, "{unit:?}: {small} commands for 50, {large} for 200");
    }
}

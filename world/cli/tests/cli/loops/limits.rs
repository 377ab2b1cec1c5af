//! Limits that hold: usage limits, overload, logins, time, size.

use super::parallel::{CLAIM, with_tasks};
use super::queue::HOOK;
use super::{FINE, WORK};
use testkit::stage::{Stage, lives, summary};

#[test]
fn l6_a_usage_limit_is_waited_out_until_its_reset_and_not_counted() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(
        r#"if [ ! -e .git/limited ]; then touch .git/limited
        echo '{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":'$(( $(date +%s) + 2 ))'}}}}'
        echo '{{"type":"result","is_error":true,"api_error_status":429,"result":"limit"}}'; exit 1; fi
        date +%s > .git/went-on; {WORK} {FINE}"#
    ));
    let done = stage.build(&["-n", "3"]);
    assert_eq!(
        (summary(&done)["finish"].as_str(), summary(&done)["iterations"].as_u64()),
        (Some("complete"), Some(3)),
        "{}",
        done.stderr_text()
    );
}

#[test]
fn l6_overload_is_backed_off_and_not_counted() {
    let stage = Stage::with_plan();
    stage.write(".taut/config.toml", "[loop]\nmax_backoff = \"1s\"\n");
    stage.client_does(&format!(
        r#"if [ ! -e .git/o ]; then touch .git/o; echo '{{"type":"result","is_error":true,"api_error_status":529}}'; exit 1; fi; {WORK} {FINE}"#
    ));
    let done = stage.build(&[]);
    assert_eq!(
        (summary(&done)["finish"].as_str(), summary(&done)["iterations"].as_u64()),
        (Some("complete"), Some(3)),
        "{}",
        done.stderr_text()
    );
}

/// Whether the hook of the client's end or the loop lets the task go first, alone or as one of several workers.
#[test]
fn l6_q5_an_overload_counts_against_no_task_however_it_is_let_go() {
    for workers in ["1", "2"] {
        let stage = with_tasks(&["t1"]);
        stage.write(".taut/config.toml", "[loop]\nmax_backoff = \"0s\"\n");
        stage.client_does(&format!(
            r#"{HOOK} hook SessionStart '"source":"startup"' > /dev/null; {CLAIM}
            tries=$(git rev-parse --git-common-dir)/tries; echo x >> $tries; n=$(wc -l < $tries)
            taut task show t1 --json > $(git rev-parse --git-common-dir)/shown$n
            if [ $n -le 4 ]; then [ $((n % 2)) = 0 ] || hook SessionEnd '"reason":"other"' > /dev/null
            echo '{{"type":"result","is_error":true,"api_error_status":529}}'; exit 1; fi
            echo x > x.txt; git add -A; git commit -qm x; taut task done t1; {FINE}"#
        ));
        let done = stage.build(&["--workers", workers]);
        assert_eq!(summary(&done)["finish"], "complete", "{workers}: {}", done.stderr_text());
        assert_eq!(stage.read(".git/tries").lines().count(), 5, "{workers}");
        let last: serde_json::Value = serde_json::from_str(&stage.read(".git/shown5")).unwrap();
        let counted = (&last["releases"], &last["retry_count"], &last["failures"]);
        assert_eq!(counted, (&0.into(), &0.into(), &0.into()), "{workers}: {last}");
    }
}

#[test]
fn l6_a_login_that_failed_stops_with_a_clear_text() {
    let stage = Stage::with_plan();
    stage.client_does(
        r#"echo '{"type":"assistant","error":"authentication_failed","message":{}}'
        echo '{"type":"result","is_error":true,"api_error_status":401,"result":"Please run /login"}'; exit 1"#,
    );
    let done = stage.build(&["--max-failures", "5"]);
    assert_eq!((summary(&done)["finish"].as_str(), summary(&done)["iterations"].as_u64()), (Some("error"), Some(1)));
    assert!(summary(&done)["why"].as_str().unwrap().contains("Log in"), "{}", summary(&done));
}

#[test]
fn l6_words_of_a_limit_in_plain_output_are_a_failure_and_no_limit() {
    let stage = Stage::with_plan();
    stage.client_does("echo \"You've hit your usage limit, 429 rate_limit, overloaded\"; exit 1");
    assert_eq!(stage.build(&[]).code(), Some(20));
}

#[test]
fn l6_the_wall_time_holds_for_an_agent_that_hangs_and_ignores_term() {
    let stage = Stage::with_plan();
    stage.client_does("trap '' TERM; echo $$ > .git/pid; while :; do sleep 0.1; done");
    let done = stage.build(&["--max-time", "1s"]);
    assert_eq!((summary(&done)["finish"].as_str(), done.code()), (Some("limit"), Some(12)));
    assert!(!lives(&stage.read(".git/pid")));
}

#[test]
fn l6_a_limit_that_resets_after_the_time_allowed_ends_with_12() {
    let stage = Stage::with_plan();
    stage.client_does(
        r#"echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":99999999999}}'; exit 1"#,
    );
    assert_eq!(stage.build(&["--max-time", "1h"]).code(), Some(12));
}

#[test]
fn l8_a_hundred_megabytes_of_output_are_logged_and_do_not_fill_the_memory() {
    let stage = Stage::with_plan();
    stage.client_does(&format!(
        "head -c 60000000 /dev/zero | tr '\\0' x; echo; \
         yes 'a line of output that is nothing special' | head -c 40000000; echo; {WORK} {FINE}"
    ));
    let done = stage.build(&["-n", "1"]);
    assert_eq!((done.code(), summary(&done)["cost_usd"].as_f64()), (Some(10), Some(0.25)), "{}", done.stderr_text());
    let log = format!("{}/iteration-0001.log", summary(&done)["logs"].as_str().unwrap());
    assert!(std::fs::metadata(log).unwrap().len() >= 100_000_000);
}

#[test]
fn l6_a_child_the_agent_left_behind_does_not_hold_the_loop_up() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("sleep 30 & {WORK} {FINE}"));
    assert_eq!(stage.build(&[]).code(), Some(0));
}

/// I7: whoever misspells a limit does not get a loop without one.
#[test]
fn i7_a_loop_whose_limits_cannot_be_read_does_not_start() {
    for (config, said) in [
        ("[loop]\nmax_cst = 5.0\n", "config.toml:2:1: unknown key `max_cst` (did you mean `max_cost`?)"),
        ("[loop]\nmax_cost = \"lots\"\n", "config.toml:2:12: `max_cost` is a number"),
        ("[loop]\nmax_time = \"potato\"\n", "config.toml:2:12: `max_time` is a length of time"),
        ("[loop]\nmax_iterations = 3\n[hooks]\ntimout = 3\n", "config.toml:4:1: unknown key `timout`"),
        ("[lop]\nmax_cost = 5\n", "config.toml:1:2: unknown key `lop` (did you mean `loop`?)"),
        ("[loop]\nmax_cost = = 5\n", "config.toml:2:"),
    ] {
        let stage = Stage::with_plan();
        stage.write(".taut/config.toml", config);
        stage.client_does(&format!("touch .git/ran; {WORK} {FINE}"));
        for more in [&[][..], &["--workers", "2"], &["--dry-run"]] {
            let done = stage.build(more);
            let error = done.stderr_text();
            assert_eq!(done.code(), Some(1), "{config}: {error}");
            assert!(error.contains(said) && error.contains("taut policy check"), "{config}: {error}");
            assert!(!stage.path(".git/ran").exists(), "{config}");
        }
        // A mistake elsewhere is no limit of the loop.
        stage.write(".taut/config.toml", "[context]\nwarning = true\n");
        assert_eq!(stage.build(&[]).code(), Some(0));
    }
}

#[test]
fn i7_a_limit_of_the_environment_or_of_config_sh_that_cannot_be_read_is_not_no_limit() {
    let stage = Stage::with_plan();
    stage.client_does(&format!("touch .git/ran; {WORK} {FINE}"));
    let done = stage.build_with(&[], &[("FRESHER_MAX_COST", "lots")]);
    assert_eq!(done.code(), Some(1));
    assert!(
        done.stderr_text().contains("FRESHER_MAX_COST=lots in the environment cannot be read"),
        "{}",
        done.stderr_text()
    );
    for typed in ["nan", "inf", "-1", "lots"] {
        let done = stage.build(&[&format!("--max-cost={typed}")]);
        assert_eq!(done.code(), Some(2), "{typed}: {}", done.stderr_text());
    }
    stage.write(".fresher/config.sh", "export FRESHER_MAX_ITERATIONS=ten\n");
    let done = stage.build(&[]);
    assert_eq!(done.code(), Some(1), "{}", done.stderr_text());
    assert!(done.stderr_text().contains("FRESHER_MAX_ITERATIONS=ten in .fresher/config.sh"), "{}", done.stderr_text());
    assert!(!stage.path(".git/ran").exists());
}

//! Each agent that can be started, in a loop: a program of its name prints what the agent itself once printed.

use testkit::stage::{Stage, put_program, summary};

/// The agent, its program, its stream, and what it said last.
const AGENTS: [(&str, &str, &str, &str); 11] = [
    ("claude-code", "claude", "claude-code/other/stream.edits.jsonl", "bye"),
    ("codex", "codex", "codex/stream.jsonl", "bye"),
    ("copilot", "copilot", "copilot/stream.jsonl", "bye"),
    ("gemini", "gemini", "gemini/other/stream.jsonl", "bye2"),
    ("qwen", "qwen", "qwen/other/stream.jsonl", "bye"),
    ("droid", "droid", "droid/stream.jsonl", "All is done."),
    ("grok", "grok", "grok/stream.jsonl", "All is done."),
    ("opencode", "opencode", "opencode/stream.jsonl", "all done"),
    ("pi", "pi", "pi/stream.jsonl", "bye"),
    ("kimi-code", "kimi", "kimi-code/stream.jsonl", "bye"),
    ("vibe", "vibe", "vibe/stream.jsonl", "bye"),
];

/// Those that tell what they used, or what it cost.
const TOLD: [(&str, u64); 5] =
    [("claude-code", 22_400), ("codex", 4_800), ("gemini", 15_000), ("qwen", 12_000), ("droid", 72_015)];

#[test]
fn l1_every_agent_with_a_line_of_its_own_runs_through_the_loop() {
    let corpus = format!("{}/../../corpus", env!("CARGO_MANIFEST_DIR"));
    for (agent, program, stream, said) in AGENTS {
        let stage = Stage::with_plan();
        let script = format!(
            "#!/bin/bash\nprintf '%s\\n' \"$@\" > .git/args; cat > .git/stdin\n\
             sed -i 's/- \\[ \\]/- [x]/' IMPLEMENTATION_PLAN.md; git commit -qam work; cat '{corpus}/{stream}'\n"
        );
        put_program(&stage.sandbox.root().join("bin").join(program), &script);
        stage.write(".taut/config.toml", &format!("[loop]\nagent = \"{agent}\"\n"));
        let done = stage.build(&["--permissions", "edits"]);
        let sum = summary(&done);
        assert_eq!(sum["finish"], "complete", "{agent}: {}", done.stderr_text());
        assert_eq!((sum["iterations"].as_u64(), sum["commits"].as_u64()), (Some(1), Some(1)), "{agent}");
        let cost = (sum["cost_usd"].as_f64().unwrap() * 1e6).round() as u64;
        if let Some((_, told)) = TOLD.iter().find(|(name, _)| *name == agent) {
            assert_eq!(cost, *told, "{agent}");
        }
        let log = std::fs::read_to_string(format!("{}/iteration-0001.log", sum["logs"].as_str().unwrap())).unwrap();
        assert!(log.contains(said), "{agent}");
        let args = stage.read(".git/args");
        assert!(!args.contains("--yolo") && !args.contains("dangerous"), "{agent}: {args}");
    }
}

#[test]
fn l6_the_failures_of_every_agent_are_told_apart() {
    let corpus = format!("{}/../../corpus", env!("CARGO_MANIFEST_DIR"));
    for (agent, program, stream) in [
        ("codex", "codex", "codex/stream.401.jsonl"),
        ("gemini", "gemini", "gemini/other/stream.refused.jsonl"),
        ("qwen", "qwen", "qwen/other/stream.refused.jsonl"),
        ("droid", "droid", "droid/stream.refused.jsonl"),
        ("grok", "grok", "grok/stream.refused.jsonl"),
        ("opencode", "opencode", "opencode/stream.refused.jsonl"),
        ("pi", "pi", "pi/stream.refused.jsonl"),
    ] {
        let stage = Stage::with_plan();
        let script = format!("#!/bin/bash\ncat > /dev/null; cat '{corpus}/{stream}'; exit 1\n");
        put_program(&stage.sandbox.root().join("bin").join(program), &script);
        let done = stage.build(&["--agent", agent, "--max-failures", "5"]);
        let sum = summary(&done);
        assert_eq!((sum["finish"].as_str(), sum["iterations"].as_u64()), (Some("error"), Some(1)), "{agent}: {sum}");
        assert!(sum["why"].as_str().unwrap().contains("may not work"), "{agent}: {sum}");
    }
}

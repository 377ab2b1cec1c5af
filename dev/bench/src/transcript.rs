//! Whether a hook that reads the end of a transcript costs the same whatever
//! the transcript's size, and what reading it costs at all.

use crate::home::BenchHome;
use crate::spawn::timed;
use crate::times::{Times, ratio, row};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};

pub fn run(quick: bool) -> std::result::Result<(), String> {
    measure(if quick { 150 } else { 1_000 }).map_err(|error| error.to_string())
}

fn measure(rounds: usize) -> Result<()> {
    let house = crate::house().map_err(std::io::Error::other)?;
    std::fs::create_dir_all(house.project().join(".taut"))?;
    std::fs::write(house.project().join(".taut/config.toml"), "[context]\nusage = true\n")?;
    let small = written(&house, 200 << 10)?;
    let large = written(&house, 200 << 20)?;
    let absent = house.home().join("none.jsonl");
    house.daemon("start")?;
    for event in ["PostToolUse", "UserPromptSubmit"] {
        let [mut base, mut none, mut with_small, mut with_large] = std::array::from_fn(|_| Times::default());
        let [mut alone_small, mut alone_large] = std::array::from_fn(|_| Times::default());
        for _ in 0..rounds {
            let call = |path: &Path| house.call_of(|nth| payload(&house, event, path, nth));
            timed(&mut house.baseline(&call(&small)?)?, &mut base)?;
            timed(&mut house.hook(&call(&absent)?)?, &mut none)?;
            timed(&mut house.hook(&call(&small)?)?, &mut with_small)?;
            timed(&mut house.hook(&call(&large)?)?, &mut with_large)?;
            timed(house.hook(&call(&small)?)?.env("TAUT_NO_DAEMON", "1"), &mut alone_small)?;
            timed(house.hook(&call(&large)?)?.env("TAUT_NO_DAEMON", "1"), &mut alone_large)?;
        }
        row(&format!("{event}, no transcript"), &none, &base);
        row(&format!("{event}, 200 KB"), &with_small, &base);
        row(&format!("{event}, 200 MB"), &with_large, &base);
        row(&format!("{event}, 200 KB, in process"), &alone_small, &base);
        row(&format!("{event}, 200 MB, in process"), &alone_large, &base);
        println!(
            "growth 200 KB to 200 MB: {:.2} x through the daemon, {:.2} x in process; reading at all: {:.2} x",
            ratio(with_large.p50(), with_small.p50()),
            ratio(alone_large.p50(), alone_small.p50()),
            ratio(with_small.p50(), none.p50())
        );
    }
    Ok(())
}

fn payload(house: &BenchHome, event: &str, transcript: &Path, nth: u64) -> Value {
    let mut payload = house.payload("ls", nth);
    payload["hook_event_name"] = json!(event);
    payload["transcript_path"] = json!(transcript);
    payload["prompt"] = json!("go on");
    payload["tool_response"] = json!({"stdout": "ok"});
    payload
}

/// A transcript of answers and results, as long ones look: mostly results.
fn written(house: &BenchHome, size: usize) -> Result<PathBuf> {
    let path = house.home().join(format!("{size}.jsonl"));
    let mut out = BufWriter::new(File::create(&path)?);
    let result = json!({"type": "user", "message": {"role": "user", "content": "x".repeat(6_000)}}).to_string();
    let (mut written, mut nth) = (0, 0);
    while written < size {
        nth += 1;
        let usage = json!({"input_tokens": 1_000 + nth, "output_tokens": 100, "cache_read_input_tokens": 5_000});
        let message = json!({"id": format!("msg_{nth}"), "model": "claude-opus-5-5", "content": [], "usage": usage});
        let answer = json!({"type": "assistant", "isSidechain": false, "message": message}).to_string();
        for line in [&answer, &result] {
            writeln!(out, "{line}")?;
            written += line.len() + 1;
        }
    }
    out.flush()?;
    Ok(path)
}

//! `docs/pictures/first-minute.svg`: the first minute in a terminal, recorded from a real run.

use crate::compare::{Varying, difference};
use crate::run::Reader;
use std::num::NonZero;
use testkit::AgentStep;
use testkit::pages::root;
use testkit::recording::Recording;
use testkit::shell::Typed;

const COLUMNS: NonZero<u16> = NonZero::new(112).unwrap();
const TITLE: &str = "The first minute: taut init, and the first stopped command";

fn recorded() -> Recording {
    let mut reader = Reader::with_columns(COLUMNS);
    let mut recording = Recording::new(COLUMNS);
    let mut shows = |reader: &mut Reader, command: &str, answers: &[&str]| {
        let done = reader.typed(&Typed { command, answers, ..Typed::default() }).unwrap();
        assert_eq!(done.code, 0, "{command}: {}", done.text);
        recording.step(command, &done.bytes);
    };
    shows(&mut reader, "taut init", &["y", "n"]);
    let mut agent = reader.installed_agent("api");
    let steps = [AgentStep::start(), AgentStep::prompt("free some space"), AgentStep::bash("rm -rf ~ && df -h")];
    let calls = agent.play(&steps).unwrap();
    assert!(calls.iter().any(testkit::HookCall::denies));
    reader.stage.sandbox.forget_clients().unwrap();
    shows(&mut reader, "# an agent was told to free some space, and wanted to remove your home", &[]);
    shows(&mut reader, "taut events --denied", &[]);
    recording
}

/// The text of a picture, line by line; nothing but `<text>` has any.
fn text_of(svg: &str) -> Vec<String> {
    let rows = svg.lines().filter(|line| line.starts_with("<g "));
    let plain = rows.map(|row| {
        let texts = row.split("<text ").skip(1).filter_map(|text| text.split('>').nth(1)?.split("</text").next());
        texts.map(|text| text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
    });
    plain.map(|texts| texts.collect::<Vec<_>>().join(" ")).collect()
}

/// The code of a denial is another one each time.
fn steady(lines: &[String]) -> Vec<String> {
    let line = |line: &String| match line.split_once(" code ") {
        Some((before, _)) => format!("{before} code …"),
        None => line.clone(),
    };
    lines.iter().map(line).collect()
}

#[test]
fn i5_the_picture_of_the_first_minute_is_what_a_run_shows() {
    let file = root().join("docs/pictures/first-minute.svg");
    let new = recorded().svg(TITLE);
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = difference(&steady(&text_of(&kept)), &steady(&text_of(&new)).join("\n"), &mut Varying::new())
        .or_else(|| {
            let frame = |svg: &str| svg.lines().filter(|line| !line.starts_with("<g ")).collect::<String>();
            (frame(&kept) != frame(&new)).then(|| "the frame is another".to_owned())
        });
    if differs.is_some() && std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, new).unwrap();
        return;
    }
    assert_eq!(differs, None, "run `UPDATE_DOCS=1 cargo test -p taut --test docs recording`");
}

#[test]
fn i5_a_picture_of_another_run_is_noticed() {
    let mut recording = Recording::new(COLUMNS);
    recording.step("taut events --denied", b"14:02:11  deny  rm -rf <x>  code r3bb\r\n");
    let lines = text_of(&recording.svg(TITLE));
    assert_eq!(lines, ["$ taut events --denied", "14:02:11  deny  rm -rf <x>  code r3bb"]);
    let differs = |kept: &str| {
        let kept: Vec<String> = kept.lines().map(str::to_owned).collect();
        difference(&steady(&kept), &steady(&lines).join("\n"), &mut Varying::new()).is_some()
    };
    assert!(!differs("$ taut events --denied\n09:00:00  deny  rm -rf <x>  code zzzz"), "time and code are others");
    assert!(differs("$ taut events --denied\n14:02:11  pass  rm -rf <x>  code r3bb"));
}

//! Some days at a glance, in a real browser: the pictures say their numbers to whoever sees them and to whoever does not.

use crate::chromium::Chromium;
use crate::sessions::{HOSTILE, go};
use crate::sight::{FAINT, STICKS_OUT, spoken};
use serde_json::{Value, json};
use testkit::stage::UiPage;
use testkit::{AgentStep, FakeTool, Stage};

/// Two agents that worked today: one with a name, a tool and a model that would like to be obeyed.
fn played() -> Stage {
    let stage = Stage::without_daemon();
    let waits = AgentStep::Event {
        event: "PermissionRequest",
        fields: json!({"tool_name": "Bash", "tool_input": {"command": "make"}}),
    };
    let mut pusher = stage.agent(HOSTILE);
    let strange = FakeTool::new(HOSTILE, json!({"url": HOSTILE}), json!({"code": 200}));
    let many = (1..=12).map(|n| FakeTool::new(&format!("mcp__almanac__{n:02}"), json!({}), json!({})));
    let steps = [
        AgentStep::start(),
        AgentStep::prompt("publish the almanac"),
        AgentStep::bash("git push --force"),
        waits,
        AgentStep::Tools(std::iter::once(strange).chain(many).collect()),
    ];
    pusher.play(&steps).unwrap();
    let spent = json!({
        "session_id": pusher.session_id(), "cwd": stage.sandbox.project(), "version": "2.0.0",
        "model": {"id": HOSTILE, "display_name": HOSTILE}, "cost": {"total_cost_usd": 1.25},
    });
    assert!(stage.sandbox.taut(&["statusline"], spent.to_string().as_bytes()).unwrap().success());
    let failing = FakeTool::bash("make").failing_with("no rule");
    let steps = [AgentStep::start(), AgentStep::prompt("build it"), AgentStep::bash("ls"), AgentStep::bash("pwd")];
    let mut builder = stage.agent("builder");
    builder.play(&steps).unwrap();
    builder.play(&[AgentStep::Tools(vec![failing]), AgentStep::stop()]).unwrap();
    stage
}

fn opened(stage: &Stage) -> (UiPage, Chromium) {
    let page = stage.page();
    let mut chromium = Chromium::start(&stage.sandbox).unwrap();
    chromium.size(1280, 800);
    chromium.go(&page.url);
    chromium.until("document.getElementById('line')?.textContent === 'live'");
    go(&mut chromium, "#/stats");
    chromium.until("document.querySelectorAll('.stats .chart').length === 4");
    (page, chromium)
}

fn told(stage: &Stage) -> Value {
    serde_json::from_str(&stage.succeed(&["stats", "--json"])).unwrap()
}

#[test]
fn f4_a_week_is_drawn_as_the_command_tells_it_and_hostile_names_stay_text() {
    let stage = played();
    let (_page, mut chromium) = opened(&stage);
    let facts = chromium.value("document.querySelector('.stats .facts').innerText");
    let facts = facts.as_str().unwrap();
    for fact in
        ["sessions 2", "prompts 2", "tool calls 17 (1 failed)", "stopped 1 denied, 0 asked about", ", 1 time", "$1.25"]
    {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    // The last of seven bars is today, and the only one with a height.
    let bars = "[...document.querySelectorAll('.stats .chart')].map(chart => [chart.querySelector('h2').textContent, \
        [...chart.querySelectorAll('rect.count')].map(bar => Number(bar.getAttribute('height')) > 0), \
        [...chart.querySelectorAll('rect.count title')].at(-1).textContent])";
    let week = |last: bool| json!([false, false, false, false, false, false, last]);
    let today = told(&stage)["to"].as_str().unwrap().to_owned();
    let drawn = chromium.value(bars);
    assert_eq!(drawn[0], json!(["Tool calls17", week(true), format!("{today}  17")]));
    assert_eq!(drawn[1], json!(["Stopped1", week(true), format!("{today}  1")]));
    assert_eq!(drawn[3], json!(["Cost$1.25", week(true), format!("{today}  $1.25")]));
    let rows = "[...document.querySelectorAll('table[aria-label=\"By agent\"] tbody tr')].map(row => \
        [row.cells[0].textContent.slice(0, 8), ...[...row.cells].slice(1, 4).map(cell => cell.textContent)])";
    assert_eq!(chromium.value(rows), json!([["\"><img s", "14", "1", "1"], ["builder", "3", "1", "0"]]));
    // Tools are cut after twelve, and say so.
    let cut = "[...document.querySelectorAll('.stats section.card')].find(card => \
        card.querySelector('h2')?.textContent === 'Tools')";
    let cut = chromium.value(&format!("[{cut}.querySelectorAll('li').length, {cut}.querySelector('p').textContent]"));
    assert_eq!(cut, json!([12, "and 2 more: taut stats --json"]));
    chromium.click("document.querySelector('.stats .chip[data-days=\"30\"]')");
    chromium.until("document.querySelector('.stats .chart')?.querySelectorAll('rect.count').length === 30");

    let made = "document.querySelectorAll('main img, main script, main iframe, main [onerror]').length";
    assert_eq!((chromium.value(made), chromium.value("typeof window.pwned")), (json!(0), json!("undefined")));
    assert!(!chromium.value("document.body.innerText").as_str().unwrap().contains('\u{202e}'));
    assert_eq!(chromium.complaints(), Vec::<String>::new(), "no exception, nothing refused by the policy");
}

#[test]
fn f4_a_screen_reader_is_told_what_each_picture_of_a_week_shows() {
    let stage = played();
    let (_page, mut chromium) = opened(&stage);
    let all = spoken(&mut chromium);
    let is = |role: &str, name: &str| all.iter().any(|(said, named)| said == role && named.contains(name));
    let today = told(&stage)["to"].as_str().unwrap().to_owned();
    for (role, name) in [
        ("image", format!("Tool calls: 17 in all, most on {today} with 17")),
        ("image", format!("Stopped: 1 in all, most on {today} with 1")),
        ("image", format!("Cost: $1.25 in all, most on {today} with $1.25")),
        ("group", "How far back".to_owned()),
        ("button", "7 days".to_owned()),
        ("table", "By agent".to_owned()),
        ("table", "By model".to_owned()),
        ("rowheader", "builder".to_owned()),
        ("columnheader", "Calls".to_owned()),
        ("heading", "Stopped by rule".to_owned()),
        ("link", "git-force-push".to_owned()),
    ] {
        assert!(is(role, &name), "{role} {name} in {all:?}");
    }
    // What a pointer is told over a tool.
    assert!(all.contains(&("StaticText".into(), "1 failed".into())), "{all:?}");
    let pressed = "[...document.querySelectorAll('.stats .chip')].map(chip => chip.getAttribute('aria-pressed'))";
    assert_eq!(chromium.value(pressed), json!(["true", "false", "false"]));
}

/// The ink of every picture, with how it stands out from what is behind it: words need more than bars.
const FAINT_INK: &str = r"(() => {
    const parse = (color) => color.match(/[\d.]+/g).map(Number);
    const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const behind = (node) => {
        const own = parse(getComputedStyle(node).backgroundColor);
        return (own[3] ?? 1) === 1 ? own : behind(node.parentElement);
    };
    const ink = [...document.querySelectorAll('.stats .chart text, .stats .chart rect.count')];
    return { seen: ink.length, faint: ink.map((node) => {
        const [a, b] = [light(parse(getComputedStyle(node).fill)), light(behind(node.closest('.card')))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        return contrast < (node.tagName === 'text' ? 4.5 : 3) ? `${contrast.toFixed(2)} ${node.tagName}` : null;
    }).filter(Boolean) };
})()";

#[test]
fn f4_a_week_is_readable_in_both_themes_and_fits_a_phone() {
    let stage = played();
    let (_page, mut chromium) = opened(&stage);
    for width in [1280, 360] {
        chromium.size(width, 740);
        for theme in ["light", "dark"] {
            chromium.scheme(theme);
            chromium.value(
                "new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 450))",
            );
            assert_eq!(chromium.value(STICKS_OUT), json!([]), "{width} {theme}");
            let told = chromium.value(FAINT);
            assert!(told["seen"].as_u64() > Some(30), "{told}");
            assert_eq!(told["faint"], json!([]), "{width} {theme}");
            let ink = chromium.value(FAINT_INK);
            assert!(ink["seen"].as_u64() >= Some(4 * 9), "{ink}");
            assert_eq!(ink["faint"], json!([]), "{width} {theme}");
        }
    }
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

#[test]
fn f4_whoever_asks_for_more_days_while_a_week_is_fetched_is_shown_them() {
    let stage = played();
    let (_page, mut chromium) = opened(&stage);
    // The answer to the first question waits until the second has been asked.
    chromium.value(
        "void (window.real = window.fetch, window.fetch = (...asked) => String(asked[0]).includes('days=90') \
         ? new Promise(done => { window.release = () => done(window.real(...asked)); }) : window.real(...asked))",
    );
    chromium.click("document.querySelector('.stats .chip[data-days=\"90\"]')");
    chromium.until("typeof window.release === 'function'");
    chromium.click("document.querySelector('.stats .chip[data-days=\"30\"]')");
    chromium.value("void window.release()");
    chromium.until("document.querySelector('.stats .chart').querySelectorAll('rect.count').length === 30");
    assert_eq!(
        chromium.value("document.querySelector('.stats .chip[aria-pressed=true]').textContent"),
        json!("30 days")
    );
}

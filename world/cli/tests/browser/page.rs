//! What a person sees, and what hostile text cannot do.

use crate::chromium::Chromium;
use serde_json::json;
use testkit::stage::UiPage;
use testkit::{AgentStep, FakeTool, Stage};

const HOSTILE: &str = "\"><img src=x onerror=\"window.pwned=1;alert(1)\"></script><script>window.pwned=2;alert(2)</script>\u{202e}{{7*7}}";

/// Whatever is not bound when it is taken apart is dropped, and the page ends with it.
struct Scene {
    page: UiPage,
    chromium: Chromium,
    stage: Stage,
}

fn open(stage: Stage) -> Scene {
    let page = stage.page();
    let mut chromium = Chromium::start(&stage.sandbox).unwrap();
    chromium.size(1280, 800);
    chromium.go(&page.url);
    chromium.until("document.getElementById('line')?.textContent === 'live'");
    Scene { page, chromium, stage }
}

fn row(agent: &str) -> String {
    format!(
        "[...document.querySelectorAll('.fleet tbody tr')].find(row => row.querySelector('.name').textContent === {})",
        json!(agent)
    )
}

#[test]
fn f4_the_page_draws_the_fleet_follows_it_in_place_and_asks_nobody_else() {
    let stage = Stage::without_daemon();
    let mut agent = stage.agent("builder");
    agent.play(&[AgentStep::start(), AgentStep::prompt("build it")]).unwrap();
    let Scene { page, mut chromium, stage } = open(stage);
    chromium.until(&format!("{}?.className === 'working'", row("builder")));
    assert_eq!(chromium.value("location.href"), json!(format!("http://127.0.0.1:{}/#/", page.port)), "no secret left");
    assert_eq!(chromium.value("document.cookie"), json!(""));
    chromium.value(&format!("void ({}.kept = 1)", row("builder")));
    agent.play(&[AgentStep::stop()]).unwrap();
    chromium.until(&format!("{}?.className === 'done'", row("builder")));
    assert_eq!(chromium.value(&format!("{}.kept", row("builder"))), json!(1), "the row was changed, not drawn anew");
    let asks = json!({"notification_type": "permission_prompt", "message": "may I?"});
    stage.agent("asker").play(&[AgentStep::start(), AgentStep::Event { event: "Notification", fields: asks }]).unwrap();
    chromium.until(&format!("{}?.className === 'attention'", row("asker")));
    let order = "[...document.querySelectorAll('.fleet tbody .name')].map(name => name.textContent)";
    assert_eq!(chromium.value(order), json!(["asker", "builder"]), "the worst first");
    assert_eq!(chromium.value("document.title"), json!("(1) Taut"));
    // A reload keeps the secret, which is nowhere in the address.
    chromium.call("Page.reload", json!({}));
    chromium.until(&format!("{}?.className === 'attention'", row("asker")));
    let own = format!("http://127.0.0.1:{}/", page.port);
    for address in chromium.asked_for() {
        assert!(address.starts_with(&own) || address == "about:blank", "{address}");
    }
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

#[test]
fn f4_hostile_text_is_shown_and_never_runs() {
    let stage = Stage::without_daemon();
    let steps = [
        AgentStep::start(),
        AgentStep::prompt(HOSTILE),
        AgentStep::Tools(vec![FakeTool::bash(&format!("echo {HOSTILE}")).failing_with(HOSTILE)]),
        AgentStep::bash(&format!("git push --force origin '{HOSTILE}'")),
        AgentStep::Event { event: "Notification", fields: json!({"notification_type": HOSTILE, "message": HOSTILE}) },
    ];
    stage.agent(HOSTILE).play(&steps).unwrap();
    let Scene { page: _page, mut chromium, stage } = open(stage);
    let session = stage.list(&["sessions", "--json"])[0]["id"].as_str().unwrap().to_owned();
    let title = chromium.value("document.title");
    for (view, shown) in [
        ("#/".to_owned(), ".fleet .name"),
        (format!("#/session/{session}"), ".entry.prompt .about"),
        ("#/guard".to_owned(), ".verdicts .about"),
        ("#/tasks".to_owned(), ".empty"),
    ] {
        chromium.value(&format!("void (location.hash = {})", json!(view)));
        chromium.until(&format!("document.querySelector('{shown}') !== null"));
        chromium.value("document.querySelectorAll('details').forEach(one => one.open = true)");
        chromium.value("new Promise(done => setTimeout(done, 100))");
        if shown != ".empty" {
            let text = chromium.value(&format!("document.querySelector('{shown}').textContent"));
            assert!(text.as_str().unwrap().contains("<script>window.pwned=2"), "{view}: {text}");
        }
        let made = "document.querySelectorAll('main img, main script, main iframe, main [onerror]').length";
        assert_eq!(chromium.value(made), json!(0), "{view}");
        assert!(!chromium.value("document.body.innerText").as_str().unwrap().contains('\u{202e}'), "{view}");
    }
    assert_eq!(chromium.value("typeof window.pwned"), json!("undefined"));
    assert_eq!(chromium.value("document.title"), title);
    assert_eq!(chromium.complaints(), Vec::<String>::new(), "no dialog, no exception, nothing refused by the policy");
}

#[test]
fn f4_a_timeline_opens_filters_and_tells_what_the_model_was_told() {
    let stage = Stage::without_daemon();
    let mut agent = stage.agent("shipper");
    agent
        .play(&[
            AgentStep::start(),
            AgentStep::prompt("ship it"),
            AgentStep::bash("ls"),
            AgentStep::bash("git push --force"),
        ])
        .unwrap();
    let Scene { page: _page, mut chromium, stage: _stage } = open(stage);
    chromium.until(&format!("{}?.querySelector('a.name').click() === undefined", row("shipper")));
    chromium.until("document.querySelectorAll('.timeline .entry').length >= 4");
    let shown = "[...document.querySelectorAll('.timeline .entry .about')].map(about => about.textContent)";
    let filter = |name: &str| format!("document.querySelector('[data-filter={name}]').click()");
    chromium.value(&filter("verdicts"));
    assert_eq!(chromium.value(shown), json!(["git push --force"]));
    chromium.value("document.querySelector('.timeline details').open = true");
    chromium.until("document.querySelector('.block pre')?.textContent.includes('force') === true");
    chromium.value(&filter("prompts"));
    assert_eq!(chromium.value(shown), json!(["ship it"]));
    chromium.value(&filter("tools"));
    assert_eq!(chromium.value(shown), json!(["git push --force", "ls"]));
    chromium.value(&filter("all"));
    agent.play(&[AgentStep::prompt("and now tests")]).unwrap();
    chromium.until("document.querySelector('.timeline .entry .about').textContent === 'and now tests'");
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

#[test]
fn f4_a_lost_connection_is_said_and_recovered_from() {
    let stage = Stage::without_daemon();
    let mut agent = stage.agent("a");
    agent.play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    let Scene { page, mut chromium, stage: _stage } = open(stage);
    // A server that says nothing for longer than its own heartbeat is as good as gone.
    page.signal(libc::SIGSTOP);
    agent.play(&[AgentStep::stop()]).unwrap();
    chromium.until("document.getElementById('line').textContent.includes('connection lost')");
    page.signal(libc::SIGCONT);
    chromium.until("document.getElementById('line').textContent === 'live'");
    chromium.until(&format!("{}?.className === 'done'", row("a")));
    drop(page);
    chromium.until("document.getElementById('line').textContent.includes('connection lost')");
}

#[test]
fn f4_without_the_secret_the_page_says_where_to_get_it() {
    let stage = Stage::without_daemon();
    let page = stage.page();
    let mut chromium = Chromium::start(&stage.sandbox).unwrap();
    chromium.go(&format!("http://127.0.0.1:{}/", page.port));
    chromium.until("document.querySelector('.empty')?.textContent.includes('taut ui') === true");
    chromium.go("about:blank");
    chromium.go(&format!("http://127.0.0.1:{}/#token={}", page.port, "0".repeat(64)));
    chromium.until("document.querySelector('.empty')?.textContent.includes('not admitted') === true");
}

#[test]
fn f4_two_hundred_agents_are_rows_that_stay() {
    let stage = Stage::without_daemon();
    for n in 0..200 {
        stage.agent(&format!("agent-{n:03}")).play(&[AgentStep::start()]).unwrap();
    }
    let Scene { page, mut chromium, stage } = open(stage);
    chromium.until("document.querySelectorAll('.fleet tbody tr').length === 200");
    // How long that takes from the first byte on is printed: a number, and no limit that a busy machine would break.
    let watch = "const look = () => document.querySelectorAll('.fleet tbody tr').length === 200 ? \
        requestAnimationFrame(() => { window.painted = Math.round(performance.now()); }) : setTimeout(look, 4); look();";
    chromium.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": watch}));
    let mut took: Vec<u64> = (0..5)
        .map(|_| {
            chromium.go("about:blank");
            chromium.go(&page.url);
            chromium.until("typeof window.painted === 'number'");
            chromium.value("window.painted").as_u64().unwrap()
        })
        .collect();
    took.sort_unstable();
    println!("200 agents, from the address to their rows: {took:?} ms");
    chromium.value("document.querySelectorAll('.fleet tbody tr').forEach(row => row.kept = 1)");
    stage.agent("agent-007").play(&[AgentStep::prompt("go"), AgentStep::stop()]).unwrap();
    chromium.until(&format!("{}?.className === 'done'", row("agent-007")));
    assert_eq!(chromium.value("[...document.querySelectorAll('.fleet tbody tr')].every(row => row.kept)"), json!(true));
    chromium.size(390, 844);
    let fits = "document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(chromium.value(fits), json!(true), "nothing sticks out on a phone");
}

#[test]
fn m3_a_person_searches_on_the_page_and_hostile_text_stays_text() {
    let stage = Stage::without_daemon();
    stage.agent("a").play(&[AgentStep::start(), AgentStep::prompt(&format!("repair the sundial {HOSTILE}"))]).unwrap();
    let Scene { page: _page, mut chromium, stage: _stage } = open(stage);
    chromium.value("void (location.hash = '#/recall')");
    chromium.until("document.querySelector('.recall-words') !== null");
    let type_it = "(() => { const box = document.querySelector('.recall-words'); box.value = 'sundials'; \
        box.dispatchEvent(new Event('input')); })()";
    // What is not entered yet is found by asking again, after a pause.
    let again = format!("Date.now() - (window.typed ?? 0) > 600 && (window.typed = Date.now(), {type_it})");
    chromium.until(&format!("({again}, document.querySelector('.hit mark')?.textContent === 'sundial')"));
    assert_eq!(chromium.value("window.pwned ?? 0"), json!(0));
    assert_eq!(chromium.value("document.querySelector('.hit img') === null"), json!(true));
    chromium.value("void document.querySelector('.hit-agent').click()");
    chromium.until("location.hash.startsWith('#/session/')");
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

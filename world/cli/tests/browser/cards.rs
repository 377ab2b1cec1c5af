//! Answering on the page: from the link of a notification to an answer that was used, and what a slip or a hostile text
//! cannot do.

use crate::chromium::Chromium;
use crate::fake_holder::{FakeHolder, shown};
use model::card::{ActionPlace, CardAnswer, CardKind, CardState, ChosenAnswer};
use serde_json::{Value, json};
use std::time::Instant;
use testkit::Stage;
use testkit::stage::UiPage;

const HOSTILE: &str =
    "\"><img src=x onerror=\"window.pwned=1\"></script><script>window.pwned=2;alert(2)</script>\u{202e}{{7*7}}";

pub struct Scene {
    pub chromium: Chromium,
    pub page: UiPage,
    pub holder: FakeHolder,
    pub stage: Stage,
}

/// A page that a person started, and an agent whose questions it shows.
pub fn open(agent: &str) -> Scene {
    open_beside(agent, |_| {})
}

/// The same with other agents. They have all begun before the page has: it is served where nobody else's process is seen,
/// and whoever follows clients there would take one that it is told of later for dead.
pub fn open_beside(agent: &str, others: impl FnOnce(&Stage)) -> Scene {
    let stage = Stage::without_daemon();
    others(&stage);
    let holder = FakeHolder::of(&stage, agent);
    let page = stage.page_of_person(&[]);
    let holder = holder.beside(page.neighbour());
    let mut chromium = Chromium::start(&stage.sandbox).unwrap();
    chromium.size(1280, 900);
    chromium.go(&page.url);
    chromium.until("document.getElementById('line')?.textContent === 'live'");
    Scene { chromium, page, holder, stage }
}

impl Scene {
    pub fn at(&self, hash: &str) -> String {
        format!("http://{}/{hash}", self.page.host())
    }

    /// Types the code into the window that asks for it.
    pub fn confirm(&mut self) {
        self.chromium.until("document.querySelector('dialog .code-input') === document.activeElement");
        self.chromium.write(&self.page.code.clone());
        self.chromium.key("Enter");
        self.chromium.until("document.querySelector('dialog') === null");
    }

    /// A press on what stands still in sight.
    pub fn press(&mut self, id: &str, what: &str) {
        let wanted = format!("{}.querySelector({})", card(id), json!(what));
        self.chromium.value(&format!("{wanted}.scrollIntoView({{block: 'nearest'}})"));
        self.chromium.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        self.chromium.until(&armed(id));
        self.chromium.click(&wanted);
    }

    /// What went wrong in the page, but for refusals that the page shows itself.
    pub fn complaints(&self) -> Vec<String> {
        let expected = |line: &String| {
            ["428", "403", "409", "404"].iter().any(|status| line.contains(&format!("status of {status}")))
        };
        self.chromium.complaints().into_iter().filter(|line| !expected(line)).collect()
    }
}

pub fn card(id: &str) -> String {
    format!("document.querySelector('article.ask[data-card=\"{id}\"]')")
}

pub fn button(id: &str, look: &str) -> String {
    format!("{}.querySelector('.card-foot .{look}')", card(id))
}

pub fn armed(id: &str) -> String {
    format!("{}?.classList.contains('armed') === true", card(id))
}

fn says(id: &str, words: &str) -> String {
    format!("{}?.querySelector('.card-state').textContent.includes({}) === true", card(id), json!(words))
}

#[test]
fn f4_an_answer_goes_from_the_link_of_a_notification_to_used_and_the_other_tab_is_told() {
    let mut scene = open("builder");
    scene.holder.asks_to_run("c1", 0, "npm publish --tag next\n  --access public");
    scene.chromium.until(&armed("c1"));
    let link = scene.at("#/card/c1");
    let first = scene.chromium.open_tab();
    scene.chromium.go(&link);
    scene.chromium.until(&armed("c1"));
    let text = scene.chromium.value(&format!("{}.innerText", card("c1")));
    for part in [
        "builder asks to use Bash", "npm publish --tag next\n  --access public", "/home/dev/shop", "feature/cents",
        "default", "passes: no rule looks at it", "what for",
    ] {
        assert!(text.as_str().unwrap().contains(part), "{part} in {text}");
    }
    scene.chromium.click(&button("c1", "yes"));
    scene.chromium.until("document.querySelector('dialog .code-input') === document.activeElement");
    scene.chromium.write("0x0");
    scene.chromium.key("Enter");
    scene.chromium.until("document.querySelector('dialog .card-state').textContent.includes('not the code')");
    assert_eq!(scene.holder.card("c1").state, CardState::Open, "nothing is done for whoever does not know the code");
    scene.chromium.value("document.querySelector('dialog .code-input').value = ''");
    scene.confirm();
    let answered = scene.holder.answered("c1");
    assert_eq!(answered.answer, Some(CardAnswer::AllowOnce));
    assert_eq!(answered.answered.unwrap().place, ActionPlace::Page);
    scene.chromium.until(&says("c1", "the agent is being told"));
    scene.holder.step("c1", CardState::Answered, CardState::Given);
    scene.chromium.until(&says("c1", "has not confirmed it yet"));
    scene.holder.step("c1", CardState::Given, CardState::Used);
    scene.chromium.until(&says("c1", "used: the agent went on"));
    let second = scene.chromium.switch(first);
    scene.chromium.until(&says("c1", "used: the agent went on"));

    // The code that was typed in one tab holds for the other. How long a press takes to be stored is printed.
    scene.holder.asks_to_run("c2", 1, "make");
    scene.chromium.until(&armed("c2"));
    let pressed = Instant::now();
    scene.chromium.click(&button("c2", "yes"));
    scene.holder.answered("c2");
    println!("from the press to what is stored: {} ms", pressed.elapsed().as_millis());
    scene.holder.step("c2", CardState::Answered, CardState::AtTerminal);
    scene.chromium.until(&says("c2", "did not count"));
    scene.chromium.switch(second);

    // Whoever comes too late is told, and a link to what is over says so.
    scene.holder.asks_to_run("c3", 2, "ls");
    scene.holder.step("c3", CardState::Open, CardState::LetGo);
    scene.chromium.value("void (location.hash = '#/card/c3')");
    scene.chromium.until(&says("c3", "let go"));
    assert_eq!(scene.chromium.value(&format!("{}.querySelector('.card-foot').hidden", card("c3"))), json!(true));
    scene.chromium.value("void (location.hash = '#/card/nothing')");
    scene
        .chromium
        .until("document.querySelector('main .empty')?.textContent.includes('This question is over') === true");
    assert_eq!(scene.complaints(), Vec::<String>::new());
}

#[test]
fn f4_a_card_that_takes_the_place_of_another_is_not_answered_by_the_press_meant_for_that() {
    let mut scene = open("builder");
    scene.holder.asks_to_run("later", 10, "ls");
    scene.chromium.until(&armed("later"));
    scene.chromium.click(&button("later", "yes"));
    scene.chromium.until("document.querySelector('dialog') !== null");
    scene.confirm();
    scene.holder.answered("later");
    scene.holder.step("later", CardState::Answered, CardState::Used);
    scene.chromium.until(&says("later", "used: the agent went on"));
    scene.holder.asks_to_run("second", 20, "ls");
    scene.chromium.until(&armed("second"));
    // The press comes in the very moment in which another stands under the pointer.
    let press = format!(
        "window.pressed = new Promise(done => {{ const box = {}.getBoundingClientRect(); \
         const [x, y] = [box.x + 9, box.y + 9]; const look = () => {{ \
         const under = document.elementFromPoint(x, y)?.closest('article.ask'); \
         if (under && under.dataset.card !== 'second' && document.elementFromPoint(x, y).closest('button.yes')) {{ \
         document.elementFromPoint(x, y).click(); done(under.dataset.card); }} else requestAnimationFrame(look); }}; look(); }}); void 0",
        button("second", "yes")
    );
    scene.chromium.value(&press);
    scene.holder.asks_to_run("first", 15, "rm -rf build");
    assert_eq!(scene.chromium.value("window.pressed"), json!("first"));
    scene.chromium.until(&says("first", "look at it, then press again"));
    assert_eq!(scene.holder.card("first").state, CardState::Open);
    scene.chromium.until(&armed("first"));
    scene.chromium.click(&button("first", "yes"));
    assert_eq!(scene.holder.answered("first").answer, Some(CardAnswer::AllowOnce), "pressed again, it counts");
    assert_eq!(scene.holder.card("second").state, CardState::Open);
    assert_eq!(scene.complaints(), Vec::<String>::new());
}

fn questions() -> Value {
    json!({"questions": [
        {"question": format!("Which? {HOSTILE}"), "header": HOSTILE, "multiSelect": false, "options": [
            {"label": "A", "description": HOSTILE}, {"label": format!("B\u{202e} {HOSTILE}"), "description": ""}]},
        {"question": "And which of these?", "multiSelect": true, "options": [{"label": "one"}, {"label": "two"}, {"label": "three"}]},
        {"question": "What else?", "multiSelect": false, "options": [{"label": "nothing"}]},
    ]})
}

#[test]
fn f4_hostile_text_on_cards_is_inert_and_what_is_chosen_reaches_the_agent_as_it_wrote_it() {
    let mut scene = open(HOSTILE);
    let mut edit = shown(json!({"file_path": format!("/src/{HOSTILE}.rs"), "old_string": "a", "new_string": "b"}));
    edit.diff = Some(format!("@@ -3,2 +3,2 @@\n kept <b>\n-old {HOSTILE}\n+new {HOSTILE}\n"));
    edit.guard = Some(HOSTILE.into());
    edit.branch = Some(HOSTILE.into());
    scene.holder.asks("edit", 0, (CardKind::Permission, "Edit"), edit);
    scene.holder.asks("asked", 1, (CardKind::Question, "AskUserQuestion"), shown(questions()));
    scene.holder.asks(
        "plan",
        2,
        (CardKind::Plan, "ExitPlanMode"),
        shown(json!({"plan": format!("# Plan\n1. {HOSTILE}")})),
    );
    let mut secret = shown(json!({"command": format!("curl {HOSTILE}"), "timeout": 5}));
    secret.incomplete = Some("a secret was taken out".into());
    scene.holder.asks("secret", 3, (CardKind::Permission, HOSTILE), secret);
    scene.chromium.until(&armed("secret"));
    let lines = "[...document.querySelectorAll('.d-line')].map(line => [line.className, line.querySelector('.d-sign').textContent])";
    assert_eq!(
        scene.chromium.value(lines),
        json!([["d-line kept", " "], ["d-line removed", "−"], ["d-line added", "+"]])
    );
    assert_eq!(scene.chromium.value(&format!("{}.disabled", button("secret", "yes"))), json!(true), "not seen whole");
    let made = "document.querySelectorAll('article img, article script, article iframe, article b b, article [onerror]').length";
    assert_eq!(scene.chromium.value(made), json!(0));
    let text = scene.chromium.value("document.getElementById('waiting').innerText");
    let text = text.as_str().unwrap();
    assert!(
        text.contains("<script>window.pwned=2") && text.contains("\\u{202e}") && !text.contains('\u{202e}'),
        "{text}"
    );

    let pick = |at: usize, option: usize| {
        format!("{}.querySelectorAll('fieldset')[{at}].querySelectorAll('label input')[{option}]", card("asked"))
    };
    scene.press("asked", ".card-foot .yes");
    scene.chromium.until(&says("asked", "choose an answer to every question"));
    scene.chromium.click(&pick(0, 1));
    scene.chromium.click(&pick(1, 0));
    scene.chromium.click(&pick(1, 2));
    scene.chromium.click(&format!("{}.querySelectorAll('.other-words')[2]", card("asked")));
    scene.chromium.write("both, later");
    scene.press("asked", ".card-foot .yes");
    scene.confirm();
    let Some(CardAnswer::Choose { chosen }) = scene.holder.answered("asked").answer else { panic!("no choice") };
    let of = |question: &str| chosen[question].clone();
    let labels = |labels: &[&str]| ChosenAnswer {
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        words: None,
    };
    assert_eq!(of(&format!("Which? {HOSTILE}")), labels(&[&format!("B\u{202e} {HOSTILE}")]));
    assert_eq!(of("And which of these?"), labels(&["one", "three"]));
    assert_eq!(of("What else?"), ChosenAnswer { labels: Vec::new(), words: Some("both, later".into()) });

    scene.press("plan", ".card-foot .no");
    scene.chromium.until("document.activeElement.tagName === 'TEXTAREA'");
    scene.chromium.write("add a rollback step");
    scene.press("plan", ".denial .no");
    assert_eq!(
        scene.holder.answered("plan").answer,
        Some(CardAnswer::RejectPlan { words: "add a rollback step".into() })
    );
    assert_eq!(scene.chromium.value("typeof window.pwned"), json!("undefined"));
    assert_eq!(
        scene.complaints(),
        Vec::<String>::new(),
        "no dialog of the browser, no exception, nothing refused by the policy"
    );
}

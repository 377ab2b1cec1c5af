//! Who uses the page without a mouse, without looking, in the dark or on a phone.

use crate::cards::{armed, button, card, open_beside};
use crate::chromium::Chromium;
use crate::fake_holder::shown;
use model::card::{CardAnswer, CardKind, CardState};
use serde_json::{Value, json};
use testkit::AgentStep;

#[test]
fn f4_the_page_is_used_by_keys_alone_and_no_news_takes_the_focus_away() {
    let mut scene = open_beside("builder", |stage| {
        stage.agent("web").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    });
    scene.holder.asks_to_run("c1", 0, "make");
    scene.holder.asks_to_run("c2", 1, "make install");
    scene.chromium.until(&armed("c2"));
    let focus = |id: &str| format!("document.activeElement === {}", card(id));
    scene.chromium.key("j");
    scene.chromium.until(&focus("c1"));
    scene.chromium.key("a");
    scene.confirm();
    assert_eq!(scene.holder.answered("c1").answer, Some(CardAnswer::AllowOnce));
    scene.holder.step("c1", CardState::Answered, CardState::Used);
    scene.chromium.until(&format!("{}.dataset.state === 'used'", card("c1")));
    scene.chromium.until(&focus("c1"));
    scene.chromium.key("j");
    scene.chromium.until(&focus("c2"));
    scene.chromium.key("d");
    scene.chromium.until("document.activeElement.tagName === 'TEXTAREA'");
    scene.chromium.write("not now");
    // News while somebody types.
    scene.holder.turns("web", "attention");
    scene.chromium.until("document.querySelector('.fleet tr[data-key=web]')?.className === 'attention'");
    assert_eq!(scene.chromium.value("document.activeElement.value"), json!("not now"));
    scene.chromium.key("Tab");
    scene.chromium.until("document.activeElement.matches('.denial .no')");
    scene.chromium.until(&armed("c2"));
    scene.chromium.key("Enter");
    assert_eq!(scene.holder.answered("c2").answer, Some(CardAnswer::Deny { words: "not now".into() }));
    scene.holder.step("c2", CardState::Answered, CardState::Used);
    scene.chromium.until(&focus("c2"));
    scene.chromium.key("j");
    scene.chromium.until("document.activeElement.matches('.fleet tbody tr')");
    assert_ne!(
        scene.chromium.value("getComputedStyle(document.activeElement).outlineStyle"),
        json!("none"),
        "the focus is seen"
    );
    scene.chromium.key("/");
    scene.chromium.until("document.activeElement.type === 'search'");
    scene.chromium.write("web");
    scene.chromium.until("document.querySelectorAll('.fleet tbody tr').length === 1 && location.hash === '#/?q=web'");
    scene.chromium.key("Escape");
    scene.chromium.key("?");
    scene.chromium.until("document.querySelector('dialog[open]')?.innerText.includes('allow once') === true");
    scene.chromium.key("Escape");
    scene.chromium.until("document.querySelector('dialog') === null");
    scene.chromium.key("k");
    scene.chromium.until("document.activeElement.matches('.fleet tbody tr')");
    scene.chromium.key("Enter");
    scene.chromium.until("location.hash.startsWith('#/session/')");
    scene.chromium.key("Escape");
    scene.chromium.until("location.hash === '#/'");
    assert_eq!(scene.complaints(), Vec::<String>::new());
}

/// What a screen reader is told, as role and name.
pub fn spoken(chromium: &mut Chromium) -> Vec<(String, String)> {
    let tree = chromium.call("Accessibility.getFullAXTree", json!({}));
    let said = |node: &Value, field: &str| node[field]["value"].as_str().unwrap_or_default().to_owned();
    let nodes = tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] != json!(true));
    nodes.map(|node| (said(node, "role"), said(node, "name"))).collect()
}

fn everything_has_its_name_and_role(chromium: &mut Chromium) {
    let all = spoken(chromium);
    let is = |role: &str, name: &str| all.iter().any(|(said, named)| said == role && named.contains(name));
    for (role, name) in [
        ("main", ""),
        ("navigation", "Views"),
        ("alert", ""),
        ("region", "Waiting for you"),
        ("article", "builder asks to use Bash"),
        ("button", "Allow once, builder: asks to use Bash"),
        ("button", "Deny… builder: asks to use Bash"),
        ("group", "Ship it?"),
        ("radio", "yes"),
        ("textbox", "Your own words to: Ship it?"),
        ("button", "Acts on asker"),
        ("searchbox", "Filter agents"),
        ("combobox", "Sort by"),
        ("columnheader", "Status"),
    ] {
        assert!(is(role, name), "{role} {name} in {all:?}");
    }
    let nameless: Vec<_> = all
        .iter()
        .filter(|(role, name)| {
            ["button", "link", "textbox", "radio", "checkbox", "searchbox", "combobox", "dialog"]
                .contains(&role.as_str())
                && name.trim().is_empty()
        })
        .collect();
    assert!(nameless.is_empty(), "{nameless:?}");
}

#[test]
fn f4_a_screen_reader_is_told_names_roles_and_what_waits_and_every_act_answers_in_words() {
    let mut scene = open_beside("builder", |stage| {
        stage.agent("asker").play(&[AgentStep::start(), AgentStep::prompt("go")]).unwrap();
    });
    scene.chromium.until("document.querySelector('.fleet tr[data-key=asker]') !== null");
    scene.holder.turns("asker", "attention");
    scene.chromium.until("document.getElementById('polite').textContent === 'asker: attention'");
    scene.holder.asks_to_run("c1", 0, "make");
    let options = json!([{"label": "yes"}, {"label": "no"}]);
    let asked = json!({"questions": [{"question": "Ship it?", "options": options}]});
    scene.holder.asks("c2", 1, (CardKind::Question, "AskUserQuestion"), shown(asked));
    scene.chromium.until(&armed("c2"));
    assert!(scene.chromium.value("document.getElementById('alarm').textContent").as_str().unwrap().contains("wait"));
    everything_has_its_name_and_role(&mut scene.chromium);

    let row = |agent: &str| format!("document.querySelector('.fleet tr[data-key={agent}]')");
    scene.chromium.click(&format!("{}.querySelector('.acts-button')", row("asker")));
    scene.chromium.until("document.querySelector('dialog[open]') !== null");
    assert!(spoken(&mut scene.chromium).contains(&("dialog".into(), "asker".into())));
    let press = |word: &str| {
        format!(
            "[...document.querySelectorAll('dialog button')].find(one => one.offsetParent && one.textContent.includes({}))",
            json!(word)
        )
    };
    let says =
        |words: &str| format!("document.querySelector('dialog > .card-state').textContent.includes({})", json!(words));
    scene.chromium.click(&press("Mark as seen"));
    scene.chromium.until("document.querySelectorAll('dialog').length === 2");
    scene.chromium.write(&scene.page.code.clone());
    scene.chromium.key("Enter");
    scene.chromium.until(&says("marked as seen"));
    scene.chromium.until(&format!("{}.className === 'checked'", row("asker")));
    scene.chromium.click(&press("Go to its pane"));
    scene.chromium.until(&says("is in no tmux pane"));
    scene.chromium.click(&press("Take up its effort"));
    scene.chromium.until(&says("taut continue"));
    assert_eq!(scene.chromium.value(&format!("!{}", press("Stop…"))), json!(true), "who asks has nothing to stop");
    scene.holder.turns("asker", "working");
    scene.chromium.until(&format!("Boolean({})", press("Stop…")));
    scene.chromium.click(&press("Stop…"));
    scene.chromium.until("document.activeElement.textContent === 'No'");
    scene.chromium.click(&press("Stop it"));
    scene.chromium.until(&says("typed into"));
    scene.chromium.click("document.querySelector('dialog textarea')");
    scene.chromium.write("then run the tests");
    scene.chromium.click(&press("Say what is next"));
    scene.chromium.until(&says("left as a note of yours"));
    let inbox = scene.stage.list(&["inbox", "--json"]);
    assert!(inbox.iter().any(|message| message["body"] == "then run the tests"), "{inbox:?}");
    scene.chromium.key("Escape");
    scene.chromium.until("document.querySelector('dialog') === null");
    assert_eq!(scene.chromium.value("document.activeElement.className"), json!("acts-button"), "the focus is back");
    assert_eq!(scene.complaints(), Vec::<String>::new());
}

/// Every text that is seen, with how it stands out from what is behind it: the worst, where it is too little.
pub const FAINT: &str = r"(() => {
    const parse = (color) => { const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
    const mix = (top, below, part) => top[part] * top.a + below[part] * (1 - top.a);
    const over = (top, below) => ({ r: mix(top, below, 'r'), g: mix(top, below, 'g'), b: mix(top, below, 'b'), a: 1 });
    const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const light = ({ r, g, b }) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const behind = (node) => {
        if (!node) return { r: 255, g: 255, b: 255, a: 1 };
        const own = parse(getComputedStyle(node).backgroundColor);
        return own.a === 1 ? own : over(own, behind(node.parentElement));
    };
    const faint = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let seen = 0;
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !node.offsetParent || node.closest('.unseen, :disabled, script, noscript, option')) continue;
        seen += 1;
        const back = behind(node);
        let through = 1;
        for (let up = node; up; up = up.parentElement) through *= Number(getComputedStyle(up).opacity);
        const ink = parse(getComputedStyle(node).color);
        const [a, b] = [light(over({ ...ink, a: ink.a * through }, back)), light(back)];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) faint.push(`${contrast.toFixed(2)} ${node.className || node.tagName}: ${walker.currentNode.textContent.slice(0, 40)}`);
    }
    return { seen, faint };
})()";

/// What reaches beyond the window, where the window scrolls sideways.
pub const STICKS_OUT: &str = r"document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll('body *')].filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
    .map((node) => `${node.tagName} ${node.className} ${Math.round(node.getBoundingClientRect().right)}`)";

#[test]
fn f4_everything_is_readable_in_both_themes_and_nothing_sticks_out_on_a_phone() {
    let mut scene = open_beside("builder", |stage| {
        let steps = [AgentStep::start(), AgentStep::prompt("go"), AgentStep::bash("git push --force")];
        stage.agent("web").play(&steps).unwrap();
    });
    let long = "x".repeat(400);
    scene.holder.asks_to_run("c1", 0, &format!("echo {long}"));
    let mut edit = shown(json!({"file_path": format!("/src/{long}.rs"), "replace_all": true}));
    edit.diff = Some(format!("@@ -1,2 +1,2 @@\n fn main() {{\n-    {long}\n+    new();\n"));
    edit.incomplete = Some("it is too long".into());
    scene.holder.asks("c2", 1, (CardKind::Permission, "Edit"), edit);
    let options = json!([{"label": long, "description": "d"}, {"label": "no"}]);
    let asked = json!({"questions": [{"question": format!("{long}?"), "header": "H", "options": options}]});
    scene.holder.asks("c3", 2, (CardKind::Question, "AskUserQuestion"), shown(asked));
    scene.chromium.until(&armed("c3"));
    scene.chromium.until("document.querySelector('.fleet tr[data-key=web]') !== null");
    for width in [1280, 360] {
        scene.chromium.size(width, 740);
        for theme in ["light", "dark"] {
            scene.chromium.scheme(theme);
            scene.chromium.value(
                "new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 450))",
            );
            assert_eq!(scene.chromium.value(STICKS_OUT), json!([]), "{width} {theme}");
            let told = scene.chromium.value(FAINT);
            assert!(told["seen"].as_u64() > Some(30), "{told}");
            assert_eq!(told["faint"], json!([]), "{width} {theme}");
            if let Some(folder) = std::env::var_os("LOOK_AT_PICTURES") {
                let picture = scene.chromium.picture();
                std::fs::write(std::path::Path::new(&folder).join(format!("cards-{width}-{theme}.png")), picture)
                    .unwrap();
            }
        }
    }
    // A finger needs room, and a window fits as well.
    let tall = format!("{}.getBoundingClientRect().height >= 44", button("c1", "yes"));
    assert_eq!(scene.chromium.value(&tall), json!(true));
    scene.chromium.value("document.querySelector('.fleet tr[data-key=web] .acts-button').click()");
    scene.chromium.until("document.querySelector('dialog[open]') !== null");
    let inside = "(() => { const one = document.querySelector('dialog'); const box = one.getBoundingClientRect(); \
        return box.left >= 0 && box.right <= innerWidth && one.scrollWidth <= one.clientWidth; })()";
    assert_eq!(scene.chromium.value(inside), json!(true));
    assert_eq!(scene.chromium.value(FAINT)["faint"], json!([]), "the window");
    scene.chromium.key("Escape");
    // Kept in the address: which, in which order, and how they are put together.
    scene.chromium.value("void (location.hash = '#/?sort=name&group=project&status=working')");
    scene.chromium.until(
        "document.querySelector('.fleet tr.group') !== null && document.querySelector('select').value === 'name'",
    );
    assert_eq!(
        scene.chromium.value("document.querySelector('.chip.working').getAttribute('aria-pressed')"),
        json!("true")
    );
    assert_eq!(scene.chromium.value(STICKS_OUT), json!([]), "put together");
    assert_eq!(scene.complaints(), Vec::<String>::new());
}

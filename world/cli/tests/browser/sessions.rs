//! What happened, in a real browser: found, filtered, opened at its moment, kept; and hostile text inert all the way.

use crate::chromium::Chromium;
use serde_json::json;
use testkit::{AgentStep, FakeTool, Stage};

pub const HOSTILE: &str =
    "\"><img src=x onerror=\"window.pwned=1\"></a><script>window.pwned=2</script>\u{202e}javascript:alert(1)";

fn end() -> AgentStep {
    AgentStep::Event { event: "SessionEnd", fields: json!({"reason": HOSTILE}) }
}

pub fn go(chromium: &mut Chromium, hash: &str) {
    chromium.value(&format!("void (location.hash = {})", json!(hash)));
}

/// Types into a field of a row of filters, as a person would.
fn filter(chromium: &mut Chromium, name: &str, value: &str) {
    let set = format!(
        "(() => {{ const field = document.querySelector('.filters [name={name}]'); field.value = {}; \
         field.dispatchEvent(new Event(field.type === 'search' || field.type === 'text' ? 'input' : 'change')); }})()",
        json!(value)
    );
    chromium.value(&set);
}

#[test]
fn f4_a_past_session_is_found_filtered_and_opened_at_its_moment_and_hostile_text_stays_text() {
    let stage = Stage::without_daemon();
    let mut steps = vec![AgentStep::start(), AgentStep::prompt(&format!("repair the sundial {HOSTILE}"))];
    steps.extend((0..130).map(|n| AgentStep::prompt(&format!("filler {n}"))));
    let read = FakeTool::new(HOSTILE, json!({"url": HOSTILE}), json!({"code": 200}));
    steps.extend([AgentStep::Tools(vec![read]), AgentStep::bash("git push --force"), end()]);
    stage.agent(HOSTILE).play(&steps).unwrap();
    stage.agent("other").play(&[AgentStep::start(), AgentStep::prompt("something else"), end()]).unwrap();
    let page = stage.page();
    let mut chromium = Chromium::start(&stage.sandbox).unwrap();
    chromium.size(1280, 800);
    chromium.go(&page.url);
    chromium.until("document.getElementById('line')?.textContent === 'live'");

    // The list, chosen by a rule, with the choice kept in the address.
    go(&mut chromium, "#/sessions");
    let names = "[...document.querySelectorAll('.sessions .name')].map(name => name.textContent.slice(0, 8))";
    chromium.until(&format!("{names}.length === 2"));
    assert_eq!(chromium.value(names), json!(["other", "\"><img s"]), "the latest first");
    filter(&mut chromium, "rule", "git-force-push");
    chromium.until(&format!("{names}.length === 1"));
    assert_eq!(chromium.value("location.hash"), json!("#/sessions?rule=git-force-push"));
    chromium.call("Page.reload", json!({}));
    chromium.until(&format!("document.querySelector('.sessions') && {names}.length === 1"));
    chromium.until("document.getElementById('line')?.textContent === 'live'");

    // A search leads to the very moment, which is on no page that is loaded by itself.
    go(&mut chromium, "#/recall?words=sundial");
    chromium.until("document.querySelector('.recall-words') !== null");
    let again = "Date.now() - (window.typed ?? 0) > 600 && (window.typed = Date.now(), \
        document.querySelector('.recall-words').dispatchEvent(new Event('input')))";
    chromium.until(&format!("({again}, document.querySelector('.hit mark')?.textContent === 'sundial')"));
    chromium.value("void document.querySelector('.hit-agent').click()");
    chromium
        .until("document.querySelector('.entry.here .about')?.textContent.startsWith('repair the sundial') === true");
    assert_eq!(chromium.value("document.activeElement.closest('.entry')?.classList.contains('here')"), json!(true));
    assert_eq!(chromium.value("document.querySelector('.later').hidden"), json!(false), "the session goes on after it");
    chromium.value("document.querySelector('.later').click()");
    chromium.until("document.querySelector('.later').hidden");
    chromium.until("document.querySelector('.timeline .entry .about').textContent.startsWith('\"><img') === true");

    // A filter of the timeline, and from a verdict to its rule and back to its moment.
    filter(&mut chromium, "text", "push --force");
    let shown = "[...document.querySelectorAll('.timeline .entry .about')].map(about => about.textContent)";
    chromium.until(&format!("JSON.stringify({shown}) === '[\"git push --force\"]'"));
    chromium.value("document.querySelector('.timeline details').open = true");
    chromium.until("document.querySelector('.timeline .links a.mono')?.textContent === 'git-force-push'");
    chromium.value("document.querySelector('.timeline .links a.mono').click()");
    chromium.until("document.querySelector('.headline h1')?.textContent === 'Force push'");
    chromium.until("document.querySelector('.verdicts details') !== null");
    chromium.value("void (document.querySelector('.verdicts details').open = true)");
    chromium.value("[...document.querySelectorAll('.verdicts .links a')].pop().click()");
    chromium.until("document.querySelector('.entry.here .about')?.textContent === 'git push --force'");

    let made = "document.querySelectorAll('main img, main script, main iframe, main [onerror]').length";
    assert_eq!((chromium.value(made), chromium.value("typeof window.pwned")), (json!(0), json!("undefined")));
    assert!(!chromium.value("document.body.innerText").as_str().unwrap().contains('\u{202e}'));
    assert_eq!(chromium.complaints(), Vec::<String>::new(), "no exception, nothing refused by the policy");
}

/// A block for each file.
fn changes_are_drawn_as_on_a_card(stage: &Stage, chromium: &mut Chromium) {
    stage.write("IMPLEMENTATION_PLAN.md", "- [x] a\n-- b\n- [ ] c");
    stage.write("a new one.txt", "++ first <b>\n");
    chromium.value("void (document.querySelector('details.changes').open = true)");
    chromium.until("document.querySelectorAll('.changes .diff').length === 2");
    let drawn = chromium.value(
        "[...document.querySelectorAll('.changes .diff')].map(one => [one.querySelector('figcaption').textContent, \
         [...one.querySelectorAll('.d-line:not(.kept)')].map(line => line.textContent)])",
    );
    let plan = json!(["1−- [ ] a", "2−- [ ] b", "3−- [ ] c", "1+- [x] a", "2+-- b", "3+- [ ] c"]);
    assert_eq!(drawn, json!([["IMPLEMENTATION_PLAN.md +3 −3", plan], ["a new one.txt +1 −0", ["1+++ first <b>"]]]));
    let notes =
        chromium.value("[...document.querySelectorAll('.changes .d-hunk')].map(one => one.textContent).join('|')");
    assert!(notes.as_str().unwrap().contains("No newline") && notes.as_str().unwrap().contains("new file"), "{notes}");
}

#[test]
fn f4_a_session_is_kept_as_a_document_and_every_view_of_the_past_is_reached_by_keys_and_fits_a_phone() {
    let stage = Stage::with_plan();
    stage
        .agent("writer")
        .play(&[AgentStep::start(), AgentStep::prompt("write the almanac"), AgentStep::bash("git push --force"), end()])
        .unwrap();
    assert!(stage.taut(&["task", "create", "auth/01", "Add the login form"]).success());
    assert!(stage.taut(&["task", "claim", "--agent", "api"]).success());
    let page = stage.page();
    let mut chromium = Chromium::start(&stage.sandbox).unwrap();
    chromium.size(1280, 800);
    chromium.go(&page.url);
    chromium.until("document.getElementById('line')?.textContent === 'live'");
    let session = stage.list(&["sessions", "--all", "--json"])[0]["id"].as_str().unwrap().to_owned();
    go(&mut chromium, &format!("#/session/{session}"));
    chromium.until("document.querySelectorAll('.timeline .entry').length >= 3");
    assert_eq!(chromium.value("document.querySelector('.state').textContent"), json!("ended"));

    changes_are_drawn_as_on_a_card(&stage, &mut chromium);

    // What the browser would put into a file.
    chromium.value(
        "void (window.kept = [], URL.createObjectURL = (blob) => (blob.text().then(text => window.kept.push(text)), '#'), \
         HTMLAnchorElement.prototype.click = function () { window.named = this.download; })",
    );
    chromium.value("void document.querySelector('[data-format=markdown]').click()");
    chromium.until("window.kept.length === 1");
    let kept = chromium.value("window.kept[0]");
    assert_eq!(kept.as_str().unwrap(), stage.taut(&["sessions", "export", &session]).stdout_text());
    let named = chromium.value("window.named");
    assert!(
        named.as_str().unwrap().starts_with("taut-session-") && named.as_str().unwrap().ends_with(".md"),
        "{named}"
    );

    // Everything that can be clicked is a link, a button, a field or a summary, and has a name.
    let nameless = "[...document.querySelectorAll('main a, main button, main input, main select, main summary')]\
        .filter(one => one.offsetParent !== null && one.tabIndex < 0 || !(one.textContent || one.labels?.[0]?.textContent \
        || one.ariaLabel || '').trim() && one.offsetParent !== null).map(one => one.outerHTML)";
    let sticks_out = "document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]\
        .filter(one => one.getBoundingClientRect().right > innerWidth).map(one => `${one.outerHTML.slice(0, 80)}`)";
    for (hash, shown) in [
        (format!("#/session/{session}"), ".timeline .entry"),
        ("#/sessions?group=1".to_owned(), ".sessions tr.group"),
        ("#/rule/git-force-push".to_owned(), ".verdicts .entry"),
        ("#/tasks".to_owned(), "a.slug"),
        ("#/runs".to_owned(), ".empty"),
        ("#/recall?words=almanac".to_owned(), ".filters"),
    ] {
        for width in [1280, 390] {
            chromium.size(width, 844);
            go(&mut chromium, &hash);
            chromium.until(&format!("document.querySelector('{shown}') !== null"));
            assert_eq!(chromium.value(nameless), json!([]), "{hash}");
            assert_eq!(chromium.value(sticks_out), json!([]), "{hash} at {width}");
        }
    }
    chromium.size(1280, 844);
    go(&mut chromium, "#/tasks");
    chromium.until("document.querySelector('a.slug')?.href.includes('#/task?') === true");
    let address = chromium.value("document.querySelector('a.slug').getAttribute('href')");
    go(&mut chromium, address.as_str().unwrap());
    chromium.until("document.querySelector('.attempt')?.textContent.includes('api') === true");
    assert_eq!(chromium.complaints(), Vec::<String>::new());
    // What there is not, or cannot be asked for, is said: neither a rule that stopped nothing nor every session there is.
    for (hash, told) in [
        ("#/rule/nope", "There is no such rule"),
        ("#/sessions?state=bogus", "This cannot be looked for"),
        ("#/almanac/<b>x", "There is nothing at this address"),
        ("#/fleet", "There is nothing at this address"),
    ] {
        go(&mut chromium, hash);
        chromium.until(&format!("document.querySelector('main .empty-title')?.textContent === '{told}'"));
        assert_eq!(chromium.value("document.querySelectorAll('main tbody tr').length"), json!(0), "{hash}");
    }
}

//! The pictures of the docs: drawn by the page itself, from a fleet that was played.

use crate::chromium::Chromium;
use crate::demo::{Demo, session_of};
use crate::fake_holder::shown;
use model::card::CardKind;
use serde_json::json;
use std::fs;
use std::path::Path;

/// What a reader of the docs has to load.
const MOST_BYTES: usize = 150_000;

#[test]
fn f4_every_view_of_a_busy_fleet_is_drawn_in_light_and_dark() {
    let demo = Demo::new();
    let page = demo.stage.page();
    let mut chromium = Chromium::start(&demo.stage.sandbox).unwrap();
    chromium.size(1280, 800);
    chromium.scheme("light");
    chromium.go(&page.url);
    chromium.until("document.querySelectorAll('.fleet tbody tr').length === 10");
    let infra = chromium.value("document.querySelector('.fleet tbody tr').innerText");
    let said = infra.as_str().unwrap().matches("the limit of this organisation is reached").count();
    assert_eq!(
        (said, infra.as_str().unwrap().contains('✗')),
        (1, false),
        "the turn is over, and its tools with it: {infra}"
    );
    keep(&mut chromium, "ui-fleet-light");
    chromium.scheme("dark");
    keep(&mut chromium, "ui-fleet-dark");
    chromium.scheme("light");
    let session = session_of(&demo.stage, "checkout-api");
    chromium.value(&format!("void (location.hash = {})", json!(format!("#/session/{session}"))));
    chromium.until(
        "document.querySelectorAll('.timeline .entry').length > 12 && document.querySelector('.curve') !== null",
    );
    assert!(chromium.value("document.querySelectorAll('.curve .point').length").as_u64() > Some(3), "a curve");
    chromium.value("document.querySelector('.entry.deny details').open = true");
    keep(&mut chromium, "ui-session");
    chromium.value("void (location.hash = '#/guard')");
    chromium.until(
        "document.querySelectorAll('.bars .count').length === 24 && document.querySelectorAll('.rules li').length > 3",
    );
    keep(&mut chromium, "ui-guard");
    chromium.value("void (location.hash = '#/tasks')");
    chromium.until("document.querySelectorAll('.queue').length === 2");
    look(&mut chromium, "ui-tasks");
    chromium.size(390, 844);
    chromium.value("void (location.hash = '#/')");
    chromium.until("document.querySelectorAll('.fleet tbody tr').length === 10");
    look(&mut chromium, "ui-phone");
    assert_eq!(chromium.complaints(), Vec::<String>::new());
}

#[test]
fn f4_what_waits_for_a_person_stands_above_the_fleet() {
    let mut scene = crate::cards::open("checkout-api");
    let file = "/home/dev/shop/src/cart/price.rs";
    let mut edit = shown(json!({"file_path": file, "old_string": "total: f64", "new_string": "total_cents: i64"}));
    edit.guard = None;
    edit.diff = Some("@@ -12,3 +12,3 @@\n pub struct Price {\n-    total: f64,\n+    total_cents: i64,\n }\n".into());
    scene.holder.asks("edit", 0, (CardKind::Permission, "Edit"), edit);
    let question = json!({"questions": [{"question": "How is a half cent rounded?", "header": "Rounding", "multiSelect": false,
        "options": [{"label": "To even", "description": "as the bank does"}, {"label": "Up", "description": "as the old cart did"}]}]});
    let mut question = shown(question);
    question.guard = None;
    scene.holder.asks("question", 1, (CardKind::Question, "AskUserQuestion"), question);
    scene.holder.turns("checkout-api", "attention");
    scene.chromium.size(1280, 800);
    scene.chromium.scheme("light");
    scene.chromium.until(&crate::cards::armed("question"));
    scene.chromium.until("document.querySelector('.fleet tbody tr')?.textContent.includes('attention') === true");
    let above = format!(
        "{}.getBoundingClientRect().bottom <= document.querySelector('.fleet').getBoundingClientRect().top",
        crate::cards::card("question")
    );
    assert_eq!(scene.chromium.value(&above), json!(true));
    keep(&mut scene.chromium, "ui-cards");
}

/// Looked at, and drawn into the docs where they are to be drawn anew.
fn keep(chromium: &mut Chromium, name: &str) {
    let picture = look(chromium, name);
    if std::env::var_os("UPDATE_PICTURES").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.png")), picture).unwrap();
    }
}

fn look(chromium: &mut Chromium, name: &str) -> Vec<u8> {
    // Two frames, and what a transition takes.
    chromium
        .value("new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 400))");
    let sticks_out = chromium.value("document.documentElement.scrollWidth > innerWidth");
    assert_eq!(sticks_out, json!(false), "{name} is wider than its window");
    let picture = chromium.picture();
    assert!(picture.len() > 10_000, "{name} is empty");
    assert!(picture.len() < MOST_BYTES, "{name} has {} bytes", picture.len());
    if let Some(folder) = std::env::var_os("LOOK_AT_PICTURES") {
        fs::write(Path::new(&folder).join(format!("{name}.png")), &picture).unwrap();
    }
    picture
}

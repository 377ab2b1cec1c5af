//! The pictures of the docs: drawn by the page itself, from a fleet that was played.

use crate::chromium::Chromium;
use crate::demo::{Demo, session_of};
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

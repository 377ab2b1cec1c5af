//! The page, as it lies in the program: nothing is fetched from elsewhere.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! asset {
    ($path:literal, $file:literal, $kind:expr) => {
        Asset { path: $path, kind: $kind, text: include_str!(concat!("assets/", $file)) }
    };
}

const ASSETS: &[Asset] = &[
    asset!("/", "index.html", HTML),
    asset!("/style.css", "style.css", CSS),
    asset!("/icon.svg", "icon.svg", "image/svg+xml"),
    asset!("/app.js", "app.js", SCRIPT),
    asset!("/dom.js", "dom.js", SCRIPT),
    asset!("/wire.js", "wire.js", SCRIPT),
    asset!("/fleet.js", "fleet.js", SCRIPT),
    asset!("/card.js", "card.js", SCRIPT),
    asset!("/cards.js", "cards.js", SCRIPT),
    asset!("/diff.js", "diff.js", SCRIPT),
    asset!("/still.js", "still.js", SCRIPT),
    asset!("/row_acts.js", "row_acts.js", SCRIPT),
    asset!("/dialogs.js", "dialogs.js", SCRIPT),
    asset!("/keys.js", "keys.js", SCRIPT),
    asset!("/machines.js", "machines.js", SCRIPT),
    asset!("/runs.js", "runs.js", SCRIPT),
    asset!("/session.js", "session.js", SCRIPT),
    asset!("/tasks.js", "tasks.js", SCRIPT),
    asset!("/guard.js", "guard.js", SCRIPT),
    asset!("/recall.js", "recall.js", SCRIPT),
    asset!("/chart.js", "chart.js", SCRIPT),
    asset!("/past.css", "past.css", CSS),
    asset!("/past.js", "past.js", SCRIPT),
    asset!("/address.js", "address.js", SCRIPT),
    asset!("/filters.js", "filters.js", SCRIPT),
    asset!("/sessions.js", "sessions.js", SCRIPT),
    asset!("/session_frame.js", "session_frame.js", SCRIPT),
    asset!("/timeline.js", "timeline.js", SCRIPT),
    asset!("/rule.js", "rule.js", SCRIPT),
    asset!("/stats.js", "stats.js", SCRIPT),
    asset!("/task.js", "task.js", SCRIPT),
    asset!("/run.js", "run.js", SCRIPT),
];

/// Only what is listed is there: a path is compared, never looked up on a disk.
pub fn serve(path: &str) -> Option<Response> {
    let asset = ASSETS.iter().find(|asset| asset.path == path)?;
    Some(([(CONTENT_TYPE, asset.kind)], asset.text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_the_page_asks_for_nothing_from_elsewhere_and_never_makes_markup_of_text() {
        for asset in ASSETS {
            for foreign in ["http://", "https://", "//cdn", "@import", "url("] {
                let own = asset.text.replace("http://www.w3.org/2000/svg", "");
                assert!(!own.contains(foreign), "{} names {foreign}", asset.path);
            }
            for unsafe_word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
            {
                assert!(!asset.text.contains(unsafe_word), "{} uses {unsafe_word}", asset.path);
            }
        }
        let page = ASSETS[0].text;
        assert!(
            !page.contains("<style") && !page.contains("style=") && !page.contains(" on"),
            "inline style or script"
        );
    }

    #[test]
    fn f4_every_file_the_page_names_is_there() {
        for asset in ASSETS {
            let named = asset.text.split(['"', '\'']).filter(|word| word.starts_with('/') || word.starts_with("./"));
            for name in named.filter(|name| name.ends_with(".js") || name.ends_with(".css") || name.ends_with(".svg")) {
                assert!(serve(name.trim_start_matches('.')).is_some(), "{} names {name}", asset.path);
            }
        }
        assert!(serve("/../Cargo.toml").is_none());
    }
}

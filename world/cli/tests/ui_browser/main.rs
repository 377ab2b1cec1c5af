//! The page of `taut ui` in a real browser (F4). `UPDATE_PICTURES=1` draws the pictures of the docs anew.

mod chromium;
mod demo;
#[path = "../ui/http.rs"]
#[expect(dead_code, reason = "the browser asks; only the stage needs the types")]
mod http;
mod page;
mod pictures;
#[path = "../ui/stage.rs"]
#[expect(dead_code, reason = "the browser needs only a part of the stage")]
mod stage;

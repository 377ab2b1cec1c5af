//! The page of `taut ui` in a real browser (F4). `UPDATE_PICTURES=1` draws the pictures of the docs anew.

mod chromium;
mod demo;
mod page;
mod pictures;

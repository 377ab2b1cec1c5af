//! The page of `taut ui` in a real browser (F4). `UPDATE_PICTURES=1` draws the pictures of the docs anew.

mod cards;
mod chromium;
mod demo;
mod fake_holder;
mod machines;
mod page;
mod pictures;
mod sessions;
mod sight;
mod stats;

//! What every view is made of, and `taut top` (F4) as a person sees it: screens, keys, and inputs of any kind.

mod any;
mod ended;
mod feed;
mod keys;
mod loops;
mod panics;
mod remote;
mod rows;
mod screens;
mod timeline;
mod top_acts;
mod top_view;

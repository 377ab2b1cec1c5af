//! What every view is made of: the rows, and the feed that says when to look.

mod feed;
mod rows;

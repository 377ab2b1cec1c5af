//! The fleet: what is seen of an agent from outside.

/// What stands in the input line of a client, as read off its pane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prompt {
    /// It waits, and nothing is typed.
    Empty,
    /// Somebody has typed something that was not sent.
    Typed,
    /// A question of the client's own stands there: a permission, a menu.
    Dialog,
    /// The screen could not be read, or shows something else.
    #[default]
    Unknown,
}

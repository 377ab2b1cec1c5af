//! What a person does to an agent, from a command, `taut top` or the page. Every
//! view comes through here, so that the same act has the same effect and leaves
//! the same event wherever it was done.
//!
//! Whether it is a person who acts is settled before: commands ask the process
//! tree and the terminal, the page its token.

mod allow_here;
mod answer;
pub mod bell;
mod error;
mod hold;
mod interrupt;
mod open_cards;
pub mod record;
pub mod remote_answer;
mod row_acts;
mod say;
mod session_diff;
mod target;
pub mod typing;

pub use allow_here::{RuleAllowance, allow_rule_here};
pub use answer::{ANSWER_EVENT, answer, let_go_words, refuse_if_over, where_words};
pub use error::ActionError;
pub use hold::{HoldRequest, hold};
pub use interrupt::{Interrupted, interrupt};
pub use open_cards::{can_be_answered, close_abandoned, open_cards};
pub use record::PERSON_ACT;
pub use row_acts::{PaneWay, mark_seen, pane, pane_way, restart, take_up};
pub use say::{Said, note, say};
pub use session_diff::{ReadDiff, session_diff};

use model::card::ActionPlace;
use std::path::PathBuf;

/// Who acts, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The name of the account.
    pub user: String,
    pub place: ActionPlace,
}

/// Where the fleet is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetPlace {
    /// The state folder, with the database.
    pub state: PathBuf,
    pub home: PathBuf,
}

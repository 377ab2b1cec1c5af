//! What a round with the server did.

use pipeline::queue::SharedRound;
use store::ServerError;

/// What a round did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedReport {
    /// Words about tasks that were said, and taken.
    pub said: usize,
    /// Results that came too late, by slug.
    pub refused: Vec<String>,
    pub renewed: usize,
    /// Tasks of this machine that another has now, or may have.
    pub lost: Vec<String>,
    /// Leases that ended, wherever they were held.
    pub expired: Vec<String>,
    pub messages_sent: usize,
    pub messages_received: usize,
    pub events_sent: u64,
    /// Events wait that this round did not get to.
    pub more_events: bool,
    /// Somebody here ought to look: a message came, or another machine's agents changed.
    pub is_news: bool,
    /// What went wrong first.
    pub error: Option<ServerError>,
    /// It came to no more than that: the server heard of nothing else.
    pub is_unmet: bool,
}

impl SharedReport {
    pub(super) fn add(&mut self, round: SharedRound) {
        let SharedRound { said, refused, renewed, lost, expired } = round;
        self.is_news |= !refused.is_empty() || !lost.is_empty();
        self.said += said;
        self.renewed += renewed;
        self.refused.extend(refused);
        self.lost.extend(lost);
        self.expired.extend(expired);
    }
}

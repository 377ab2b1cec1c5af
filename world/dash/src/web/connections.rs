//! How many connections there may be, and which one has to go when there is one more.
//!
//! Nobody waits outside: whoever comes is taken in, and the oldest of the same kind is cut off. Those who have not
//! shown the token are a kind of their own, so that no number of them, however slow, takes a place from those who have.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Both ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionEnds {
    pub peer: SocketAddr,
    pub own: SocketAddr,
}

/// What a connection is known for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectionKind {
    /// It has not shown the token: it is silent, slow, or asks for the page itself.
    Stranger,
    /// It has shown the token.
    Known,
    /// It has, and is told the news for as long as it listens.
    Stream,
}

impl ConnectionKind {
    const fn most(self) -> usize {
        match self {
            Self::Stranger => 128,
            Self::Known | Self::Stream => 64,
        }
    }
}

/// Everybody who is connected.
#[derive(Debug, Default)]
pub struct Connections(Mutex<SlotTable>);

#[derive(Debug, Default)]
struct SlotTable {
    next: u64,
    /// By kind, the oldest first.
    all: BTreeMap<(ConnectionKind, u64), Arc<Notify>>,
}

/// A place among them, given back when it is dropped.
#[derive(Debug)]
pub struct ConnectionSlot {
    crowd: Arc<Connections>,
    cut: Arc<Notify>,
    /// Where it is listed now.
    listed: Mutex<(ConnectionKind, u64)>,
}

impl Connections {
    pub fn enter(self: &Arc<Self>) -> ConnectionSlot {
        let cut = Arc::new(Notify::new());
        let listed = locked(&self.0).add(ConnectionKind::Stranger, &cut);
        ConnectionSlot { crowd: Arc::clone(self), cut, listed: Mutex::new(listed) }
    }

    /// Makes room where the system has none for another connection.
    pub fn cut_a_stranger(&self) {
        locked(&self.0).cut_oldest(ConnectionKind::Stranger);
    }
}

impl ConnectionSlot {
    /// It is known for more from now on.
    pub fn becomes(&self, kind: ConnectionKind) {
        let mut listed = locked(&self.listed);
        let mut places = locked(&self.crowd.0);
        // Who was cut off meanwhile is not taken in again.
        if places.all.remove(&listed).is_some() {
            *listed = places.add(kind, &self.cut);
        }
    }

    pub fn is(&self, kind: ConnectionKind) -> bool {
        locked(&self.listed).0 == kind
    }

    /// It is closed, whatever is still to be sent.
    pub fn cut(&self) {
        self.cut.notify_one();
    }

    pub async fn is_cut(&self) {
        self.cut.notified().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let listed = *locked(&self.listed);
        locked(&self.crowd.0).all.remove(&listed);
    }
}

impl SlotTable {
    fn add(&mut self, kind: ConnectionKind, cut: &Arc<Notify>) -> (ConnectionKind, u64) {
        self.next += 1;
        let listed = (kind, self.next);
        self.all.insert(listed, Arc::clone(cut));
        if self.of(kind).count() > kind.most() {
            self.cut_oldest(kind);
        }
        listed
    }

    fn cut_oldest(&mut self, kind: ConnectionKind) {
        let oldest = self.of(kind).next();
        if let Some(cut) = oldest.and_then(|oldest| self.all.remove(&oldest)) {
            cut.notify_one();
        }
    }

    fn of(&self, kind: ConnectionKind) -> impl Iterator<Item = (ConnectionKind, u64)> {
        self.all.range((kind, 0)..=(kind, u64::MAX)).map(|(listed, _)| *listed)
    }
}

/// What a panic left behind is still a list.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(crowd: &Connections, kind: ConnectionKind) -> usize {
        locked(&crowd.0).of(kind).count()
    }

    #[test]
    fn f4_one_stranger_too_many_costs_the_oldest_stranger_its_place_and_nobody_else() {
        let crowd = Arc::new(Connections::default());
        let known = crowd.enter();
        known.becomes(ConnectionKind::Known);
        let strangers: Vec<ConnectionSlot> = (0..1_000).map(|_| crowd.enter()).collect();
        assert_eq!(
            (listed(&crowd, ConnectionKind::Stranger), listed(&crowd, ConnectionKind::Known)),
            (ConnectionKind::Stranger.most(), 1)
        );
        strangers[0].becomes(ConnectionKind::Known);
        assert!(!strangers[0].is(ConnectionKind::Known), "it had been cut off");
        strangers[999].becomes(ConnectionKind::Stream);
        assert!(strangers[999].is(ConnectionKind::Stream) && known.is(ConnectionKind::Known));
        drop((strangers, known));
        assert_eq!(locked(&crowd.0).all.len(), 0, "places are given back");
    }
}

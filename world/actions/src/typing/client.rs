//! What the client of a session says it does.

use model::client_state::ClientState;
use model::session::Session;
use std::path::Path;
use std::time::Duration;

/// It can be missing for a moment while it is written anew.
const TRIES: usize = 6;
const AGAIN: Duration = Duration::from_millis(40);

/// `None` where there is no such word, or it is not of this session's living client.
pub fn state(session: &Session) -> Option<ClientState> {
    let (client, host_session) = (session.client?, session.host_session.as_deref()?);
    let dialect = session.memo.dialect.as_deref().and_then(|id| agents::ALL.find(id)).unwrap_or(agents::DEFAULT);
    let folder = Path::new((dialect.session_file.as_ref()?.folder)(session.transcript.as_deref()?)?);
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(AGAIN);
        }
        if !sys::process_stat::lives(client.pid, client.started) {
            return None;
        }
        if let Some(state) = host::client_state::read(dialect, folder, client, host_session) {
            return Some(state);
        }
    }
    None
}

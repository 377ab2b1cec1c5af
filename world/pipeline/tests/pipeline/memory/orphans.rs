//! S13: only several signs together end a session; "cannot tell" ends none.

use crate::home::{Living, PipelineHome};
use model::Ms;

const HOURS: i64 = 60 * 60 * 1000;

/// A client that has died without a word.
fn dead() -> u32 {
    let living = Living::new();
    living.pid()
}

#[test]
fn s13_a_silent_session_whose_client_and_pane_are_gone_is_orphaned() {
    let mut stage = PipelineHome::new();
    let gone = stage.client("gone").of(dead());
    let in_pane = stage.client("pane").of(dead()).with("TMUX", "/nowhere/tmux,1,0").with("TMUX_PANE", "%1");
    let living = stage.client("lives");
    let ids = [&gone, &in_pane, &living].map(|client| stage.start(client, "startup").id);
    let last = stage.session(&ids[2]).last_seen_at;
    assert_eq!(stage.pipeline.reap_orphans(Ms(last.0 + HOURS)).unwrap(), 0, "an hour is not silence");
    assert_eq!(stage.pipeline.reap_orphans(Ms(last.0 + 3 * HOURS)).unwrap(), 2);
    let reasons = ids.map(|id| stage.session(&id).end_reason);
    assert_eq!(reasons, [Some("orphaned".into()), Some("orphaned".into()), None]);
}

#[test]
fn s13_where_it_cannot_be_told_nothing_is_ended() {
    let mut stage = PipelineHome::new();
    let nameless = stage.client("nameless").with("CLAUDE_PID", "");
    let session = stage.start(&nameless, "startup");
    stage.pipeline.reap_orphans(Ms(session.last_seen_at.0 + 48 * HOURS)).unwrap();
    assert!(stage.session(&session.id).ended_at.is_none(), "no client is known");
}

//! ConfigChange: settings that lose our hooks are not taken over by a running
//! client. The user's own `taut uninstall` says so first and is let through.

use super::ReplyDraft;
use crate::event_context::EventContext;
use model::effect::{Audience, Injection, Write};
use model::event::{Body, Family};
use model::reply::{ByFamily, Reply, Veto};

const RULE: &str = "hooks-removed";

pub fn say(event: &EventContext<'_>) -> ReplyDraft {
    let removed = event.facts.settings.is_some_and(|file| file.installed && !file.intact && !file.leaving);
    if !removed {
        return Reply::nothing(Family::Veto).into();
    }
    let file = match &event.envelope.body {
        Body::ConfigChange { file: Some(file), .. } => file.as_str(),
        _ => "the settings",
    };
    let told = format!(
        "Taut's hooks were removed from, added to or switched off in {file}. This session goes on with them. \
         `taut doctor` shows what is left, `taut init` puts them back, `taut uninstall` removes them for good."
    );
    let notice = event.session().map(|session| {
        Write::Injection(Injection { session: session.id.clone(), audience: Audience::User, text: told.clone() })
    });
    let veto = Veto { block: Some(told), halt: None };
    ReplyDraft {
        reply: Reply { answer: ByFamily::Veto(veto), ..Reply::default() },
        writes: notice.into_iter().collect(),
        rules: vec![RULE.to_string()],
        ..ReplyDraft::default()
    }
}

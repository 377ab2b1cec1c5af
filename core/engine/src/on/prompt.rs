//! UserPromptSubmit: what was stored to be told is told once.

use super::{Moment, Said};
use model::effect::{Audience, Injection};
use model::reply::{ByFamily, Context, Reply};

pub fn say(moment: &Moment<'_>) -> Said {
    let text = joined(&moment.loaded.waiting, Audience::Model);
    let user_line = joined(&moment.loaded.waiting, Audience::User);
    Reply { answer: ByFamily::Context(Context { text }), user_line, ..Reply::default() }.into()
}

fn joined(waiting: &[Injection], audience: Audience) -> Option<String> {
    let texts: Vec<&str> =
        waiting.iter().filter(|one| one.audience == audience).map(|one| one.text.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

//! What each family of events is answered with. One file per family that has
//! something to say.

mod gate;

use model::Findings;
use model::event::{Envelope, Family};
use model::reply::{ByFamily, GateStop, Reply};

pub fn reply(envelope: &Envelope, findings: &Findings) -> Reply {
    match envelope.kind.family() {
        Family::Gate => gate::reply(findings),
        family => Reply::nothing(family),
    }
}

/// The reason a reply gives for stopping something, if it stops anything.
pub fn reason(reply: &Reply) -> Option<String> {
    match &reply.answer {
        ByFamily::Gate(gate) => gate.stop.as_ref().map(|stop| match stop {
            GateStop::Ask { reason } | GateStop::Deny { reason, .. } => reason.clone(),
        }),
        ByFamily::Permission(permission) => permission.deny.clone(),
        ByFamily::Feedback(feedback) => feedback.block.clone(),
        ByFamily::Veto(veto) => veto.block.clone(),
        ByFamily::Context(_) | ByFamily::Silent => None,
    }
}

//! What an agent cannot be told is not said: a question it cannot put to its user is a denial, and what it would not
//! read is left out. Done before anything is stored, so that what is stored is what was answered.

use model::Envelope;
use model::reply::{ByFamily, GateStop, Reply};

pub fn expressible(mut reply: Reply, envelope: &Envelope) -> Reply {
    let can = envelope.agent.expresses;
    let (context, block) = (can.context.has(envelope.kind), can.block.has(envelope.kind));
    match &mut reply.answer {
        ByFamily::Gate(gate) => {
            gate.context.take_if(|_| !context);
            match gate.stop.take() {
                Some(GateStop::Ask { reason }) if !can.ask => gate.stop = Some(GateStop::Deny { reason, halt: None }),
                Some(GateStop::Deny { reason, halt }) => {
                    gate.stop = Some(GateStop::Deny { reason, halt: halt.filter(|_| can.halt) });
                }
                stop => gate.stop = stop,
            }
        }
        ByFamily::Feedback(feedback) => {
            feedback.context.take_if(|_| !context);
            feedback.block.take_if(|_| !block);
            feedback.halt.take_if(|_| !can.halt);
        }
        ByFamily::Context(told) => {
            told.text.take_if(|_| !context);
        }
        ByFamily::Permission(permission) => {
            permission.deny.take_if(|_| !block);
        }
        ByFamily::Veto(veto) => {
            veto.block.take_if(|_| !block);
            veto.halt.take_if(|_| !can.halt);
        }
        ByFamily::Silent => {}
    }
    reply.user_line.take_if(|_| !can.user_line);
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::tests::envelope;
    use model::agent::{AgentProfile, EventSet, Expresses, HelperSessions};
    use model::event::{Body, EventKind};
    use model::reply::{Context, Feedback, Gate, Halt};

    /// An agent that can be told no, and nothing else.
    static TERSE: AgentProfile = AgentProfile {
        id: "terse",
        name: "Terse",
        expresses: Expresses {
            ask: false,
            context: EventSet::Only(&[]),
            block: EventSet::Only(&[EventKind::PreToolUse]),
            halt: false,
            user_line: false,
            rewrite: false,
        },
        helpers: HelperSessions::Marked,
        tells_batches: false,
        folder: ".terse",
        instructions: "TERSE.md",
        variables: agents::DEFAULT.profile.variables,
        windows: &[],
        transcript: agents::DEFAULT.profile.transcript,
    };

    fn said(kind: EventKind, answer: ByFamily) -> Reply {
        let told = Envelope { agent: &TERSE, ..envelope(kind, Body::Plain) };
        expressible(Reply { answer, user_line: Some("you".into()), ..Reply::default() }, &told)
    }

    #[test]
    fn a_question_becomes_a_denial_and_context_nothing_where_the_agent_cannot_be_told_them() {
        let gate = Gate { stop: Some(GateStop::Ask { reason: "why".into() }), context: Some("more".into()) };
        let deny = GateStop::Deny { reason: "why".into(), halt: None };
        let answer = ByFamily::Gate(Gate { stop: Some(deny), context: None });
        assert_eq!(said(EventKind::PreToolUse, ByFamily::Gate(gate)), Reply { answer, ..Reply::default() });
        let context = ByFamily::Context(Context { text: Some("more".into()) });
        assert_eq!(said(EventKind::SessionStart, context).answer, ByFamily::Context(Context::default()));
        let halt = Some(Halt { stop_reason: "full".into() });
        let feedback = Feedback { block: Some("go on".into()), context: Some("more".into()), halt };
        assert_eq!(said(EventKind::Stop, ByFamily::Feedback(feedback)).answer, ByFamily::Feedback(Feedback::default()));
    }

    #[test]
    fn what_an_agent_can_express_is_left_as_it_is() {
        let gate = Gate { stop: Some(GateStop::Ask { reason: "why".into() }), context: Some("more".into()) };
        let reply = Reply { answer: ByFamily::Gate(gate), user_line: Some("you".into()), ..Reply::default() };
        assert_eq!(expressible(reply.clone(), &envelope(EventKind::PreToolUse, Body::Plain)), reply);
    }
}

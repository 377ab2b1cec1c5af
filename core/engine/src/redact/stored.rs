//! Everything that a decision has stored, told or written to a file, without
//! the secrets in its words. Names, paths and ids stay: they are looked up.

use super::json::whole;
use super::{kept_up_to, text_without_secrets as clean};
use model::effect::{After, Write};
use model::effort::{HandOver, MemoryWrite, Refused};
use model::memory_file::FactChange;
use model::reply::{ByFamily, GateStop, Halt, Reply};
use model::session_facts::SessionNote;
use model::task::{AttemptChange, TaskPlan, TaskTransition};

/// More of an agent's last words is not kept.
const LONGEST_WORDS: usize = 16 * 1024;

/// What is kept of what an agent said last.
pub fn last_words(words: &str) -> String {
    kept_up_to(words.trim(), LONGEST_WORDS)
}

pub fn write(write: Write) -> Write {
    match write {
        Write::Session(mut session) => {
            scrub(&mut session.status_text);
            scrub(&mut session.end_reason);
            Write::Session(session)
        }
        Write::Event(mut event) => {
            scrub(&mut event.reason);
            Write::Event(event)
        }
        Write::Strike(mut strike) => {
            strike.intent.target = clean(&strike.intent.target);
            Write::Strike(strike)
        }
        Write::Injection(mut injection) => {
            injection.text = clean(&injection.text);
            Write::Injection(injection)
        }
        Write::Task(done) => Write::Task(Box::new(turn(*done))),
        Write::Memory(kept) => Write::Memory(keep(kept)),
        Write::Fact { session, note: SessionNote::LastWords(words), at } => {
            Write::Fact { session, note: SessionNote::LastWords(last_words(&words)), at }
        }
        Write::Fact { session, note: SessionNote::FailedTool(mut failed), at } => {
            scrub(&mut failed);
            Write::Fact { session, note: SessionNote::FailedTool(failed), at }
        }
        plain @ (Write::Agent(_)
        | Write::AgentName(_)
        | Write::Card(_)
        | Write::Rest { .. }
        | Write::Allowance(_)
        | Write::AllowanceSpent(_)
        | Write::StrikesDelivered { .. }
        | Write::InjectionsShown { .. }
        | Write::Fact { note: SessionNote::Began(_) | SessionNote::GoesOn { .. }, .. }) => plain,
    }
}

pub fn turn(mut turn: TaskTransition) -> TaskTransition {
    scrub(&mut turn.after.fail_reason);
    if let AttemptChange::Ended { reason, .. } = &mut turn.attempt {
        scrub(reason);
    }
    turn.result = turn.result.as_ref().map(whole);
    turn
}

/// What a planner says of a task. Its slug is how it is called, and stays.
pub fn plan(mut plan: TaskPlan) -> TaskPlan {
    plan.title = clean(&plan.title);
    scrub(&mut plan.description);
    scrub(&mut plan.reference);
    plan.steps.iter_mut().for_each(|step| step.content = clean(&step.content));
    plan
}

/// A text that is changed by hand.
pub fn change(text: &mut Option<String>) {
    scrub(text);
}

/// What is written to files: they lie in the user's project and are read by others.
pub fn after(after: After) -> After {
    match after {
        After::Append { path, text } => After::Append { path, text: clean(&text) },
        After::Replace { path, text } => After::Replace { path, text: clean(&text) },
        After::Fact { path, change: FactChange::Keep { text, date, by } } => {
            After::Fact { path, change: FactChange::Keep { text: clean(&text), date, by } }
        }
        // What is to go is named as it stands.
        plain @ (After::Fact { .. }
        | After::EnsureDaemon
        | After::StatusChanged { .. }
        | After::Sent { .. }
        | After::Tell
        | After::Owed) => plain,
    }
}

/// What is answered is stored, and stored as it was answered.
pub fn reply(mut reply: Reply) -> Reply {
    scrub(&mut reply.user_line);
    scrub(&mut reply.ring);
    scrub(&mut reply.warning);
    match &mut reply.answer {
        ByFamily::Gate(gate) => {
            scrub(&mut gate.context);
            match &mut gate.stop {
                Some(GateStop::Ask { reason }) => *reason = clean(reason),
                Some(GateStop::Deny { reason, halt }) => {
                    *reason = clean(reason);
                    halted(halt);
                }
                None => {}
            }
        }
        ByFamily::Permission(permission) => scrub(&mut permission.deny),
        ByFamily::Feedback(feedback) => {
            scrub(&mut feedback.block);
            scrub(&mut feedback.context);
            halted(&mut feedback.halt);
        }
        ByFamily::Context(context) => scrub(&mut context.text),
        ByFamily::Veto(veto) => {
            scrub(&mut veto.block);
            halted(&mut veto.halt);
        }
        ByFamily::Silent => {}
    }
    reply
}

fn halted(halt: &mut Option<Halt>) {
    if let Some(halt) = halt {
        halt.stop_reason = clean(&halt.stop_reason);
    }
}

pub fn keep(keep: MemoryWrite) -> MemoryWrite {
    match keep {
        MemoryWrite::Effort(mut effort) => {
            scrub(&mut effort.phase);
            scrub(&mut effort.title);
            effort.metadata = whole(&effort.metadata);
            MemoryWrite::Effort(effort)
        }
        MemoryWrite::Phase(mut step) => {
            step.label = clean(&step.label);
            scrub(&mut step.approved);
            MemoryWrite::Phase(step)
        }
        MemoryWrite::HandOver(mut stored) => {
            stored.hand_over = account(stored.hand_over);
            stored.title = clean(&stored.title);
            MemoryWrite::HandOver(stored)
        }
        MemoryWrite::Message(mut message) => {
            message.body = clean(&message.body);
            MemoryWrite::Message(message)
        }
        MemoryWrite::Status { session, text } => MemoryWrite::Status { session, text: clean(&text) },
        MemoryWrite::PreExecuted(mut pre_executed) => {
            pre_executed.output = clean(&pre_executed.output);
            pre_executed.refused = pre_executed.refused.map(refused);
            MemoryWrite::PreExecuted(pre_executed)
        }
        plain => plain,
    }
}

fn account(mut account: HandOver) -> HandOver {
    account.work.texts_mut().for_each(|text| *text = clean(text));
    let all = |texts: Vec<String>| texts.iter().map(|text| clean(text)).collect();
    HandOver {
        summary: clean(&account.summary),
        last_action: clean(&account.last_action),
        next_steps: all(account.next_steps),
        required_files: all(account.required_files),
        handover_instructions: account.handover_instructions.as_deref().map(clean),
        user_history: account.user_history.as_deref().map(clean),
        ..account
    }
}

fn refused(refused: Refused) -> Refused {
    match refused {
        Refused::Failed(why) => Refused::Failed(clean(&why)),
        Refused::NotFound(why) => Refused::NotFound(clean(&why)),
    }
}

fn scrub(text: &mut Option<String>) {
    if let Some(text) = text {
        *text = clean(text);
    }
}

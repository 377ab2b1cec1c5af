//! Who may say what proves a task. The loop runs that command outside any
//! sandbox, and the guard never sees it: so a person says it, and no agent. And
//! while a loop proves, no agent of it gets round the proof by hand.

use super::proof::proof_for;
use super::{PlanContext, QueueError, known};
use engine::queue::{Proof, Speaker};
use model::task::{Queued, TaskPlan};

/// Refuses where an agent says what proves a task, or that nothing does; and anybody where the queue is shared, since
/// whoever writes to a server would say what the loops of others run.
pub(super) fn may_set(verify: Option<&String>, speaker: &Speaker, is_shared: bool) -> Result<(), QueueError> {
    match (verify, speaker) {
        (Some(_), _) if is_shared => Err(QueueError::Wrong(
            "the queue of this project is on a server, and no command comes from there: leave --verify out, and \
             let `verify` under [loop] in the project's configuration prove every task. Nothing was written"
                .to_string(),
        )),
        (Some(_), Speaker::Agents(_)) => Err(QueueError::Wrong(format!(
            "this comes from {}; what proves a task is said by a person, because the loop runs it: leave --verify out, \
             and say in the description what would prove it. Nothing was written",
            speaker.shown()
        ))),
        _ => Ok(()),
    }
}

/// What proves a task is not sent to a server. Gives why of each task that had such a command.
pub(super) fn take_from_all(lines: &mut [(usize, TaskPlan)]) -> Vec<String> {
    let take = |(_, plan): &mut (usize, TaskPlan)| {
        plan.verify.take().map(|_| format!("the command that proves {} is not sent to a server", plan.slug))
    };
    lines.iter_mut().filter_map(take).collect()
}

/// An agent's plan is taken over without the commands in it. Gives the tasks that had one.
pub(super) fn take_from_agents(lines: &mut [(usize, TaskPlan)], speaker: &Speaker) -> Vec<String> {
    if *speaker == Speaker::Person {
        return Vec::new();
    }
    let take = |(_, plan): &mut (usize, TaskPlan)| plan.verify.take().map(|_| plan.slug.clone());
    lines.iter_mut().filter_map(take).collect()
}

/// Whatever an agent plans, the command that a person gave the task stays.
pub(super) fn kept_from_agents(
    tx: &PlanContext<'_>,
    task: &Queued,
    plan: &TaskPlan,
    speaker: &Speaker,
) -> Result<TaskPlan, QueueError> {
    let mut plan = plan.clone();
    if *speaker != Speaker::Person {
        plan.verify = tx.verify_of(task)?;
    }
    Ok(plan)
}

/// Refuses where an agent whose work is proven would call a task done by hand.
pub(super) fn may_finish(tx: &PlanContext<'_>, task: &Queued, speaker: &Speaker) -> Result<(), QueueError> {
    let slug = &task.slug;
    proven(tx, task, speaker)?.map_or(Ok(()), |agent| {
        Err(QueueError::Wrong(format!(
            "what agent {agent} does is proven by its loop, so no task is made done by hand here; claim '{slug}' and \
             say `taut task done {slug}`"
        )))
    })
}

/// Refuses where an agent whose work is proven would delete a task that is not done: that is no proof.
pub(super) fn may_delete(tx: &PlanContext<'_>, task: &Queued, speaker: &Speaker) -> Result<(), QueueError> {
    let slug = &task.slug;
    open_and_proven(tx, task, speaker)?.map_or(Ok(()), |agent| {
        Err(QueueError::Wrong(format!(
            "what agent {agent} does is proven by its loop, so task '{slug}' is not deleted before it is done; if it is \
             not needed, claim it and say why with `taut task fail {slug} --reason …`"
        )))
    })
}

/// The same for letting a task go before what it waits for is done.
pub(super) fn may_unblock(
    tx: &PlanContext<'_>,
    task: &Queued,
    blocker: &Queued,
    speaker: &Speaker,
) -> Result<(), QueueError> {
    open_and_proven(tx, blocker, speaker)?.map_or(Ok(()), |agent| {
        Err(QueueError::Wrong(format!(
            "what agent {agent} does is proven by its loop, so task '{}' waits for '{}' until that is done",
            task.slug, blocker.slug
        )))
    })
}

/// Those a task waits for that these dependencies would leave out, and must not: each with the words that say so.
pub(super) fn kept_blockers(
    tx: &PlanContext<'_>,
    task: &Queued,
    (before, after): (&[String], &[String]),
    speaker: &Speaker,
) -> Result<Vec<(Queued, String)>, QueueError> {
    let mut kept = Vec::new();
    for slug in before.iter().filter(|slug| *speaker != Speaker::Person && !after.contains(slug)) {
        let blocker = known(tx.rows, &task.project, slug)?;
        match may_unblock(tx, task, &blocker, speaker) {
            Err(QueueError::Wrong(why)) => kept.push((blocker, why)),
            other => other?,
        }
    }
    Ok(kept)
}

fn open_and_proven(tx: &PlanContext<'_>, task: &Queued, speaker: &Speaker) -> Result<Option<String>, QueueError> {
    if task.status.unblocks() { Ok(None) } else { proven(tx, task, speaker) }
}

/// The agent that speaks, where its loop proves what it does on this task.
fn proven(tx: &PlanContext<'_>, task: &Queued, speaker: &Speaker) -> Result<Option<String>, QueueError> {
    let verify = tx.verify_of(task)?;
    match proof_for(tx.proves, speaker.agents(), verify.as_deref())? {
        Proof::WantedBy(agent) => Ok(Some(agent)),
        Proof::None => Ok(None),
    }
}

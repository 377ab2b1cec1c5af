//! Who may say what proves a task. The loop runs that command outside any
//! sandbox, and the guard never sees it: so a person says it, and no agent.

use super::QueueError;
use super::proof::proof_for;
use engine::queue::{Proof, Speaker};
use model::task::{Queued, TaskPlan};
use store::Tx;

/// Refuses where an agent says what proves a task, or that nothing does.
pub(super) fn may_set(verify: Option<&String>, speaker: &Speaker) -> Result<(), QueueError> {
    match (verify, speaker) {
        (Some(_), Speaker::Agents(_)) => Err(QueueError::Wrong(format!(
            "this comes from {}; what proves a task is said by a person, because the loop runs it: leave --verify out, \
             and say in the description what would prove it. Nothing was written",
            speaker.shown()
        ))),
        _ => Ok(()),
    }
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
    tx: &Tx<'_>,
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
pub(super) fn may_finish(tx: &Tx<'_>, task: &Queued, speaker: &Speaker) -> Result<(), QueueError> {
    let Speaker::Agents(agents) = speaker else { return Ok(()) };
    let verify = tx.verify_of(task)?;
    for agent in agents {
        if proof_for(tx, agent, verify.as_deref())? == Proof::Wanted {
            return Err(QueueError::Wrong(format!(
                "what agent {agent} does is proven by its loop, so no task is made done by hand here; claim '{0}' and \
                 say `taut task done {0}`",
                task.slug
            )));
        }
    }
    Ok(())
}

//! The honest answer to "why is nothing running".

use model::Ms;
use model::task::Counts;

/// What the store knows of tasks that cannot be claimed. Lists are short
/// samples; the counts are whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnclaimableTasks {
    pub counts: Counts,
    pub claimable: i64,
    /// The task, and the blockers it waits for.
    pub blocked: Vec<(String, Vec<String>)>,
    /// A circle of tasks that wait for each other.
    pub circle: Option<Vec<String>>,
    /// The task, and when its rest is over.
    pub backing_off: Vec<(String, Ms)>,
    /// The task, and why.
    pub quarantined: Vec<(String, String)>,
    /// The task, who has it, and until when.
    pub leased: Vec<(String, String, Ms)>,
    /// The task, and who said that it is done.
    pub proposed: Vec<(String, String)>,
}

/// One reason, as data and in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitReason {
    /// `claimable`, `empty`, `finished`, `cycle`, `blocked`, `backing_off`, `quarantined`, `leased`, `proposed`.
    pub kind: &'static str,
    pub tasks: Vec<String>,
    pub text: String,
}

/// No list of tasks is longer.
const MOST: usize = 20;

pub fn why(waiting: &UnclaimableTasks, now: Ms) -> Vec<WaitReason> {
    let mut reasons = Vec::new();
    let mut say = |kind, tasks: Vec<String>, text: String| reasons.push(WaitReason { kind, tasks, text });
    let counts = &waiting.counts;
    let alive = counts.open + counts.active + counts.blocked + counts.quarantined;
    if alive == 0 && counts.done == 0 {
        say("empty", Vec::new(), "there are no tasks; `taut task plan-sync` or `taut task create` makes some".into());
    } else if alive == 0 {
        say("finished", Vec::new(), format!("everything is done ({} tasks)", counts.done));
    }
    if waiting.claimable > 0 {
        let text = format!("{} can be claimed now; `taut task claim` takes the first", tasks(waiting.claimable));
        say("claimable", Vec::new(), text);
    }
    if let Some(circle) = &waiting.circle {
        let text = format!("{} wait for each other; `taut task unblock` one of them", super::round(circle));
        say("cycle", circle.iter().take(MOST).cloned().collect(), text);
    }
    for (slug, blockers) in &waiting.blocked {
        say("blocked", vec![slug.clone()], format!("{slug} waits for {}", blockers.join(", ")));
    }
    for (slug, until) in &waiting.backing_off {
        let seconds = until.0.saturating_sub(now.0).max(0) / 1000 + 1;
        say("backing_off", vec![slug.clone()], format!("{slug} failed and may be tried again in {seconds} s"));
    }
    for (slug, reason) in &waiting.quarantined {
        let text = format!("{slug} is quarantined ({reason}); `taut task requeue {slug}` gives it another chance");
        say("quarantined", vec![slug.clone()], text);
    }
    for (slug, agent, until) in &waiting.leased {
        let seconds = until.0.saturating_sub(now.0).max(0) / 1000;
        let text = format!("{slug} is held by {agent} for another {seconds} s unless it is renewed");
        say("leased", vec![slug.clone()], text);
    }
    for (slug, agent) in &waiting.proposed {
        let text = format!("{slug} is done, as {agent} says, and waits for proof");
        say("proposed", vec![slug.clone()], text);
    }
    reasons
}

fn tasks(count: i64) -> String {
    if count == 1 { "1 task".to_string() } else { format!("{count} tasks") }
}

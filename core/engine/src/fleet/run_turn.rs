//! What a run of the loop is in the fleet: whether somebody has to look, and what a person is told of it.

use model::Ms;
use model::row::{Agent, AgentStatus, Event};
use model::run::{Finish, Run, RunState};
use policy::notify::Offset;
use serde_json::json;

/// A run as it is seen from outside.
#[derive(Debug, Clone, Copy)]
pub struct SeenRun<'a> {
    pub run: &'a Run,
    /// Its process is there.
    pub alive: bool,
    /// Its last iteration was not let do something.
    pub denied: bool,
    /// When it was last known to do something.
    pub touched: Ms,
}

/// The names of what a run tells, where an agent's turn has the event that made it.
pub(super) const TURN: &str = "LoopTurn";
pub(super) const WAIT: &str = "LoopWait";

/// A wait longer than this is told; what is shorter is over before anybody has looked.
const LONG_WAIT_MS: i64 = 5 * 60_000;

/// Whether a person has to look: an error, work that cannot go on, things it was not let do, a pause.
pub fn run_status(seen: &SeenRun<'_>) -> AgentStatus {
    let run = seen.run;
    match (run.finished_at, run.finish) {
        (Some(_), Some(Finish::Error) | None) => AgentStatus::Error,
        (Some(_), Some(Finish::Stuck | Finish::HookAbort)) => AgentStatus::Attention,
        (Some(_), Some(Finish::NoChanges)) if seen.denied => AgentStatus::Attention,
        (Some(_), Some(_)) => AgentStatus::Done,
        (None, _) if !seen.alive => AgentStatus::Error,
        (None, _) if run.live.state == RunState::Paused => AgentStatus::Attention,
        (None, _) => AgentStatus::Working,
    }
}

/// What a person is told of it now, as an agent that turned and the event that made it; nothing while it works, and
/// nothing of what they did themselves. A worker's end is a matter of who started it.
pub fn run_turn(seen: &SeenRun<'_>, now: Ms, offset: Offset) -> Option<(Agent, Event)> {
    let run = seen.run;
    let status = run_status(seen);
    if run.parent.is_some() || run.finish == Some(Finish::Manual) {
        return None;
    }
    let waits = run.live.until.filter(|until| run.live.state == RunState::Waiting && until.since(now) > LONG_WAIT_MS);
    let place = run.folder.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/");
    let why = run.why.as_deref().unwrap_or_default();
    let (status, name, said) = match (run.finished_at, waits, status) {
        (Some(_), ..) => (status, TURN, format!("{place}: {} ({why})", run.finish.map_or("error", Finish::name))),
        (None, Some(until), AgentStatus::Working) => {
            let what = run.live.waits_for.as_deref().unwrap_or("a limit");
            (AgentStatus::Attention, WAIT, format!("{place}: until {} ({what})", wall(until, offset)))
        }
        (None, _, AgentStatus::Attention) => (status, TURN, format!("{place}: it is paused")),
        (None, _, AgentStatus::Error) => (status, TURN, format!("{place}: its process is gone")),
        (None, ..) => return None,
    };
    let agent = Agent {
        id: format!("loop-{}", run.short()),
        named: true,
        status,
        dialect: None,
        session: None,
        project: run.project.clone(),
        since: seen.touched,
    };
    let noted = Event::noted(name, &agent.id, String::new(), seen.touched);
    let event = Event { detail: json!({"message": said, "run": run.id}), ..noted };
    Some((agent, event))
}

/// `14:30`, as the user's clock shows it.
fn wall(at: Ms, offset: Offset) -> String {
    at.plus(i64::from(offset.seconds) * 1000).rfc3339().get(11..16).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::RunProgress;

    const NOON: Ms = Ms(12 * 3_600_000);

    fn told(run: &Run, alive: bool) -> Option<(AgentStatus, String)> {
        let seen = SeenRun { run, alive, denied: false, touched: NOON };
        run_turn(&seen, NOON, Offset { seconds: 3_600 }).map(|(agent, event)| {
            (agent.status, crate::fleet::notify::notice(agent.status, &[subject(&agent, &event)]).line())
        })
    }

    fn subject<'a>(agent: &'a Agent, event: &'a Event) -> crate::fleet::notify::Subject<'a> {
        crate::fleet::notify::Subject { agent, name: &agent.id, cause: Some(event), task: None, card: None }
    }

    fn run(state: RunState) -> Run {
        Run {
            id: "0199-000000a0".into(),
            folder: "/home/ada/shop".into(),
            live: RunProgress { state, ..RunProgress::default() },
            ..Run::default()
        }
    }

    fn over(finish: Finish, why: &str) -> Run {
        Run { finish: Some(finish), finished_at: Some(NOON), why: Some(why.into()), ..run(RunState::Over) }
    }

    #[test]
    fn l13_an_end_a_pause_and_a_long_wait_are_told_with_project_finish_and_why() {
        let waits = |minutes: i64| Run {
            live: RunProgress {
                state: RunState::Waiting,
                until: Some(NOON.plus(minutes * 60_000)),
                waits_for: Some("the usage limit".into()),
                ..RunProgress::default()
            },
            ..run(RunState::Waiting)
        };
        let line = |status, line: &str| Some((status, line.to_string()));
        let cases = [
            (
                over(Finish::Complete, "everything is done"),
                true,
                line(AgentStatus::Done, "loop-000000a0 is done: shop: complete (everything is done)"),
            ),
            (
                over(Finish::Error, "the agent ended with 1"),
                true,
                line(AgentStatus::Error, "loop-000000a0 ran into an error: shop: error (the agent ended with 1)"),
            ),
            (
                over(Finish::Stuck, "nothing can be claimed"),
                true,
                line(AgentStatus::Attention, "loop-000000a0 needs you: shop: stuck (nothing can be claimed)"),
            ),
            (run(RunState::Paused), true, line(AgentStatus::Attention, "loop-000000a0 needs you: shop: it is paused")),
            (
                run(RunState::Running),
                false,
                line(AgentStatus::Error, "loop-000000a0 ran into an error: shop: its process is gone"),
            ),
            (waits(30), true, line(AgentStatus::Attention, "loop-000000a0 waits: shop: until 13:30 (the usage limit)")),
            (waits(4), true, None),
            (run(RunState::Running), true, None),
            (over(Finish::Manual, "stopped by hand"), true, None),
            (Run { parent: Some("p".into()), ..over(Finish::Error, "x") }, true, None),
        ];
        for (run, alive, wanted) in cases {
            assert_eq!(told(&run, alive), wanted, "{run:?}");
        }
    }
}

//! The work of a hook against the clock. Everything that may stall (the process
//! tree, the daemon, files, the database) is done by a process of its own that
//! may be left behind; this one waits, and answers when time is up.

use super::call::Arrived;
use super::message::SideMessage;
use daemon::Client;
use engine::CheckpointWish;
use fast_client::limits;
use host::paths::PathVariables;
use model::effect::After;
use model::{Answer, Call};
use pipeline::{Pipeline, Response};
use runner::{KeepRequest, KeepSize, RunnerError};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::side_process::{self, MessagePipe, Received, SideProcess};

/// When the wait for a verdict ends, counted from the start of this process. The first is for a process that reads
/// stdin and asks the daemon itself, the second for one whose shares of stdin and daemon (800 and 600 of 2,000 ms,
/// 200 and 300 of 900) were spent before it began.
const JUDGED_BY: [Duration; 2] = [Duration::from_millis(1_600), Duration::from_millis(330)];
const JUDGED_BY_SESSION_END: [Duration; 2] = [Duration::from_millis(600), Duration::from_millis(180)];

/// Once the verdict is known, storing it is waited for so long.
const STORING_TIME: Duration = Duration::from_millis(450);

/// Judging the words alone, when looking at the project was not done in time.
const LAST_LOOK: Duration = Duration::from_millis(60);

/// Taking a call apart that not even its words could be judged of.
const BARE_LOOK: Duration = Duration::from_millis(130);

/// What keeping an event in the spool may take when the database did not answer.
const SPOOL_TIME: Duration = Duration::from_millis(80);

/// What a checkpoint may take besides its own limit: to end git, and to say so.
const KEEPING_SLACK: Duration = Duration::from_millis(200);

const WITHOUT_CHECKPOINT: &str = "no checkpoint was kept before this call";

/// Stands for what was said by another hook within the last minute.
const QUIET: &str = "-";

/// In characters: a path of somebody's may be in it.
const LONGEST_TROUBLE: usize = 1_000;

/// The answer, and who is still at work on what follows it.
pub fn work(arrived: &Arrived, begun: Instant) -> (Answer, Option<SideProcess>) {
    let [alone, after_shares] = if arrived.is_session_end() { JUDGED_BY_SESSION_END } else { JUDGED_BY };
    let mut until = begun + if arrived.shares_spent { after_shares } else { alone };
    let Ok(mut working) = side_process::start(|pipe| serve(arrived, pipe)) else {
        return (undecided(arrived, None, "there is no room for another process"), None);
    };
    let (mut folder, mut known, mut stored) = (None, None, None);
    loop {
        let heard = working.receive(until);
        let late = heard == Received::TimeIsUp;
        match heard {
            Received::Message(message) => match SideMessage::read(&message) {
                Some(SideMessage::Folder(state)) => folder = Some(PathBuf::from(state)),
                Some(SideMessage::Early { answer, event }) => {
                    known = Some((answer, event));
                    until = until.min(Instant::now() + STORING_TIME);
                }
                Some(SideMessage::Keeping(answer)) => {
                    stored = Some(answer);
                    until = Instant::now() + runner::KEEPING_TIME + KEEPING_SLACK;
                }
                Some(SideMessage::Last(answer)) => return (answer, Some(working)),
                None => {}
            },
            Received::TimeIsUp | Received::Ended => {
                if let Some(answer) = stored {
                    working.end();
                    return (without_checkpoint(answer, "it took too long"), None);
                }
                let answer = match known {
                    Some((answer, event)) => spooled(answer, &event, folder),
                    None => {
                        // What it would find comes too late, and looking on costs the processor.
                        working.end();
                        undecided(arrived, folder, why(arrived, late))
                    }
                };
                return (answer, None);
            }
        }
    }
}

fn why(arrived: &Arrived, late: bool) -> &'static str {
    match (arrived.is_silent(), late) {
        (true, _) => "nothing came on its stdin in time",
        (false, true) => "it took too long",
        (false, false) => "Taut crashed on it",
    }
}

/// Asks the daemon, and does the work itself where there is none.
fn serve(arrived: &Arrived, pipe: &mut MessagePipe) {
    let (places, call) = (host::origin::places(), with_environment(&arrived.call));
    pipe.send(&SideMessage::Folder(places.state().to_string_lossy().into_owned()).write());
    // Nothing came: what would be judged is not the call. That is said when time is up.
    if arrived.is_silent() {
        return;
    }
    if !service::without_daemon() && !arrived.asked {
        let limit = if arrived.is_session_end() { limits::DAEMON_SESSION_END_MS } else { limits::DAEMON_MS };
        let client = Client::new(&places.state(), Duration::from_millis(u64::from(limit)));
        if let Ok(answer) = client.hook(&call) {
            return pipe.send(&SideMessage::Last(answer).write());
        }
    }
    let mut pipeline = Pipeline::new(service::setting(&places));
    let mut served = pipeline.handle_with(call, |early| {
        // One that counts elsewhere has an answer and no event.
        let event = early.event.as_ref().map(store::spool_line).unwrap_or_default();
        pipe.send(&SideMessage::Early { event, answer: with_troubles(early) }.write());
    });
    if let Some(wish) = &served.checkpoint {
        pipe.send(&SideMessage::Keeping(served.answer.clone()).write());
        let failed = keep(wish, &places).err();
        served.troubles.extend(failed.map(|error| format!("{WITHOUT_CHECKPOINT}: {error}")));
    }
    let (after, troubles) = (served.after.clone(), served.troubles.join("; "));
    pipe.send(&SideMessage::Last(with_troubles(served)).write());
    if !troubles.is_empty() {
        service::log::trouble(&places.state(), &troubles);
    }
    service::after_in_process(&after, &places);
    if after.contains(&After::Tell) {
        service::tell_in_background(&places);
    }
    for late in pipeline.late_results() {
        service::after_in_process(&late.after, &places);
    }
    pipeline.settle();
}

/// Before a call that takes files away is let run. What fails here keeps nobody from working.
fn keep(wish: &CheckpointWish, places: &PathVariables) -> Result<(), RunnerError> {
    let asked = KeepRequest {
        folder: PathBuf::from(&wish.tree),
        state: places.state(),
        agent: wish.agent.clone(),
        command: wish.command.clone(),
        rule: wish.rule.clone(),
        size: if wish.of_any_size { KeepSize::Any } else { KeepSize::Small },
    };
    runner::keep_tree(&asked).map(drop)
}

fn without_checkpoint(mut answer: Answer, why: &str) -> Answer {
    answer.stderr.push_str(&format!("taut: {WITHOUT_CHECKPOINT}: {why}\n"));
    answer
}

/// No verdict in time: the words alone are judged, where that is still quick, and what cannot be judged is not let pass.
fn undecided(arrived: &Arrived, folder: Option<PathBuf>, why: &str) -> Answer {
    let call = &arrived.call;
    let by_words = || {
        let setting = service::setting(&host::origin::places());
        early(Pipeline::judge_unseen(with_environment(call), &setting, why), why)
    };
    let bare = || early(Pipeline::undecided(call.clone(), &service::setting(&PathVariables::default()), why), why);
    // The end of a session runs nothing, and has half the time.
    let first = if arrived.is_session_end() { Ok(None) } else { within(LAST_LOOK, by_words) };
    let known = match first {
        Ok(Some(judged)) => Some(judged),
        // Even taking the payload apart can take too long where it is large and the machine busy.
        Ok(None) => within(BARE_LOOK, bare).ok().flatten(),
        // With no room for another process it is done here.
        Err(_) => Some(bare()),
    };
    match known {
        Some(SideMessage::Early { answer, event }) => spooled(answer, &event, folder),
        Some(SideMessage::Folder(_) | SideMessage::Keeping(_) | SideMessage::Last(_)) | None => unread(arrived, why),
    }
}

/// One message of a process of its own, if it comes in time.
fn within(limit: Duration, make: impl FnOnce() -> SideMessage) -> std::io::Result<Option<SideMessage>> {
    let mut working = side_process::start(|pipe| pipe.send(&make().write()))?;
    match working.receive(Instant::now() + limit) {
        Received::Message(message) => Ok(SideMessage::read(&message)),
        Received::TimeIsUp | Received::Ended => {
            working.end();
            Ok(None)
        }
    }
}

/// The call with the variables of the client's start, which another process may have to be looked at for.
fn with_environment(call: &Call) -> Call {
    Call { env: host::origin::environment(), ..call.clone() }
}

/// What is said of a call that there was no time, or no room, to take apart.
fn unread(arrived: &Arrived, why: &str) -> Answer {
    let stdout = arrived.unjudged().to_string();
    let stderr = format!("taut: this call could not be judged: {why}; its event is lost\n");
    Answer { stdout, stderr, exit: 0 }
}

fn early(mut served: Response, why: &str) -> SideMessage {
    served.troubles.push(format!("this call could not be judged: {why}"));
    let event = served.event.as_ref().map(store::spool_line).unwrap_or_default();
    SideMessage::Early { event, answer: with_troubles(served) }
}

/// The event was not stored in time, and is kept in the spool; should it get
/// stored after all, the two have one key and what was answered counts.
fn spooled(mut answer: Answer, event: &str, folder: Option<PathBuf>) -> Answer {
    if event.is_empty() {
        return answer;
    }
    let kept = folder.and_then(|folder| {
        let mut keeping = side_process::start(|pipe| {
            let kept = store::spool_text(&folder, event).err();
            // What was said within the last minute is kept quiet.
            let said = kept.map(|error| if error.is_to_be_said() { error.to_string() } else { QUIET.to_string() });
            pipe.send(said.unwrap_or_default().as_bytes());
            let trouble =
                if answer.stderr.is_empty() { "an event could not be stored in time" } else { &answer.stderr };
            service::log::trouble(&folder, trouble);
        });
        match keeping.as_mut().ok()?.receive(Instant::now() + SPOOL_TIME) {
            Received::Message(wrong) => Some(String::from_utf8_lossy(&wrong).into_owned()),
            Received::TimeIsUp | Received::Ended => None,
        }
    });
    let said = match kept.as_deref() {
        Some(QUIET) => return answer,
        Some("") => "the event could not be stored in time; it is kept and will be stored later",
        Some(wrong) => wrong,
        None => "the event could not be stored in time, and may be lost",
    };
    answer.stderr.push_str(&format!("taut: {said}\n"));
    answer
}

fn with_troubles(served: Response) -> Answer {
    let mut answer = served.answer;
    for trouble in served.troubles {
        answer.stderr.push_str(&format!("taut: {}\n", model::text::line(&trouble, LONGEST_TROUBLE)));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::EventKind;

    /// What agents give a hook that says nothing of it.
    const SHORTEST: Duration = Duration::from_secs(5);
    const SHORTEST_SESSION_END: Duration = Duration::from_secs(1);

    /// The longest way there is, before anything is printed: by the fast client, and by this process alone.
    fn longest([stdin, daemon]: [u32; 2], [alone, after_shares]: [Duration; 2], look: Duration) -> Duration {
        let shares = Duration::from_millis(u64::from(stdin + daemon));
        alone.max(shares + after_shares) + look + BARE_LOOK + SPOOL_TIME
    }

    #[test]
    fn d6_no_agent_gives_up_on_a_hook_before_the_hook_does() {
        let any = longest([limits::STDIN_MS, limits::DAEMON_MS], JUDGED_BY, LAST_LOOK);
        // A verdict that came at the last moment, and a checkpoint that did too.
        let call = any + runner::KEEPING_TIME + KEEPING_SLACK;
        let shares = [limits::STDIN_SESSION_END_MS, limits::DAEMON_SESSION_END_MS];
        let end = longest(shares, JUDGED_BY_SESSION_END, Duration::ZERO);
        assert!(call < SHORTEST && end < SHORTEST_SESSION_END, "{call:?} {end:?}");
        for dialect in agents::ALL.0 {
            let farewell = (dialect.settings.proof.farewell)("/w", "m");
            for event in dialect.settings.registered {
                let is_known = event.kind == EventKind::SessionEnd && crate::stdin::is_session_end(farewell.as_bytes());
                let ours = match event.kind {
                    EventKind::PreToolUse => call,
                    _ if is_known => end,
                    _ => any,
                };
                let theirs = Duration::from_secs(u64::from(event.timeout));
                assert!(ours < theirs, "{} {}: {ours:?} of {theirs:?}", dialect.id(), event.name);
            }
        }
    }
}

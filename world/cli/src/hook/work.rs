//! The work of a hook against the clock. Everything that may stall (the process
//! tree, the daemon, files, the database) is done on a thread that may be left
//! behind; this one waits, and answers when time is up.

use super::Given;
use super::call::Arrived;
use crate::service;
use daemon::Client;
use entry::limits;
use host::paths::Places;
use model::effect::After;
use model::{Answer, Call};
use pipeline::{Served, Setting, Way};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// When the wait for a verdict ends, counted from the start of this process. The first is for a process that reads
/// stdin and asks the daemon itself, the second for one whose shares of stdin and daemon (800 and 600 of 2,000 ms,
/// 300 and 300 of 1,000) were spent before it began.
const JUDGED_BY: [Duration; 2] = [Duration::from_millis(1_600), Duration::from_millis(380)];
const JUDGED_BY_SESSION_END: [Duration; 2] = [Duration::from_millis(750), Duration::from_millis(250)];

/// Once the verdict is known, storing it is waited for so long.
const STORING_TIME: Duration = Duration::from_millis(450);

/// Judging the words alone, when looking at the project was not done in time.
const LAST_LOOK: Duration = Duration::from_millis(60);

/// What keeping an event in the spool may take when the database did not answer.
const SPOOL_TIME: Duration = Duration::from_millis(80);

const STACK_BYTES: usize = 4 << 20;

/// What the thread that does the work has come to.
pub enum Said {
    /// Where things are kept.
    Places(Box<Places>),
    /// The daemon answered.
    Answered(Answer),
    /// What stands if nothing can be stored.
    Early(Box<Served>),
    Last(Box<Served>),
}

pub fn work(arrived: Arrived, begun: Instant) -> Given {
    let limits = if arrived.is_session_end() { JUDGED_BY_SESSION_END } else { JUDGED_BY };
    let [alone, after_shares] = limits;
    let deadline = begun + if arrived.shares_spent { after_shares } else { alone };
    let spare = arrived.call.clone();
    let silent = arrived.call.stdin.is_empty() && !arrived.complete;
    let (send, receive) = mpsc::channel();
    let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || serve(arrived, &send));
    let why = match (&spawned, silent) {
        (Err(_), _) => "there was not even memory for a thread",
        (Ok(_), true) => "nothing came on its stdin in time",
        (Ok(_), false) => "it took too long",
    };
    wait(receive, deadline, &spare, why)
}

/// Asks the daemon, and does the work itself where there is none.
fn serve(arrived: Arrived, send: &Sender<Said>) {
    let places = host::origin::places();
    let _ = send.send(Said::Places(Box::new(places.clone())));
    // Nothing came: what would be judged is not the call. The other thread says so when time is up.
    if arrived.call.stdin.is_empty() && !arrived.complete {
        return;
    }
    if !service::without_daemon() && !arrived.asked {
        let limit = if arrived.is_session_end() { limits::DAEMON_SESSION_END_MS } else { limits::DAEMON_MS };
        let client = Client::new(&places.state(), Duration::from_millis(u64::from(limit)));
        if let Ok(answer) = client.hook(&arrived.call) {
            let _ = send.send(Said::Answered(answer));
            return;
        }
    }
    let mut way = Way::new(service::setting(&places));
    let served = way.handle_with(arrived.call, |served| {
        let _ = send.send(Said::Early(Box::new(served)));
    });
    let _ = send.send(Said::Last(Box::new(served)));
    way.settle();
}

fn wait(receive: Receiver<Said>, deadline: Instant, call: &Call, why: &str) -> Given {
    let (mut places, mut known, mut until) = (None, None, deadline);
    loop {
        match receive.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Said::Places(found)) => places = Some(*found),
            Ok(Said::Answered(answer)) => return Given { answer, ..Given::default() },
            Ok(Said::Early(early)) => {
                known = Some(*early);
                until = until.min(Instant::now() + STORING_TIME);
            }
            Ok(Said::Last(served)) => {
                let places = places.unwrap_or_default();
                service::after_in_process(&served, &places);
                let tell = served.after.contains(&After::Tell).then_some(places);
                return Given { answer: with_troubles(*served), working: Some(receive), tell };
            }
            Err(_) => {
                let served = known.unwrap_or_else(|| last_look(call, places.as_ref(), why));
                return Given { answer: with_troubles(spooled(served, places)), ..Given::default() };
            }
        }
    }
}

/// No verdict in time: the words alone are judged, where that is still quick, and what cannot be judged is not let pass.
fn last_look(call: &Call, places: Option<&Places>, why: &str) -> Served {
    let setting = places.map_or_else(nowhere, service::setting);
    let (send, receive) = mpsc::channel();
    let (spare, here) = (call.clone(), setting.clone());
    let reason = why.to_string();
    let judged = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let _ = send.send(Way::judge_unseen(spare, &here, &reason));
    });
    let judged = judged.ok().and_then(|_| receive.recv_timeout(LAST_LOOK).ok());
    let mut served = judged.unwrap_or_else(|| Way::undecided(call.clone(), &setting, why));
    served.troubles.push(format!("this call could not be judged: {why}"));
    served
}

fn nowhere() -> Setting {
    service::setting(&Places::default())
}

/// The database did not answer in time. The event is kept in the spool, by a
/// thread of its own because the disk may hang; should the work get done after
/// all, the two have one key and what was answered counts.
fn spooled(mut served: Served, places: Option<Places>) -> Served {
    let (send, receive) = mpsc::channel();
    let kept = places.zip(served.event.clone()).map(|(places, row)| {
        let state: PathBuf = places.state();
        std::thread::Builder::new().spawn(move || {
            let said = |error: store::Error| error.is_to_be_said().then(|| error.to_string());
            let _ = send.send(store::spool(&state, &row).map_err(said));
        })
    });
    let kept = kept.and_then(Result::ok).and_then(|_| receive.recv_timeout(SPOOL_TIME).ok());
    served.troubles.extend(match kept {
        Some(Ok(())) => Some("the event could not be stored in time; it is kept and will be stored later".to_string()),
        Some(Err(why)) => why,
        None => Some("the event could not be stored in time, and may be lost".to_string()),
    });
    served
}

fn with_troubles(served: Served) -> Answer {
    let mut answer = served.answer;
    for trouble in served.troubles {
        answer.stderr.push_str(&format!("taut: {trouble}\n"));
    }
    answer
}

//! What the daemon answers: calls through the pipeline, and methods.

use crate::workers::Switched;
use crate::workers::shared::Nudge;
use agents::Dialects;
use daemon::{RpcFault, Service, Wake};
use model::effect::After;
use model::{Answer, Call};
use pipeline::{ClientWatch, Pipeline, PipelineSetup, Response, RpcError};
use serde_json::Value;
use store::Store;
use tracing::Level;

/// Says that a command, and not a hook, has changed something.
pub(crate) const FLEET_CHANGED: &str = "fleet.changed";

/// Says that a tmux server was switched on: the painter may still take it for off.
pub(crate) const TMUX_SWITCHED: &str = "tmux.switched";

/// Says that a view looks at the fleet, whose agents may be on other machines.
pub(crate) const FLEET_VIEWED: &str = "fleet.viewed";

/// A session that was not heard of for longer keeps nobody from anything.
const REMEMBERED_MS: i64 = 24 * 3_600_000;

/// The pipeline, behind a socket.
pub struct DaemonService {
    pipeline: Pipeline,
    dialects: Dialects,
    workers: Vec<Wake>,
    switched: Switched,
    shared: Nudge,
    /// The batch that was served last has news for them.
    news: bool,
    /// The keys of what was stored of that batch, by its places.
    stored: Vec<Option<String>>,
    /// Places of that batch that a checkpoint must be made for, which is not done here.
    handed_back: Vec<usize>,
    /// What is to be logged of it, once its answers are out.
    notes: Vec<(Level, String)>,
}

/// Whom the service tells of what it served.
#[derive(Clone, Default)]
pub struct WokenWorkers {
    pub wakes: Vec<Wake>,
    pub switched: Switched,
    pub shared: Nudge,
}

impl DaemonService {
    pub fn new(setting: PipelineSetup, workers: WokenWorkers) -> Self {
        let dialects = setting.dialects;
        let pipeline = Pipeline::new(setting);
        let (stored, handed_back, notes) = (Vec::new(), Vec::new(), Vec::new());
        let WokenWorkers { wakes: workers, switched, shared } = workers;
        Self { pipeline, dialects, workers, switched, shared, news: false, stored, handed_back, notes }
    }
}

impl Service for DaemonService {
    fn hook_batch(&mut self, calls: Vec<Call>) -> Vec<Answer> {
        let served = self.pipeline.handle_or_hand_back(calls);
        self.notes.extend(served.iter().flat_map(notes));
        self.news |= served.iter().any(|served| served.after.iter().any(is_news));
        self.stored = served.iter().map(|served| served.event.as_ref().map(|event| event.key.clone())).collect();
        let places = served.iter().enumerate().filter(|(_, served)| served.handed_back);
        self.handed_back = places.map(|(place, _)| place).collect();
        served.into_iter().map(|served| served.answer).collect()
    }

    fn handed_back(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.handed_back)
    }

    fn rpc(&mut self, method: &str, params: Value) -> Result<Value, RpcFault> {
        if method == TMUX_SWITCHED {
            self.switched.now();
        }
        if method == FLEET_VIEWED {
            self.shared.viewed();
            return Ok(Value::Null);
        }
        // Whatever is called may have written something; a wake for nothing costs a look.
        self.workers.iter().for_each(Wake::now);
        if matches!(method, FLEET_CHANGED | TMUX_SWITCHED) {
            return Ok(Value::Null);
        }
        let caller = pipeline::RpcCaller { cwd: "/".into(), ..pipeline::RpcCaller::default() };
        pipeline::rpc(&mut self.pipeline, method, params, caller).map_err(|error| fault(&error))
    }

    /// Not for a command that one of the agents runs whose hooks are served here.
    fn refuses_to_end_for(&mut self, pid: u32) -> Option<String> {
        let since = host::clock::now().plus(-REMEMBERED_MS);
        let clients = self.pipeline.store().and_then(|store| store.clients_since(since)).unwrap_or_default();
        let open: Vec<_> =
            clients.iter().filter(|client| client.ended.is_none()).map(|client| client.process).collect();
        let agent = host::person::recorded_client_above(pid, &open)?;
        Some(format!("a command that {agent} runs may not end it; `taut daemon stop` in your own terminal does"))
    }

    /// Who asked has given up, and decides without us: what was stored of it was not answered.
    fn undelivered(&mut self, places: &[usize]) {
        let keys = places.iter().filter_map(|place| self.stored.get(*place).cloned().flatten());
        let keys: Vec<String> = keys.collect();
        if let Err(error) = self.pipeline.store().and_then(|store| store.undelivered(&keys)) {
            // What the client keeps of its own answer corrects it.
            tracing::warn!("that an answer came too late could not be stored: {error}");
        }
    }

    fn after_answers(&mut self) {
        let late = self.pipeline.late_results();
        self.notes.extend(late.iter().flat_map(notes));
        self.news |= late.iter().any(|late| late.after.iter().any(is_news));
        for (level, note) in self.notes.drain(..) {
            match level {
                Level::WARN => tracing::warn!("{note}"),
                _ => tracing::debug!("{note}"),
            }
        }
        if std::mem::take(&mut self.news) {
            self.workers.iter().for_each(Wake::now);
        }
    }

    /// Leases are reaped here even where nobody claims, clients are followed that send no hook for long, and a server that
    /// is away is told what it is owed when it is back.
    fn is_needed(&mut self) -> bool {
        let dialects = self.dialects;
        let needed = |store: &mut Store| {
            Ok(!store.holders()?.is_empty() || ClientWatch::is_needed(store, dialects)? || owes(store)?)
        };
        self.pipeline.store().and_then(needed).unwrap_or_default()
    }
}

/// Nothing is waited for where nothing is shared any more.
fn owes(store: &Store) -> Result<bool, store::Error> {
    let standing = store.outbox_standing()?;
    Ok(standing.turns + standing.messages > 0 && store.shared_state()?.is_some())
}

/// What went wrong with a call, and for who wants to know all of it, what came of it.
fn notes(served: &Response) -> Vec<(Level, String)> {
    let agent = served.event.as_ref().map_or("an agent", |event| &event.agent);
    let troubles = served.troubles.iter().map(|trouble| (Level::WARN, format!("a call from {agent}: {trouble}")));
    let event = served.event.as_ref().filter(|_| tracing::enabled!(Level::DEBUG)).map(|event| {
        let tool = event.tool.as_deref().unwrap_or_default();
        (Level::DEBUG, format!("{} {tool} of {agent}: {} {:?}", event.event, event.verdict.name(), event.rules))
    });
    troubles.chain(event).collect()
}

fn is_news(after: &After) -> bool {
    matches!(after, After::StatusChanged { .. } | After::Sent { .. } | After::Owed)
}

fn fault(error: &RpcError) -> RpcFault {
    let code = match error {
        RpcError::UnknownMethod(_) => "unknown_method",
        RpcError::NotAnObject(_) => "validation_error",
    };
    RpcFault::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::queue::Claimant;
    use model::task::TaskPlan;
    use pipeline::queue::Queue;
    use serde_json::json;
    use std::path::Path;

    fn daemon_service(state: &Path) -> DaemonService {
        let (home, user_config) = (state.to_path_buf(), state.join("config"));
        let setting = PipelineSetup {
            state: state.to_path_buf(),
            home,
            user_config,
            patience: PipelineSetup::HOOK_PATIENCE,
            dialects: agents::ALL,
        };
        DaemonService::new(setting, WokenWorkers::default())
    }

    /// An agent can speak to the socket by hand: it is served hooks, and nothing there takes the guard away.
    #[test]
    fn g8_no_method_changes_what_people_decide() {
        let home = tempfile::tempdir().unwrap();
        let mut service = daemon_service(home.path());
        let wish = json!({
            "trust": true, "yes": true, "pause": "1h", "paused_until": i64::MAX, "allow": ["rm-root"], "mode": "observe",
            "session_id": "s", "cwd": home.path(), "tool_name": "Bash", "tool_use_id": "t",
            "tool_input": {"command": "taut trust --yes; taut pause 1h; taut policy allow git-clean --reason x"},
            "prompt": "taut pause 1h", "source": "startup",
            "env": {"TAUT_HOME": "/tmp", "HOME": "/tmp", "TAUT_AGENT_ID": "somebody"},
        });
        let known = pipeline::methods();
        assert!(known.len() > 10, "{known:?}");
        for method in known.iter().map(String::as_str).chain([FLEET_CHANGED, TMUX_SWITCHED, FLEET_VIEWED]) {
            let answered = service.rpc(method, wish.clone());
            assert!(answered.is_ok(), "{method}: {answered:?}");
        }
        for wanted in
            ["trust", "pause", "policy.allow", "policy.pack", "config.set", "daemon.stop", "uninstall", "hooks."]
        {
            let refused = service.rpc(wanted, wish.clone()).unwrap_err();
            assert_eq!(refused.code, "unknown_method", "{wanted}");
        }
        for made in ["trust", "overrides.json", "config", "config.toml"] {
            assert!(!home.path().join(made).exists(), "{made}");
        }
        let judged = json!({"session_id": "s2", "cwd": home.path(), "tool_name": "Bash", "tool_use_id": "u",
            "tool_input": {"command": "taut pause 1h"}});
        assert_eq!(service.rpc("hooks.preToolUse", judged).unwrap()["allow"], false);
    }

    #[test]
    fn q6_a_daemon_is_needed_as_long_as_a_server_is_owed_a_word() {
        let home = tempfile::tempdir().unwrap();
        let mut service = daemon_service(home.path());
        let store = service.pipeline.store().unwrap();
        let to = model::effort::RemoteAddressee {
            server: "srv".into(),
            machine: None,
            name: "talk".into(),
            shown: "talk".into(),
        };
        let message = model::effort::Message {
            id: "m".into(),
            at: model::Ms(1),
            kind: "note".into(),
            from_agent: None,
            to: Some(model::effort::Addressee::Remote(Box::new(to))),
            session: None,
            body: "x".into(),
        };
        let write = [model::effect::Write::Memory(model::effort::MemoryWrite::Message(message))];
        store.transact(store::Durability::Full, |tx| tx.apply(&write)).unwrap();
        assert!(!service.is_needed(), "nothing is shared");
        let store = service.pipeline.store().unwrap();
        store.set_shared_state(&store::SharedState::default()).unwrap();
        assert!(service.is_needed());
        let store = service.pipeline.store().unwrap();
        store.messages_sent(&["m".to_string()]).unwrap();
        assert!(!service.is_needed());
    }

    #[test]
    fn q4_a_daemon_is_needed_as_long_as_somebody_holds_a_task() {
        let home = tempfile::tempdir().unwrap();
        let mut service = daemon_service(home.path());
        assert!(!service.is_needed());
        let store = service.pipeline.store().unwrap();
        let mut queue = Queue::new(store, host::clock_reading::moment);
        let plan = TaskPlan { slug: "t/01".into(), title: "work".into(), ..TaskPlan::default() };
        queue.create("/p", &plan, &engine::queue::Speaker::Person).unwrap();
        let claimant = Claimant::agent("alpha", 600_000);
        queue.claim_one("/p", "t/01", &claimant).unwrap();
        assert!(service.is_needed());
    }
}

//! The small acts on an agent: seen, started again, gone to, its work taken up.

use crate::{ActionError, FleetPlace, Person, record, target, typing};
use engine::fleet::text::line;
use host::tmux;
use model::effect::Write;
use model::effort::{Addressee, MemoryWrite, Message};
use serde_json::json;
use store::{Durability, EffortFilter, Focus, Store};

/// How to get to an agent's pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaneWay {
    /// The arguments of `tmux` that go there: whoever asks is in the same server.
    Go(Vec<String>),
    /// What to run in a terminal.
    Command(String),
}

/// Somebody has looked at it: attention becomes checked.
pub fn mark_seen(store: &mut Store, agent: &str) -> Result<Focus, ActionError> {
    store.focus(agent, host::clock::now())?.ok_or_else(|| ActionError::NoAgent(agent.to_string()))
}

/// Ends the client and starts it again with the same session, where `taut run` supervises it.
pub fn restart(store: &mut Store, place: &FleetPlace, person: &Person, agent: &str) -> Result<(), ActionError> {
    let target = target::find(store, agent)?;
    if !typing::is_supervised(place, &target) {
        return Err(ActionError::Refused(format!(
            "`{}` is not run by `taut run`: nobody would start it again. Start it with `taut run -- <agent>` next time",
            line(agent, 80)
        )));
    }
    let now = host::clock::now();
    let event = record::event(person, &target.agent, "restart", json!({}), now);
    // As the agent itself asks for it: the supervisor looks for what is in the agent's name.
    let request = Message {
        id: host::clock::uuid(now),
        at: now,
        kind: "restart_request".to_string(),
        from_agent: Some(target.agent.id.clone()),
        to: None::<Addressee>,
        session: target.session.map(|session| session.id),
        body: "asked for by its user".to_string(),
    };
    let writes = [Write::Event(Box::new(event)), Write::Memory(MemoryWrite::Message(request))];
    store.transact(Durability::Full, |tx| tx.apply(&writes))?;
    Ok(())
}

/// The way to its pane from a terminal whose `$TMUX` is this; from no server, an empty one.
pub fn pane(store: &Store, agent: &str, tmux_here: &str) -> Result<PaneWay, ActionError> {
    let target = target::find(store, agent)?;
    let pane = target.session.as_ref().and_then(|session| session.pane.as_deref());
    pane.and_then(|pane| pane_way(pane, tmux_here)).ok_or_else(|| {
        let agent = line(agent, 80);
        ActionError::Refused(format!("`{agent}` is in no tmux pane; look for the terminal it was started in"))
    })
}

/// `pane` is socket and pane, `/tmp/tmux-1000/default %3`, as an environment said it: `None` where no pane is named by it.
pub fn pane_way(pane: &str, tmux_here: &str) -> Option<PaneWay> {
    let (socket, number) = tmux::address(pane).filter(|(socket, _)| !socket.chars().any(char::is_control))?;
    let steps = ["select-window", "select-pane"].map(|verb| [verb, "-t", number]);
    if tmux::socket_of(tmux_here) == Some(socket) {
        let mut words = vec!["-S", socket, "switch-client", "-t", number];
        for step in steps {
            words.push(";");
            words.extend(step);
        }
        return Some(PaneWay::Go(words.into_iter().map(String::from).collect()));
    }
    let steps = steps.map(|step| step.join(" ")).join(" \\; ");
    Some(PaneWay::Command(format!("tmux -S {} attach -t {number} \\; {steps}", shell_word(socket))))
}

/// What an agent is told to go on with this one's work.
pub fn take_up(store: &Store, agent: &str) -> Result<String, ActionError> {
    let target = target::find(store, agent)?;
    let filter = EffortFilter { agent: Some(agent.to_string()), only_active: true, ..EffortFilter::default() };
    let effort = store.efforts(&filter)?.into_iter().max_by_key(|effort| effort.started_at);
    let id = match (effort, target.session) {
        (Some(effort), _) => effort.id,
        (None, Some(session)) => session.id,
        (None, None) => {
            return Err(ActionError::Refused(format!(
                "`{}` has left nothing unfinished; `taut effort list --all` shows what has ended",
                line(agent, 80)
            )));
        }
    };
    Ok(format!("taut continue {id}"))
}

/// As a shell reads it as one word.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_pane_of_this_server_is_gone_to_and_one_of_another_is_told() {
        let go = "-S /tmp/tmux-1/default switch-client -t %3 ; select-window -t %3 ; select-pane -t %3";
        let go = PaneWay::Go(go.split(' ').map(String::from).collect());
        assert_eq!(pane_way("/tmp/tmux-1/default %3", "/tmp/tmux-1/default,123,0"), Some(go));
        let told = "tmux -S '/tmp/my tmux' attach -t %3 \\; select-window -t %3 \\; select-pane -t %3";
        for here in ["/tmp/tmux-1/default,123,0", ""] {
            assert_eq!(pane_way("/tmp/my tmux %3", here), Some(PaneWay::Command(told.into())));
        }
    }

    #[test]
    fn f4_a_hostile_pane_is_no_command() {
        for pane in ["%3", "", "/tmp/x %3;kill-server", "/tmp/x kill-server", "/tmp/x %", " %3", "/tmp/\u{1b}[2J %3"] {
            assert_eq!(pane_way(pane, ""), None, "{pane:?}");
        }
        assert_eq!(shell_word("a'; rm -rf ~; '"), r"'a'\''; rm -rf ~; '\'''");
    }
}

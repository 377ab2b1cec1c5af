//! `kill-by-name`: ending processes by name.

use crate::args::text;
use crate::killing;
use crate::rule::{Hit, HitWeight, Pack, Rule, RuleInput, RuleTrigger};
use crate::source;
use bash::Via;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "kill-by-name",
    pack: Pack::Processes,
    kind: RuleKind::Deny,
    title: "Ending processes by name",
    doc: "Stops ending processes that are picked by name, by port or by a search: `pkill`, `killall`, \
          `fuser -k`, `lsof … | xargs kill`, `kill $(pgrep …)`. They also hit what the user or another \
          agent is running. Ending a process by its number passes, and so does ending by name what this agent or the \
          line itself has started, as the table of processes says. By port (`lsof -ti:3000 | xargs kill`) it is stopped \
          once only, and so is ending all that a keeper of processes keeps (`pm2 delete all`).",
    instead: "Start it in the background and end that one by its number: `kill 12345`; `pgrep -fl node` shows \
          what runs.",
    denies: &[
        "pkill node", "killall -9 python", "kill $(pgrep -f server)", "pgrep node | xargs -r kill",
        "ps aux | grep node | awk '{print $2}' | xargs kill -9", "kill `pidof nginx`",
        "pids=$(pgrep node); kill $pids",
    ],
    passes: &[
        "kill 1234", "kill -9 1234 5678", "kill %1", "kill $!", "pgrep node", "lsof -i :3000", "grep -rn pkill src",
        "kill -0 1234", "kill -l", "killall --help", "kill \"$(cat server.pid)\"", "echo killall", "man pkill",
        "fuser 8080/tcp", "pm2 list", "pm2 stop web", "pm2 restart all",
    ],
    watch: RuleTrigger::Programs(&[
        "pkill", "killall", "killall5", "xkill", "skill", "slay", "taskkill", "kill", "fuser", "fkill", "kill-port",
        "tmux", "pm2", "supervisorctl", "forever",
    ]),
    judge,
};

/// Programs that find processes by something other than their number.
const FINDERS: &[&str] = &["pgrep", "pidof", "lsof", "ps", "fuser", "ss", "netstat", "top", "pstree"];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let args = sight.command.args();
    let texts: Vec<_> = args.iter().map(text).collect();
    let alone = matches!(sight.program(), "killall5" | "xkill");
    if (texts.is_empty() && !alone)
        || texts.iter().any(|word| matches!(word.as_ref(), "--help" | "--version" | "-V" | "-l" | "--list" | "-L"))
    {
        return;
    }
    if matches!(sight.program(), "pm2" | "supervisorctl" | "forever") {
        if ends_all(&texts) {
            let hit = Hit::new(sight.shown(), "This ends everything that is kept running here, whoever started it.");
            hits.push(hit.meaning("end-process", "all").weighing(HitWeight::Lighter));
        }
        return;
    }
    let picks = match sight.program() {
        "kill" => return kill(sight, hits),
        "fuser" => texts
            .iter()
            .any(|word| *word == "--kill" || (word.starts_with('-') && !word.starts_with("--") && word.contains('k'))),
        "tmux" => texts.iter().any(|word| word == "kill-server"),
        // One's own children, or only the question whether something runs.
        "pkill" if texts.iter().any(|word| word == "-0") => false,
        // A file names the one that is meant.
        "pkill" if texts.iter().any(|word| matches!(word.as_ref(), "-F" | "--pidfile")) => false,
        "pkill" if texts.iter().any(|word| word == "-P") && texts.iter().any(|word| word == "$$") => false,
        "skill" => texts.iter().any(|word| !word.starts_with('-')),
        _ => true,
    };
    if picks && !killing::only_own(sight) {
        let port = killing::port(sight.command, sight.program());
        hits.push(hit(
            sight,
            port,
            "This ends every process that matches, also those of the user and of other agents.",
        ));
    }
}

/// `pm2 delete all`, `pm2 kill`, `forever stopall`.
fn ends_all(texts: &[std::borrow::Cow<'_, str>]) -> bool {
    let mut words = texts.iter().map(AsRef::as_ref).filter(|word| !word.starts_with('-'));
    matches!(
        (words.next(), words.next()),
        (Some("kill" | "stopall" | "shutdown"), None) | (Some("delete" | "del" | "stop"), Some("all"))
    )
}

/// What listens on a port is mostly what was started for it: a second thought is enough.
fn hit(sight: &RuleInput<'_>, port: Option<String>, reason: &str) -> Hit {
    let hit = Hit::new(sight.shown(), reason);
    match port {
        Some(port) => hit.meaning("end-process", format!("port {port}")).weighing(HitWeight::Lighter),
        None => hit,
    }
}

/// `kill` is judged by where its numbers come from.
fn kill(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let args = sight.command.args();
    if args.first().is_some_and(|word| text(word) == "-0") {
        return;
    }
    let fed = matches!(sight.command.via.last(), Some(Via::Wrapper(name)) if name == "xargs" || name == "parallel");
    // `… | while read p; do kill $p; done`
    let read = args.iter().any(bash::Word::has_unknown) && matches!(sight.command.feed, bash::StdinSource::Pipe(_));
    let piped = (fed || read) && sight.index.searched(sight.parsed_call, sight.at, FINDERS);
    let readings: Vec<_> = args.iter().flat_map(|word| sight.parsed_call.substitutions.of(word)).collect();
    let substituted =
        readings.iter().any(|reading| source::programs(reading).any(|name| FINDERS.contains(&name.as_str())));
    if (piped || substituted) && !killing::only_own(sight) {
        let inside = readings.iter().flat_map(|reading| &reading.commands);
        let port =
            inside.chain(killing::upstream(sight)).find_map(|command| killing::port(command, &command.program()?));
        hits.push(hit(sight, port, "The processes are picked by a search, so that others' are hit as well."));
    }
}

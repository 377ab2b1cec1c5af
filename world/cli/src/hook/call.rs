//! What a hook was called with: its line, its stdin, where it runs, and the
//! variables on the allow-list that count unseen.

use crate::stdin::{self, StdinText};
use agents::Dialect;
use model::Call;
use std::ffi::OsString;

/// A call as it arrived, and what its bytes say at a glance.
pub struct Arrived {
    pub call: Call,
    /// The daemon was asked already and did not answer in its time.
    pub asked: bool,
    /// Stdin and daemon have had their shares of the time before this process got to its own.
    pub shares_spent: bool,
    /// Stdin was read to its end, or held one whole object.
    pub complete: bool,
    /// Whose call it is, as far as its bytes show at a glance.
    dialect: Option<&'static Dialect>,
}

/// What was read of stdin before this process knew that it is a hook is part of the call.
pub fn read(args: &[OsString], read_before: Option<StdinText>) -> Arrived {
    let (taken, random) = (fast_client::taken(), host::clock::random());
    let (stdin, request, complete) = match taken {
        Some(taken) => (taken.stdin.to_vec(), daemon::request_text(&taken.request), taken.complete),
        None => {
            let read = read_before.unwrap_or_else(stdin::read);
            (read.bytes, daemon::request_text(&random), read.complete)
        }
    };
    let cwd = std::env::current_dir().unwrap_or_default();
    let agent = agent(args);
    let dialect = agents::ALL.find(&agent).map(|named| agents::ALL.at_a_glance(named, &stdin));
    let call = Call {
        request,
        agent,
        stdin,
        cwd: cwd.to_string_lossy().into_owned(),
        env: host::origin::environment_unseen(),
        parent: Some(std::os::unix::process::parent_id()),
        at: host::clock::now(),
    };
    Arrived { call, asked: taken.is_some_and(|taken| taken.asked), shares_spent: taken.is_some(), complete, dialect }
}

impl Arrived {
    pub fn is_session_end(&self) -> bool {
        stdin::is_session_end(&self.call.stdin)
    }

    /// Whether nothing came, and it is not known that nothing was to come.
    pub fn is_silent(&self) -> bool {
        self.call.stdin.is_empty() && !self.complete
    }

    /// What is printed for this call if it cannot be judged: nothing where it cannot be of the one event that is asked
    /// before something is run or written.
    pub fn unjudged(&self) -> &'static str {
        self.dialect.filter(|dialect| self.may_act(dialect)).map(|dialect| dialect.unjudged).unwrap_or_default()
    }

    fn may_act(&self, dialect: &Dialect) -> bool {
        let holds = |word: &str| self.call.stdin.windows(word.len().max(1)).any(|window| window == word.as_bytes());
        // A payload that does not name its event may be of any.
        !self.complete || holds(dialect.gate_event) || !dialect.event_fields.iter().any(|field| holds(field))
    }
}

/// What is printed for a call in an agent's name of which nothing was read yet.
pub fn unjudged(agent: &str) -> &'static str {
    agents::ALL.find(agent).map(|dialect| dialect.unjudged).unwrap_or_default()
}

/// `--agent X` or `--agent=X`; anything else on the line is left alone.
pub fn agent(args: &[OsString]) -> String {
    let mut words = args.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if word == "--agent" {
            return named(words.next().as_deref());
        }
        if let Some(name) = word.strip_prefix("--agent=") {
            return named(Some(name));
        }
    }
    named(None)
}

fn named(name: Option<&str>) -> String {
    name.filter(|name| !name.is_empty()).unwrap_or(agents::DEFAULT.id()).to_string()
}

//! `[shared]`: a queue, a fleet and a record that several machines share on a server. Only the user's own file says
//! which server, who takes part and what is sent; a repository may only say what its queue is called.

use crate::config::declare::{table, texts, words};

/// The one key that a repository may say.
pub const NAMED_BY_A_PROJECT: &str = "project";

/// A longer address is none.
const LONGEST_URL: usize = 2_000;
/// A longer name of a queue is none.
const LONGEST_QUEUE: usize = 100;
/// Two roles are called after it, and PostgreSQL cuts names of more than 63 letters short.
const LONGEST_SCHEMA: usize = 50;
/// A longer name of a machine is shown nowhere.
const LONGEST_LABEL: usize = 64;

table! {
    /// A server that several machines share.
    pub struct SharedSection {
        /// Where it is: `postgresql://user@host:5432/database`, without a password.
        url: Option<ServerUrl> = None,
        /// Instead of `url`: an entry of `~/.pg_service.conf`. Commands alone read the file that `PGSERVICEFILE` names instead.
        service: Option<String> = None,
        /// The schema there: one for each team.
        schema: SchemaName = "taut".to_string(),
        /// The queues that this machine takes part in. Nothing is sent for a project that is not listed.
        projects: Vec<QueueName> = Vec::new(),
        /// What the queue of a project is called: the one key that a repository may say, and only a repository.
        project: Option<QueueName> = None,
        /// A file of yours that holds the password, mode 0600; beside this file, where it is not a full path.
        password_file: Option<String> = None,
        /// Whom the server's certificate must be signed by, as PEM. Without it: the system's roots.
        ca: Option<String> = None,
        /// A certificate of yours, as PEM.
        cert: Option<String> = None,
        /// The key of it, mode 0600.
        key: Option<String> = None,
        /// How much the server has to prove. On this machine and over a Unix socket it is not asked.
        sslmode: SslMode = SslMode::VerifyFull,
        /// What of the record is sent, besides tasks, presence and messages.
        events: SharedEvents = SharedEvents::None,
        /// What becomes of an agent whose lease may be over, because the server was not reached: it is told, or, where Taut
        /// started it, stopped as well. One whose task another has by the server's word is stopped with either.
        [word "stop"] on_unsure: OnUnsure = OnUnsure::Tell,
        /// What people call this machine. Without it: its host name.
        label: Option<MachineLabel> = None,
    }
}

pub const EXAMPLE: &str = r#"[shared]
url = "postgresql://taut_agent@db.example.org:5432/taut"
password_file = "shared.pass"
projects = ["acme/shop"]
events = "none"
"#;

words! {
    /// How much a server has to prove.
    #[derive(Default)]
    pub enum SslMode("sslmode") {
        /// Its certificate is signed by one that is trusted, and for its name.
        #[default]
        VerifyFull = "verify-full",
        /// What is sent cannot be read on the way; who answers is not proven.
        Require = "require",
    }
}

words! {
    /// What of the record leaves this machine.
    #[derive(Default, PartialOrd, Ord)]
    pub enum SharedEvents("level") {
        /// Nothing of it.
        #[default]
        None = "none",
        /// When, who, which tool, which verdict by which rules.
        Summary = "summary",
        /// Reasons and details besides, redacted again.
        Full = "full",
    }
}

words! {
    /// What becomes of an agent whose lease may be over.
    #[derive(Default)]
    pub enum OnUnsure("on_unsure") {
        /// It is told, and its result counts if nobody has taken the task.
        #[default]
        Tell = "tell",
        /// It is stopped as well, where Taut itself started it: nobody else's process ever is.
        Stop = "stop",
    }
}

texts! {
    /// Where a server is. A password in it would be read by everybody who may read the configuration.
    ServerUrl: "an address such as \"postgresql://user@host:5432/database\", without a password", is_server_url;
    /// What a queue is called on a server.
    QueueName: "a name such as \"acme/shop\": up to 100 letters, digits and . _ / -", is_queue_name;
    /// A schema that needs no quotes in a statement.
    SchemaName: "a plain name such as \"taut\": lower-case letters, digits and _", is_schema_name;
    /// A machine, for people.
    MachineLabel: "a name of up to 64 characters, without control characters", is_label;
}

fn is_server_url(text: &str) -> bool {
    let rest = text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"));
    let is_plain = text.len() <= LONGEST_URL && text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\\'));
    is_plain && rest.is_some_and(|rest| !rest.is_empty() && !names_password(rest))
}

/// `user:password@host`, or `?password=`.
fn names_password(rest: &str) -> bool {
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = before.split('/').next().unwrap_or_default();
    let in_front = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    let is_secret = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        // A name that is written in another way must not hide one.
        name.contains('%') || name == "password" || name == "sslpassword"
    };
    in_front || query.split('&').any(is_secret)
}

fn is_queue_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-');
    !text.is_empty() && text.len() <= LONGEST_QUEUE && text.chars().all(plain)
}

fn is_schema_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts = text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    starts && text.len() <= LONGEST_SCHEMA && text.chars().all(plain) && !text.starts_with("pg_")
}

fn is_label(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= LONGEST_LABEL && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_an_address_with_a_password_in_it_is_none_that_a_configuration_takes() {
        for good in [
            "postgresql://a@db:5432/taut",
            "postgres:///taut?host=/run/postgresql",
            "postgresql://db/taut?connect_timeout=3",
            "postgresql://a@h1:1,h2:2/taut?target_session_attrs=read-write",
        ] {
            assert!(ServerUrl::accepts(good), "{good}");
        }
        for bad in [
            "", "mysql://a/b", "postgresql://", "postgresql://a:b@db/taut", "postgresql://a:@db/taut",
            "postgresql://db/taut?password=x", "postgresql://db/taut?PassWord=x", "postgresql://db/t?pass%77ord=x",
            "postgresql://db/ta ut", "postgresql://db/\"", "postgresql://a:b:c@d@db/taut",
        ] {
            assert!(!ServerUrl::accepts(bad), "{bad}");
        }
    }

    #[test]
    fn x2_names_of_queues_and_schemas_are_plain() {
        let long = "a".repeat(101);
        assert!(QueueName::accepts("acme/shop") && QueueName::accepts("a.b_c-d"));
        for bad in ["", "a b", "a;b", "ä", "a'b", long.as_str()] {
            assert!(!QueueName::accepts(bad), "{bad}");
        }
        assert!(SchemaName::accepts("taut") && SchemaName::accepts("team_2"));
        for bad in ["", "Taut", "2a", "a-b", "a.b", "pg_temp", "a\"b"] {
            assert!(!SchemaName::accepts(bad), "{bad}");
        }
        assert!(MachineLabel::accepts("vm 3") && !MachineLabel::accepts(" ") && !MachineLabel::accepts("a\u{1b}[m"));
    }
}

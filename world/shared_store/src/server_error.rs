//! What a server answered instead of rows, in words: whether asking again may help, and what a person can do.

#[cfg(feature = "postgres")]
use std::{error::Error, io};
use store::ServerError;

/// How much of what a server says is repeated: it may be anybody.
const MOST_WORDS: usize = 300;

/// What stands before the help in a refusal.
const HELPS: &str = ". What helps: ";

/// How a refusal begins where a password is all that is missing.
pub const NO_PASSWORD: &str = "it asks for a password and none is known";

/// What went wrong with a flight.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlightError {
    /// The server's own word, with its code (SQLSTATE).
    #[error("{} ({state})", quoted(.words))]
    Said { state: String, words: String },
    /// Nothing is known of what was sent.
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("it did not answer in time")]
    Late,
    #[error("it answered with something that is no JSON")]
    Garbled,
    /// More than is read of one flight; asked again it would be no less.
    #[error("it answered with more than is read")]
    TooMuch,
    /// Before it could say anything itself: its certificate, or what it wants to be shown.
    #[error("{0}")]
    Unfit(String),
}

impl FlightError {
    /// The code of what the server said.
    pub fn state(&self) -> Option<&str> {
        match self {
            Self::Said { state, .. } => Some(state),
            Self::Broken(_) | Self::Late | Self::Garbled | Self::TooMuch | Self::Unfit(_) => None,
        }
    }

    /// Whether the whole verb is to be sent again: deadlock, serialisation, the three time-outs, a broken connection.
    /// Each verb is idempotent. After `is_broken`, over a new connection.
    pub fn send_again(&self) -> bool {
        match self {
            Self::Said { state, .. } => {
                matches!(state.as_str(), "40P01" | "40001" | "57014" | "55P03" | "25P03") || self.is_broken()
            }
            Self::Broken(_) => true,
            Self::Late | Self::Garbled | Self::TooMuch | Self::Unfit(_) => false,
        }
    }

    /// Whether the connection is of no use any more.
    pub fn is_broken(&self) -> bool {
        match self {
            // The server is stopping or starting, ended this session, or a pooler lost it.
            Self::Said { state, .. } => {
                matches!(state.as_str(), "57P01" | "57P02" | "57P03" | "57P05" | "25P03") || state.starts_with("08")
            }
            Self::Broken(_) | Self::Late | Self::Garbled | Self::TooMuch | Self::Unfit(_) => true,
        }
    }

    /// Whether a lock was waited for in vain, or a statement took too long because of one.
    pub fn is_locked(&self) -> bool {
        matches!(self.state(), Some("55P03" | "57014"))
    }

    /// Whether it waited for somebody who waited for it, and was the one that the server undid.
    pub fn is_deadlock(&self) -> bool {
        self.state() == Some("40P01")
    }

    /// The statement `guard` divides by nothing where another server answers; nothing else that is sent divides.
    pub fn is_of_another_server(&self) -> bool {
        self.state() == Some("22012")
    }

    /// A key that is there already: the same claim, sent twice.
    pub fn is_duplicate(&self) -> bool {
        self.state() == Some("23505")
    }
}

#[cfg(feature = "postgres")]
impl From<tokio_postgres::Error> for FlightError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(said) => Self::Said { state: code(said.code().code()), words: clean(said.message()) },
            None => unfit(&error).map_or_else(|| Self::Broken(causes(&error)), Self::Unfit),
        }
    }
}

/// Five letters or digits, and nothing else that a server calls its code.
#[cfg(feature = "postgres")]
fn code(state: &str) -> String {
    let is_code = state.len() == 5 && state.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_code { state } else { "no code" }.to_string()
}

/// What the library decided by itself, and time does not mend. It gives these no type, only their words.
#[cfg(feature = "postgres")]
fn unfit(error: &tokio_postgres::Error) -> Option<String> {
    let cause = error.source()?;
    let below = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    if let Some(tls) = below.and_then(|below| below.downcast_ref::<rustls::Error>()) {
        return crate::tls::words(tls);
    }
    match (error.to_string().as_str(), cause.to_string().as_str()) {
        (_, "password missing") => {
            Some(format!("{NO_PASSWORD}: put it into a file of mode 600 that `password_file` names, or into ~/.pgpass"))
        }
        (_, "server does not support TLS") => {
            Some("it offers no TLS: an administrator turns it on (`ssl = on` in postgresql.conf)".to_string())
        }
        (_, "server did not use channel binding" | "server does not support channel binding") => Some(
            "it does not bind the password to its certificate (SCRAM): have it proven by `sslmode=verify-full`"
                .to_string(),
        ),
        ("authentication error", why) => Some(format!("it cannot be shown who we are: {}", quoted(why))),
        _ => None,
    }
}

impl From<FlightError> for ServerError {
    fn from(error: FlightError) -> Self {
        let (state, words) = match &error {
            FlightError::Said { state, words } => (state, words),
            FlightError::Unfit(_) | FlightError::TooMuch => return Self::Refused(error.to_string()),
            FlightError::Broken(_) | FlightError::Late | FlightError::Garbled => return Self::Away(error.to_string()),
        };
        let class = state.get(..2).unwrap_or_default();
        let words = &quoted(words);
        match (class, state.as_str()) {
            // Connection, resources, a full disk, somebody's intervention, inner errors (also a pooler's).
            (_, "57014") => Self::Busy(format!("it took the server too long ({words}); it is tried again")),
            (_, "55P03") => Self::Busy(format!(
                "another session of the server holds what is needed in an open transaction ({words}); it is tried again, and \
                 an administrator finds who holds it in pg_stat_activity"
            )),
            ("08" | "53" | "57" | "58" | "XX" | "40", _) | (_, "25P03") => Self::Away(error.to_string()),
            (_, "25006") => Self::Away(format!("{words}: this is a standby, which cannot be written to")),
            _ => Self::Refused(with_help(state, words)),
        }
    }
}

fn with_help(state: &str, words: &str) -> String {
    let help = match state {
        "28P01" => {
            "put the right password into `password_file` or ~/.pgpass, or have it asked for: `taut shared connect --password`"
        }
        "28000" => "an administrator lets this role connect from here (pg_hba.conf); then run `taut shared connect`",
        "3D000" => "name another database in the URL, or make this one: `createdb`; then run `taut shared connect`",
        "3F000" | "42P01" | "42703" | "42883" => {
            "the schema is not there, or older: its owner runs `taut shared migrate`"
        }
        "42501" => "an administrator grants this role its rights: `taut shared migrate` as the owner makes them",
        _ => return format!("{words} ({state})"),
    };
    format!("{words}{HELPS}{help}")
}

/// Why a connection was not made, in words with what helps. `what` names the place, without a secret.
#[cfg(feature = "postgres")]
pub(crate) fn unreached(what: &str, error: FlightError) -> ServerError {
    match ServerError::from(error) {
        ServerError::Away(why) => ServerError::Away(format!("{what} cannot be reached: {why}")),
        ServerError::Refused(why) => ServerError::Refused(format!("{what} refuses: {why}")),
        ServerError::Busy(why) => ServerError::Busy(why),
    }
}

/// The causes below an error, which by itself says little.
#[cfg(feature = "postgres")]
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        words = format!("{words}: {cause}");
        next = cause.source();
    }
    clean(&words)
}

/// One line, nothing that a terminal obeys, of bounded length.
pub(crate) fn clean(text: &str) -> String {
    let shown = |letter: char| if letter.is_control() || is_hidden(letter) { ' ' } else { letter };
    let mut words: String = text.chars().take(MOST_WORDS).map(shown).collect();
    if text.chars().nth(MOST_WORDS).is_some() {
        words.push('…');
    }
    words
}

/// Words of the server's, told apart from ours, which name commands: it may be anybody, and is to tell nobody what to run.
pub(crate) fn quoted(words: &str) -> String {
    let plain = |letter| match letter {
        '“' | '”' => '"',
        '`' => '\'',
        other => other,
    };
    format!("“{}”", clean(words).chars().map(plain).collect::<String>())
}

/// A text without what the server said in it.
pub fn own_words(text: &str) -> String {
    let mut parts = text.split('“');
    let first = parts.next().unwrap_or_default();
    std::iter::once(first).chain(parts.filter_map(|part| part.split_once('”').map(|(_, own)| own))).collect()
}

/// What happened, and what helps where we say that; whatever the server said.
pub fn what_helps(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(HELPS) {
        Some((what, help)) if !help.contains('”') => (what, Some(help)),
        _ => (text, None),
    }
}

/// A name as a server tells it: none that could be read as anything else.
pub(crate) fn name(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || " _-.@$+".contains(letter);
    text.chars().take(100).map(|letter| if is_plain(letter) { letter } else { '?' }).collect()
}

/// Characters that change how a line is shown and are not seen themselves.
fn is_hidden(letter: char) -> bool {
    matches!(letter, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

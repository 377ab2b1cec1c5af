//! Others of the user's processes ask what the screen shows and have something
//! typed: on a socket that nobody else can reach, and never for an agent.

use super::asker::TerminalAsker;
use super::relay::{Keys, Relay};
use super::screen::SharedScreen;
use crate::supervise::Supervised;
use agents::CapturedScreen;
use agents::dialect::ScreenDialect;
use host::run_terminal::{self, TerminalRequest};
use host::tmux::CapturedPane;
use model::fleet::Prompt;
use std::fs::{DirBuilder, Permissions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use sys::{poll, socket};

/// More that ask at once are sent away.
const MOST_AT_ONCE: usize = 64;
/// Whoever is refused has so long to finish asking, and is not listened to.
const REFUSED_WITHIN: Duration = Duration::from_millis(500);

/// Dropped, it listens no more.
pub struct TerminalServer {
    socket: PathBuf,
    /// Closed, it ends the thread.
    _stop: UnixStream,
}

impl TerminalServer {
    pub fn start(what: &Supervised, pane: u32, relay: &Relay, screen: &Arc<SharedScreen>) -> io::Result<Self> {
        let socket = run_terminal::path(&what.state, std::process::id());
        if let Some(folder) = socket.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            run_terminal::sweep(&what.state);
        }
        // Left behind by a process of this number that was killed.
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket)?;
        std::fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let (stop, stopped) = UnixStream::pair()?;
        let asked = Arc::new(AskedTerminal {
            keys: relay.keys().clone(),
            screen: Arc::clone(screen),
            pane,
            what: what.clone(),
            pasted: Mutex::default(),
            served: AtomicUsize::new(0),
        });
        std::thread::spawn(move || serve(&listener, &stopped, &asked));
        Ok(Self { socket, _stop: stop })
    }
}

impl Drop for TerminalServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

struct AskedTerminal {
    keys: Keys,
    screen: Arc<SharedScreen>,
    /// The process that the terminal was made for.
    pane: u32,
    what: Supervised,
    /// What was pasted last: Enter sends that and nothing else.
    pasted: Mutex<Option<String>>,
    /// Connections that are served now.
    served: AtomicUsize,
}

fn serve(listener: &UnixListener, stopped: &UnixStream, asked: &Arc<AskedTerminal>) {
    let wanted = |fd: i32| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    loop {
        let mut polls = [wanted(listener.as_raw_fd()), wanted(stopped.as_raw_fd())];
        let Ok(_) = poll::poll(&mut polls, Duration::from_secs(60)) else { return };
        let [comes, stop] = polls.map(|poll| poll.revents != 0);
        if stop {
            return;
        }
        if comes && let Ok((stream, _)) = listener.accept() {
            answer_beside(stream, asked);
        }
    }
}

/// Whoever says nothing keeps no other waiting.
fn answer_beside(stream: UnixStream, asked: &Arc<AskedTerminal>) {
    if asked.served.fetch_add(1, Ordering::AcqRel) >= MOST_AT_ONCE {
        asked.served.fetch_sub(1, Ordering::AcqRel);
        return;
    }
    let here = Arc::clone(asked);
    let begun = std::thread::Builder::new().spawn(move || {
        let _ = answer(stream, &here);
        here.served.fetch_sub(1, Ordering::AcqRel);
    });
    if begun.is_err() {
        asked.served.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Who asks is looked at first: of anybody else nothing is read.
fn answer(mut stream: UnixStream, asked: &AskedTerminal) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    if socket::peer_user(&stream)? != sys::outside::user() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let refused = |why: &str| run_terminal::answer(Err(why));
    let asker = match TerminalAsker::of(&stream, &asked.what) {
        Ok(asker) => asker,
        Err(why) => {
            run_terminal::write_all(&mut stream, &refused(&why))?;
            // What is sent meanwhile and left unread would take the answer away with it.
            poll::wait(stream.as_raw_fd(), libc::POLLIN, Instant::now() + REFUSED_WITHIN)?;
            return stream.read(&mut [0; 4096]).map(drop);
        }
    };
    let line = run_terminal::read_line(&mut stream)?;
    let answer = match TerminalRequest::read(&line) {
        None => refused("nobody knows what is asked"),
        Some(request) if !asker.may(&request) => refused("that is for people"),
        Some(request) => match asked.serve(&request) {
            Ok(seen) => run_terminal::answer(Ok(seen.as_ref())),
            Err(why) => refused(&why),
        },
    };
    run_terminal::write_all(&mut stream, &answer)
}

impl AskedTerminal {
    fn serve(&self, request: &TerminalRequest) -> Result<Option<CapturedPane>, String> {
        let mut last = self.pasted.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = self.screen.capture(self.pane).ok_or("the screen could not be followed")?;
        let bytes = match request {
            TerminalRequest::Look => return Ok(Some(seen)),
            request => pressed(request, &seen, last.as_deref())?,
        };
        if let TerminalRequest::Paste { text } = request {
            *last = Some(text.clone());
        }
        self.keys.press(&bytes).map(|()| None).map_err(|error| error.to_string())
    }
}

/// The keys for it, where this screen lets nothing else come of them: whoever asks has looked too, but the screen may have
/// changed since, and a dialog takes Enter for a yes.
fn pressed(request: &TerminalRequest, seen: &CapturedPane, last: Option<&str>) -> Result<Vec<u8>, String> {
    let screen = || CapturedScreen { text: &seen.text, cursor: seen.cursor };
    let shown =
        |is: &dyn Fn(&ScreenDialect) -> bool| agents::ALL.0.iter().filter_map(|agent| agent.screen.as_ref()).any(is);
    if shown(&|dialect| (dialect.prompt)(screen()) == Prompt::Dialog) {
        return Err("a question stands on its screen".to_string());
    }
    let stands = |dialect: &ScreenDialect| {
        last.zip((dialect.typed)(screen()))
            .is_some_and(|(text, typed)| !typed.is_empty() && (dialect.shows)(&typed, text))
    };
    match request {
        TerminalRequest::Look => Ok(Vec::new()),
        TerminalRequest::Paste { .. } if !shown(&|dialect| (dialect.prompt)(screen()) == Prompt::Empty) => {
            Err("its input line is not empty".to_string())
        }
        TerminalRequest::Paste { text } => pasted(text, seen.takes_keys),
        TerminalRequest::Enter if !shown(&stands) => Err("what was pasted does not stand there".to_string()),
        TerminalRequest::Enter => Ok(b"\r".to_vec()),
        TerminalRequest::Escape if !shown(&|dialect| (dialect.works)(screen())) => Err("it does not work".to_string()),
        TerminalRequest::Escape => Ok(b"\x1b".to_vec()),
    }
}

/// Between the marks of a paste, which nothing in it may end.
fn pasted(text: &str, takes_pastes: bool) -> Result<Vec<u8>, String> {
    if !takes_pastes {
        return Err("the program takes no pastes".to_string());
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err("there is more than text in it".to_string());
    }
    Ok([b"\x1b[200~", text.as_bytes(), b"\x1b[201~"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_what_is_pasted_cannot_end_the_paste_and_goes_nowhere_else() {
        assert_eq!(pasted("two\nlines", true).unwrap(), b"\x1b[200~two\nlines\x1b[201~");
        for odd in ["\u{1b}[201~rm", "a\rb", "\u{3}", "\u{9b}201~", "\u{7f}"] {
            assert!(pasted(odd, true).is_err(), "{odd:?}");
        }
        assert!(pasted("x", false).is_err());
    }

    fn captured(name: &str) -> CapturedPane {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/claude-code/screens");
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let (head, text) = text.split_once('\n').unwrap();
        let (column, row) = head.split_once(' ').unwrap();
        let cursor = (column.parse().unwrap(), row.parse().unwrap());
        CapturedPane { text: text.to_string(), cursor, pid: 1, takes_keys: true }
    }

    /// Whoever asks: at a dialog nothing is pressed, and elsewhere only what its screen is ready for.
    #[test]
    fn f1_no_key_is_pressed_that_would_answer_a_dialog_or_send_what_a_person_typed() {
        let paste = TerminalRequest::Paste { text: "half a line".into() };
        let all = [paste.clone(), TerminalRequest::Enter, TerminalRequest::Escape];
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/claude-code/screens");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let dialogs: Vec<String> = names.filter(|name| name.starts_with("dialog.")).collect();
        assert!(dialogs.len() >= 3);
        for name in dialogs {
            for request in &all {
                assert!(pressed(request, &captured(&name), Some("half a line")).is_err(), "{name}: {request:?}");
            }
        }
        let (empty, typed) = (captured("empty.start.txt"), captured("typed.half_a_line.txt"));
        assert!(pressed(&paste, &empty, None).is_ok());
        assert!(pressed(&paste, &typed, None).is_err());
        for last in [None, Some(""), Some("half a line")] {
            assert!(pressed(&TerminalRequest::Enter, &empty, last).is_err(), "{last:?}");
        }
        assert_eq!(pressed(&TerminalRequest::Enter, &typed, Some("half a line")), Ok(b"\r".to_vec()));
        for last in [None, Some("half a"), Some("half a line and more")] {
            assert!(pressed(&TerminalRequest::Enter, &typed, last).is_err(), "{last:?}");
        }
        for still in [&empty, &typed] {
            assert!(pressed(&TerminalRequest::Escape, still, None).is_err());
        }
        assert!(pressed(&TerminalRequest::Escape, &captured("unknown.working.txt"), None).is_ok());
    }
}

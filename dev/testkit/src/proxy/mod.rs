//! A network with bad manners, between a client and a server: it holds back, swallows, resets, answers nonsense or says
//! everything twice, as it is told. Ends with its value.

mod carry;
mod socket;

use carry::{Carried, carry};
use socket::Socket;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Who hears the same words a second time gets so long to answer.
const REPEATED: Duration = Duration::from_secs(10);
/// Who reads nothing for so long is given up.
const UNREAD: Duration = Duration::from_secs(10);

/// What becomes of the bytes that are under way, and of those that come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProxyMode {
    #[default]
    Pass,
    /// They wait, and are delivered once the mode is another.
    HoldBack,
    /// A black hole: nothing arrives on either side, nobody is told, and what is swallowed never comes.
    Swallow,
    /// What the client says arrives; what the server answers does not.
    SwallowAnswers,
    /// Whoever connects is reset. Who is connected already stays so: `reset` ends that.
    Refuse,
    /// A connection is reset once the server has answered so many bytes on it.
    ResetAfter(usize),
    /// In place of its answers come as many bytes of nonsense.
    Nonsense,
}

/// Listens on a free port of 127.0.0.1 and carries to one server until it is dropped.
pub struct NetworkProxy {
    port: u16,
    state: Arc<ProxyState>,
    door: Option<JoinHandle<()>>,
}

/// Where a proxy carries to.
#[derive(Debug, Clone)]
enum Server {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// What its threads share.
struct ProxyState {
    server: Server,
    settings: Mutex<ProxySettings>,
    changed: Condvar,
    /// Whoever carries owns it: it is closed, and so reset, when they are done.
    lines: Mutex<Vec<Weak<Carried>>>,
    carriers: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct ProxySettings {
    mode: ProxyMode,
    delay: Duration,
    over: bool,
    /// Of so many pieces it was decided what becomes of them.
    decided: usize,
}

impl NetworkProxy {
    /// # Errors
    /// Where there is no port to listen on.
    pub fn to_tcp(server: SocketAddr) -> io::Result<Self> {
        Self::to(Server::Tcp(server))
    }

    /// To a server that listens on a Unix socket: its clients come over TCP.
    ///
    /// # Errors
    /// Where there is no port to listen on.
    pub fn to_unix(server: &Path) -> io::Result<Self> {
        Self::to(Server::Unix(server.to_path_buf()))
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn set(&self, mode: ProxyMode) {
        self.state.settings().mode = mode;
        self.state.changed.notify_all();
    }

    /// So long is every piece under way, in each direction.
    pub fn set_delay(&self, delay: Duration) {
        self.state.settings().delay = delay;
        self.state.changed.notify_all();
    }

    /// Resets every connection that is open now. New ones are carried as the mode says.
    pub fn reset(&self) {
        self.state.open().iter().for_each(|line| line.reset());
        // Also what was held back of them: whoever holds it back either has seen it or waits by now.
        drop(self.state.settings());
        self.state.changed.notify_all();
    }

    /// How many connections are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.state.open().len()
    }

    /// Of how many pieces, in either direction, it was decided what becomes of them.
    #[must_use]
    pub fn decided(&self) -> usize {
        self.state.settings().decided
    }

    /// Says everything that clients said on the connections of now once more, each over a connection of its own, as a
    /// network that delivers twice. Gives how many that were.
    ///
    /// # Errors
    /// Where the server cannot be reached.
    pub fn say_again(&self) -> io::Result<usize> {
        let said: Vec<Vec<u8>> = self.state.open().iter().map(|line| line.said()).collect();
        for words in &said {
            self.state.server.told(words)?;
        }
        Ok(said.len())
    }

    fn to(server: Server) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(ProxyState {
            server,
            settings: Mutex::default(),
            changed: Condvar::new(),
            lines: Mutex::default(),
            carriers: Mutex::default(),
        });
        let door = thread::spawn({
            let state = Arc::clone(&state);
            move || admit(&listener, &state)
        });
        Ok(Self { port, state, door: Some(door) })
    }
}

impl Drop for NetworkProxy {
    fn drop(&mut self) {
        self.state.settings().over = true;
        self.state.changed.notify_all();
        // Whoever waits at the door finds out by this one.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(door) = self.door.take() {
            let _ = door.join();
        }
        self.reset();
        let carriers = std::mem::take(&mut *self.state.carriers.lock().unwrap_or_else(PoisonError::into_inner));
        carriers.into_iter().for_each(|carrier| drop(carrier.join()));
    }
}

fn admit(listener: &TcpListener, state: &Arc<ProxyState>) {
    for near in listener.incoming() {
        if state.settings().over {
            return;
        }
        let Ok(near) = near.map(Socket::Tcp) else { continue };
        if state.settings().mode == ProxyMode::Refuse {
            near.reset();
            continue;
        }
        match state.server.connect() {
            Ok(far) if near.write_within(UNREAD).and_then(|()| far.write_within(UNREAD)).is_ok() => {
                carry(state, near, far)
            }
            // As from a machine on which nobody listens.
            Ok(_) | Err(_) => near.reset(),
        }
    }
}

impl Server {
    fn connect(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(address) => {
                let socket = TcpStream::connect(address)?;
                socket.set_nodelay(true)?;
                Ok(Socket::Tcp(socket))
            }
            Self::Unix(path) => Ok(Socket::Unix(std::os::unix::net::UnixStream::connect(path)?)),
        }
    }

    /// Over a connection of its own, to the end of what it answers: only then has it heard everything. That is read
    /// meanwhile, because a server that nobody hears does not go on listening.
    fn told(&self, words: &[u8]) -> io::Result<()> {
        let server = self.connect()?;
        server.read_within(REPEATED)?;
        server.write_within(REPEATED)?;
        thread::scope(|scope| {
            let answered = scope.spawn(|| (&server).read_to_end(&mut Vec::new()));
            let told = server.write_all(words);
            if told.is_ok() {
                server.say_goodbye()
            } else {
                server.end()
            }
            let answered = answered.join().unwrap_or_else(|_| Err(io::Error::other("nobody read its answers")));
            told.and(answered.map(drop))
        })
    }
}

impl ProxyState {
    fn settings(&self) -> MutexGuard<'_, ProxySettings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> Vec<Arc<Carried>> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter_map(Weak::upgrade).filter(|line| !line.is_over()).collect()
    }

    fn keep(&self, line: Weak<Carried>, carriers: [JoinHandle<()>; 2]) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.retain(|line| line.strong_count() > 0);
        lines.push(line);
        let mut all = self.carriers.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|carrier| !carrier.is_finished());
        all.extend(carriers);
    }

    /// Waits as long as the mode and the delay say, and gives the mode that then is. `None` where the connection or the
    /// proxy ended meanwhile: what was held back then never arrives.
    fn passes(&self, line: &Carried) -> Option<ProxyMode> {
        let arrived = Instant::now();
        let mut settings = self.settings();
        loop {
            if settings.over || line.is_over() {
                return None;
            }
            let left = settings.delay.saturating_sub(arrived.elapsed());
            let held = settings.mode == ProxyMode::HoldBack;
            if !held && left.is_zero() {
                settings.decided += 1;
                return Some(settings.mode);
            }
            settings = if held {
                self.changed.wait(settings).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.changed.wait_timeout(settings, left).unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }
}

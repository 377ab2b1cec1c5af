//! Bytes between the person's terminal and the client's, both ways and as they are.

use super::screen::SharedScreen;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::{poll, pty};

const PIECE: usize = 64 * 1024;
/// Somebody else may hold the client's end open after it; so long nothing must have come.
const DRAINED: Duration = Duration::from_millis(100);
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A terminal that shows nothing any more holds up the end no longer than this.
const SHOWN_WITHIN: Duration = Duration::from_secs(3);

/// What is typed goes to the client, what the client writes is shown.
pub struct Relay {
    keys: Keys,
    /// The client has ended.
    ended: Arc<AtomicBool>,
    /// Closed, it ends whoever waits for keys.
    stop: Option<UnixStream>,
    shown: Receiver<()>,
}

/// The way to the client's terminal. One writes at a time: nothing comes into the middle of what another types.
#[derive(Clone)]
pub struct Keys {
    master: Arc<OwnedFd>,
    turn: Arc<Mutex<()>>,
    ended: Arc<AtomicBool>,
}

impl Keys {
    /// All of it, however long the client takes, while it lives.
    pub fn press(&self, mut bytes: &[u8]) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        while !bytes.is_empty() {
            match pty::write(&self.master, bytes) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let mut polls = [wanted(self.master.as_raw_fd(), libc::POLLOUT)];
                    poll::poll(&mut polls, DRAINED)?;
                    if self.ended.load(Ordering::Acquire) {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Relay {
    pub fn start(master: &Arc<OwnedFd>, screen: &Arc<SharedScreen>) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let keys = Keys { master: Arc::clone(master), turn: Arc::default(), ended: Arc::clone(&ended) };
        // Where there is no room for a pair, keys are passed until the process ends.
        let stop = UnixStream::pair().ok();
        let (stopped, stop) = stop.map_or((None, None), |(one, other)| (Some(one), Some(other)));
        let (typing, own) = (keys.clone(), Arc::clone(&ended));
        std::thread::spawn(move || pass_keys(&typing, stopped.as_ref(), &own));
        let (done, shown) = channel();
        let (master, screen, own) = (Arc::clone(master), Arc::clone(screen), Arc::clone(&ended));
        std::thread::spawn(move || pass_output(&master, &screen, &own, &done));
        Self { keys, ended, stop, shown }
    }

    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    pub fn master(&self) -> &OwnedFd {
        &self.keys.master
    }

    /// What was written is shown; what is typed from now on is not ours.
    pub fn finish(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.stop = None;
        let _ = self.shown.recv_timeout(SHOWN_WITHIN);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
    }
}

fn pass_keys(keys: &Keys, stopped: Option<&UnixStream>, ended: &AtomicBool) {
    let mut buffer = vec![0; PIECE];
    let stop = stopped.map_or(-1, AsRawFd::as_raw_fd);
    while !ended.load(Ordering::Acquire) {
        let mut polls = [wanted(libc::STDIN_FILENO, libc::POLLIN), wanted(stop, libc::POLLIN)];
        let [typed, stop] = match poll::poll(&mut polls, LOOK_EVERY) {
            Ok(_) => polls.map(|poll| poll.revents != 0),
            Err(_) => return,
        };
        if stop {
            return;
        }
        if typed {
            match pty::typed(&mut buffer) {
                Ok(0) => return,
                Ok(read) if keys.press(buffer.get(..read).unwrap_or_default()).is_err() => return,
                Ok(_) => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(_) => return,
            }
        }
    }
}

fn pass_output(master: &OwnedFd, screen: &SharedScreen, ended: &AtomicBool, done: &Sender<()>) {
    let mut buffer = vec![0; PIECE];
    loop {
        let over = ended.load(Ordering::Acquire);
        let mut polls = [wanted(master.as_raw_fd(), libc::POLLIN)];
        let Ok(ready) = poll::poll(&mut polls, if over { DRAINED } else { LOOK_EVERY.min(DRAINED) }) else { break };
        if ready == 0 {
            if over {
                break;
            }
            continue;
        }
        match pty::read(master, &mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                let bytes = buffer.get(..read).unwrap_or_default();
                if pty::show(bytes).is_err() {
                    break;
                }
                screen.take(bytes);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            // Nobody has the other end any more.
            Err(_) => break,
        }
    }
    let _ = done.send(());
}

fn wanted(fd: i32, events: libc::c_short) -> libc::pollfd {
    libc::pollfd { fd, events, revents: 0 }
}

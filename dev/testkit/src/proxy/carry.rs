//! One connection through the proxy: two threads, one for each direction.

use super::socket::Socket;
use super::{ProxyMode, ProxyState};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Of what a client says so much is remembered, to be said again.
const REMEMBERED: usize = 1 << 20;
const PIECE: usize = 64 << 10;

pub(super) struct Carried {
    near: Socket,
    far: Socket,
    said: Mutex<Vec<u8>>,
    over: AtomicBool,
}

impl Carried {
    pub fn reset(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.near.reset();
        self.far.end();
    }

    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub fn said(&self) -> Vec<u8> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, words: &[u8]) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let room = REMEMBERED.saturating_sub(said.len()).min(words.len());
        said.extend_from_slice(&words[..room]);
    }

    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.near.end();
        self.far.end();
    }
}

pub(super) fn carry(state: &Arc<ProxyState>, near: Socket, far: Socket) {
    let line = Arc::new(Carried { near, far, said: Mutex::default(), over: AtomicBool::new(false) });
    let known = Arc::downgrade(&line);
    let there = thread::spawn({
        let (state, line) = (Arc::clone(state), Arc::clone(&line));
        move || say(&state, &line)
    });
    let back = thread::spawn({
        let state = Arc::clone(state);
        move || answer(&state, &line)
    });
    state.keep(known, [there, back]);
}

/// What the client says.
fn say(state: &ProxyState, line: &Carried) {
    let mut piece = vec![0; PIECE];
    while let Some(words) = read(&line.near, &mut piece) {
        line.remember(words);
        let Some(mode) = state.passes(line) else { break };
        if mode != ProxyMode::Swallow && line.far.write_all(words).is_err() {
            break;
        }
    }
    if !line.is_over() {
        // A client that only waits for the rest of its answers.
        line.far.say_goodbye();
    }
}

/// What the server answers.
fn answer(state: &ProxyState, line: &Carried) {
    let (mut piece, mut answered) = (vec![0; PIECE], 0);
    while let Some(words) = read(&line.far, &mut piece) {
        let nonsense;
        let Some(mode) = state.passes(line) else { break };
        let words = match mode {
            ProxyMode::Swallow | ProxyMode::SwallowAnswers => continue,
            ProxyMode::ResetAfter(most) if answered + words.len() > most => {
                let _ = line.near.write_all(&words[..most.saturating_sub(answered)]);
                line.reset();
                return;
            }
            ProxyMode::Nonsense => {
                nonsense = vec![b'?'; words.len()];
                &nonsense[..]
            }
            ProxyMode::Pass | ProxyMode::HoldBack | ProxyMode::Refuse | ProxyMode::ResetAfter(_) => words,
        };
        answered += words.len();
        if line.near.write_all(words).is_err() {
            break;
        }
    }
    if !line.is_over() {
        line.end();
    }
}

/// `None` at the end.
fn read<'p>(mut from: &Socket, piece: &'p mut [u8]) -> Option<&'p [u8]> {
    let many = from.read(piece).ok().filter(|many| *many > 0)?;
    Some(&piece[..many])
}

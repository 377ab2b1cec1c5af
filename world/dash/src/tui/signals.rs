//! Signals as news: a terminal that was taken over is given back whoever ends us.

use super::run::ViewNews;
use std::io;
use std::sync::mpsc::Sender;

const HEARD: [i32; 6] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP, libc::SIGCONT];

/// From now on these signals are told instead of obeyed.
pub(super) fn listen(to: Sender<ViewNews>) -> io::Result<()> {
    // Whoever does not listen any more is about to end.
    sys::signals::listen(&HEARD, move |signal| {
        let _ = to.send(ViewNews::Signal(signal));
    })
}

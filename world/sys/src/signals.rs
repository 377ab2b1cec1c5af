//! Signals as calls or as bytes in a stream, and what is done about them otherwise.

use signal_hook::iterator::Signals;
use signal_hook::low_level::pipe;
use std::io;
use std::os::unix::net::UnixStream;

/// From now on these signals are told, on a thread of its own, instead of obeyed.
///
/// # Errors
/// When there is no room for the thread, or one of them cannot be heard.
pub fn listen(signals: &[i32], tell: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let mut heard = Signals::new(signals)?;
    std::thread::Builder::new().spawn(move || heard.forever().for_each(tell)).map(drop)
}

/// From now on these signals make the stream readable instead of ending the process.
///
/// # Errors
/// When one of them cannot be heard.
pub fn stream(signals: &[i32]) -> io::Result<UnixStream> {
    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    for signal in signals {
        pipe::register(*signal, sender.try_clone()?)?;
    }
    Ok(receiver)
}

/// What would end the process is an error of one call from now on.
pub fn ignore(signal: i32) {
    // SAFETY: an ignored signal needs no handler.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Whether whoever started this process wants it ignored.
#[must_use]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeroes is a lawful action, which is only written to.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Obeyed as the system does.
pub fn obey(signal: i32) {
    // SAFETY: the system's own default needs no handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Stops here, though SIGTSTP is heard, until somebody says to go on. Where nobody could, the system goes on at once.
pub fn suspend() {
    // SAFETY: all zeroes is the default action; what was there before is put back as it was.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGTSTP, &raw const default, &raw mut before);
        libc::raise(libc::SIGTSTP);
        libc::sigaction(libc::SIGTSTP, &raw const before, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn a_signal_is_told_by_its_number_and_wakes_who_waits_at_the_stream() {
        let (sender, told) = mpsc::channel();
        listen(&[libc::SIGUSR1, libc::SIGUSR2], move |signal| sender.send(signal).unwrap_or_default()).unwrap();
        let mut woken = stream(&[libc::SIGUSR2]).unwrap();
        signal_hook::low_level::raise(libc::SIGUSR2).unwrap();
        assert_eq!(told.recv_timeout(Duration::from_secs(20)), Ok(libc::SIGUSR2));
        assert_eq!(woken.read(&mut [0; 8]).unwrap(), 1);
    }
}

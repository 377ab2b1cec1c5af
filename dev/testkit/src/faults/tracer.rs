//! The tracer: every thread of the program stops before and after each call and is told how to go on.

use super::calls::{self, TracedCall};
use super::orders::Orders;
use super::{FaultKind, FaultRun, SyscallFault, memory};
use crate::process::{Ending, Finished};
use libc::{c_int, c_void, pid_t, user_regs_struct};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::ptr;
use std::time::{Duration, Instant};

const OPTIONS: c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_EXITKILL;
const CALL_STOP: c_int = libc::SIGTRAP | 0x80;
/// How long what was left behind may go on.
const LEFT_BEHIND: Duration = Duration::from_secs(5);
/// How long nobody is looked for when nobody has stopped.
const PAUSE: Duration = Duration::from_micros(50);

/// A program that has just been started and stands before its first instruction. The thread that started it is the
/// only one that may trace it.
pub struct Tracer {
    child: Child,
    pid: pid_t,
    started: Instant,
    threads: BTreeMap<pid_t, Thread>,
}

#[derive(Debug, Default)]
struct Thread {
    /// Inside a call, which ends with the next stop.
    inside: bool,
    call: Option<TracedCall>,
    /// The call was left out and is to end with this number.
    error: Option<i32>,
    /// Stands still until then.
    until: Option<Instant>,
}

impl Tracer {
    pub fn start(mut command: Command, stdin: &[u8]) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // SAFETY: one call that is safe between fork and exec.
        unsafe { command.pre_exec(|| trace(libc::PTRACE_TRACEME, 0, 0, 0).map(drop)) };
        let started = Instant::now();
        let mut child = command.spawn()?;
        let pid = pid_t::try_from(child.id()).map_err(io::Error::other)?;
        let mut status = 0;
        // SAFETY: waits for our own child, which stops by itself at its first instruction.
        if unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) } != pid || !libc::WIFSTOPPED(status) {
            return Err(io::Error::other("the program did not stop to be traced"));
        }
        trace(libc::PTRACE_SETOPTIONS, pid, 0, OPTIONS as usize)?;
        memory::hide_clock_page(pid, &registers(pid)?)?;
        // It fits into the pipe: hooks are small.
        child.stdin.take().map(|mut pipe| pipe.write_all(stdin)).transpose()?;
        let threads = [(pid, Thread::default())].into();
        Ok(Self { child, pid, started, threads })
    }

    pub fn finish(mut self, orders: &Orders, limit: Duration) -> io::Result<FaultRun> {
        go_on(self.pid, 0);
        let mut ended: Option<(Ending, Duration)> = None;
        while !self.threads.is_empty() {
            let passed = self.started.elapsed();
            match ended {
                None if passed > limit || orders.are_over() => {
                    ended = Some((Ending::TimedOut, passed));
                    self.kill();
                }
                // Whom it left behind gets its disk back, and a while to finish.
                Some(_) => self.end_stalls(),
                None => {}
            }
            if ended.is_some_and(|(_, at)| passed > at + LEFT_BEHIND) {
                self.kill();
            }
            self.let_go();
            let mut status = 0;
            // SAFETY: only children of this very thread are waited for.
            let tid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD | libc::WNOHANG) };
            match tid {
                0 => std::thread::sleep(PAUSE),
                // Nobody is left.
                ..0 => break,
                tid if libc::WIFSTOPPED(status) => self.stopped(tid, status, orders),
                tid => {
                    self.threads.remove(&tid);
                    if tid == self.pid && ended.is_none() {
                        ended = Some((ending(status), self.started.elapsed()));
                    }
                }
            }
        }
        let (ending, took) = ended.unwrap_or((Ending::TimedOut, self.started.elapsed()));
        let stdout = rest_of(self.child.stdout.take());
        let stderr = rest_of(self.child.stderr.take());
        let finished = Finished { ending, stdout, stderr, pipes_held: false, took };
        let (calls, met) = orders.account();
        Ok(FaultRun { finished, calls, met })
    }

    /// All of it, whatever group it has gone to.
    fn kill(&self) {
        for tid in self.threads.keys() {
            // SAFETY: a plain signal to a process that was started here and not waited for yet.
            unsafe { libc::kill(*tid, libc::SIGKILL) };
        }
    }

    fn end_stalls(&mut self) {
        let stalled = self.threads.values_mut().filter(|thread| thread.until.is_some());
        stalled.for_each(|thread| thread.until = Some(self.started));
    }

    /// Those whose stall is over go on.
    fn let_go(&mut self) {
        for (tid, thread) in &mut self.threads {
            if thread.until.is_some_and(|until| Instant::now() >= until) {
                thread.until = None;
                go_on(*tid, 0);
            }
        }
    }

    fn stopped(&mut self, tid: pid_t, status: c_int, orders: &Orders) {
        let signal = libc::WSTOPSIG(status);
        let new = !self.threads.contains_key(&tid);
        self.threads.entry(tid).or_default();
        if signal == CALL_STOP {
            if let Err(gone) = self.call(tid, orders) {
                // It was killed while it stood; its end comes next.
                drop(gone);
            }
            if self.threads.get(&tid).is_some_and(|thread| thread.until.is_none()) {
                go_on(tid, 0);
            }
            return;
        }
        // A new thread's first stop and the news of one are no signals of the program's.
        let news = signal == libc::SIGTRAP || (new && signal == libc::SIGSTOP);
        go_on(tid, if news { 0 } else { signal });
    }

    fn call(&mut self, tid: pid_t, orders: &Orders) -> io::Result<()> {
        let (fault, met) = orders.now();
        let mut registers = registers(tid)?;
        let thread = self.threads.entry(tid).or_default();
        thread.inside = !thread.inside;
        if !thread.inside {
            return after(tid, thread, &mut registers, fault.filter(|_| met.is_some()));
        }
        thread.call = calls::seen(tid, &registers);
        let Some(call) = thread.call.clone() else { return Ok(()) };
        let nth = orders.met_with(&call);
        // Nobody cuts the power here, so a flush that does not fail would only cost time.
        if call.is_flush() {
            leave_out(tid, thread, &mut registers, 0)?;
        }
        let Some(fault) = fault else { return Ok(()) };
        let meets = fault.nth == nth;
        match fault.kind {
            FaultKind::Error(error) if meets => leave_out(tid, thread, &mut registers, error),
            FaultKind::Lasting(error) if meets || met.as_ref().is_some_and(|met| met.lasts_for(&call)) => {
                leave_out(tid, thread, &mut registers, error)
            }
            FaultKind::Stall(long) if meets => {
                thread.until = Some(Instant::now() + long);
                Ok(())
            }
            FaultKind::Kill if meets => {
                // SAFETY: a plain signal to a process that was started here and not waited for yet.
                unsafe { libc::kill(tid, libc::SIGKILL) };
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn ending(status: c_int) -> Ending {
    match libc::WIFEXITED(status) {
        true => Ending::Code(libc::WEXITSTATUS(status)),
        false => Ending::Signal(libc::WTERMSIG(status)),
    }
}

/// The call is not made: the kernel is told a number that is none.
fn leave_out(tid: pid_t, thread: &mut Thread, registers: &mut user_regs_struct, error: i32) -> io::Result<()> {
    registers.orig_rax = u64::MAX;
    thread.error = Some(error);
    set_registers(tid, registers)
}

fn after(
    tid: pid_t,
    thread: &mut Thread,
    registers: &mut user_regs_struct,
    fault: Option<SyscallFault>,
) -> io::Result<()> {
    if let Some(error) = thread.error.take() {
        registers.rax = i64::from(-error).cast_unsigned();
        return set_registers(tid, registers);
    }
    if let (Some(SyscallFault { kind: FaultKind::Clock(seconds), .. }), Some(call)) = (fault, &thread.call) {
        memory::turn_clock(tid, call.name, registers, seconds)?;
    }
    Ok(())
}

fn trace(request: libc::c_uint, pid: pid_t, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: the requests used here read and write nothing but what `address` and `data` name.
    match unsafe { libc::ptrace(request, pid, address as *mut c_void, data as *mut c_void) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A thread that is gone by now is left alone: its end comes next.
fn go_on(tid: pid_t, signal: c_int) {
    let _ = trace(libc::PTRACE_SYSCALL, tid, 0, signal as usize);
}

fn registers(tid: pid_t) -> io::Result<user_regs_struct> {
    // SAFETY: plain numbers, for which zero is a value.
    let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
    trace(libc::PTRACE_GETREGS, tid, 0, ptr::from_mut(&mut registers) as usize)?;
    Ok(registers)
}

fn set_registers(tid: pid_t, registers: &mut user_regs_struct) -> io::Result<()> {
    trace(libc::PTRACE_SETREGS, tid, 0, ptr::from_mut(registers) as usize)
}

/// What stands in a pipe, without waiting for who else may hold it.
fn rest_of(pipe: Option<impl Read + AsRawFd>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // SAFETY: sets a flag of a descriptor that is open.
        unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

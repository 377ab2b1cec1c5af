//! What is changed in the memory of a traced program: that it reads clocks by itself, and what a clock says.

use libc::{pid_t, user_regs_struct};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

const AT_IGNORE: u64 = 1;
const AT_SYSINFO_EHDR: u64 = 33;
/// The seconds come first, of `timespec` and `timeval` alike.
const WALL_CLOCKS: [u64; 2] = [libc::CLOCK_REALTIME as u64, libc::CLOCK_REALTIME_COARSE as u64];

fn memory(pid: pid_t) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem"))
}

fn word(memory: &File, at: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    memory.read_exact_at(&mut bytes, at)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Takes away the page through which programs read clocks without a call. To be done right after `exec`, when the
/// stack pointer stands at the count of arguments.
pub fn hide_clock_page(pid: pid_t, registers: &user_regs_struct) -> io::Result<()> {
    let memory = memory(pid)?;
    let mut at = registers.rsp + 8 * (word(&memory, registers.rsp)? + 2);
    while word(&memory, at)? != 0 {
        at += 8;
    }
    at += 8;
    loop {
        match word(&memory, at)? {
            0 => return Ok(()),
            AT_SYSINFO_EHDR => memory.write_all_at(&AT_IGNORE.to_ne_bytes(), at)?,
            _ => {}
        }
        at += 16;
    }
}

/// Turns what a clock has just said by so many seconds. The registers are those after the call.
pub fn turn_clock(pid: pid_t, name: &str, registers: &mut user_regs_struct, seconds: i64) -> io::Result<()> {
    let at = match name {
        "clock_gettime" if WALL_CLOCKS.contains(&registers.rdi) => registers.rsi,
        "gettimeofday" => registers.rdi,
        _ => return Ok(()),
    };
    if at == 0 || registers.rax != 0 {
        return Ok(());
    }
    let memory = memory(pid)?;
    let turned = word(&memory, at)?.wrapping_add_signed(seconds);
    memory.write_all_at(&turned.to_ne_bytes(), at)
}

/// The text at an address, as far as it can be read.
pub fn text(pid: pid_t, at: u64) -> String {
    let mut bytes = [0; 512];
    let read = memory(pid).and_then(|memory| memory.read_at(&mut bytes, at)).unwrap_or_default();
    let end = bytes[..read].iter().position(|byte| *byte == 0).unwrap_or(read);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// What a descriptor stands for.
pub fn descriptor(pid: pid_t, number: u64) -> String {
    let path = std::fs::read_link(format!("/proc/{pid}/fd/{}", number as i32));
    path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

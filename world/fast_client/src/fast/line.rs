//! The command line and the environment of a hook, read from the stack as the kernel made it.

use super::bytes::{same, starts_with, strip, text};

/// A plain hook call that may be answered here.
pub struct HookLine {
    pub agent: &'static [u8],
    folder: Folder,
    env: *const *const u8,
}

/// The state folder, in the parts the environment gives it.
#[derive(Clone, Copy)]
pub struct Folder {
    pub base: &'static [u8],
    pub below: &'static [u8],
}

/// The variables of an environment block.
pub struct EnvironmentBlock(*const *const u8);

impl HookLine {
    /// `taut hook --agent X`, with a state folder, and with the daemon allowed. Anything else is not for us: a program
    /// by another name may be the test harness of this very binary.
    ///
    /// # Safety
    /// `stack` must point to the argument count, arguments and environment as the kernel lays them out.
    pub unsafe fn read(stack: *const usize) -> Option<Self> {
        // SAFETY: the count and that many pointers to strings follow one another, then a null, then the environment.
        let (count, arg) = unsafe { (*stack, stack.wrapping_add(1).cast::<*const u8>()) };
        if !(3..=4).contains(&count) {
            return None;
        }
        // SAFETY: asked for places below the count only.
        let at = |place: usize| unsafe { text(*arg.wrapping_add(place)) };
        if !same(program(at(0)), b"taut") || !same(at(1), b"hook") {
            return None;
        }
        let agent = match count {
            3 => strip(at(2), b"--agent=")?,
            _ if same(at(2), b"--agent") => at(3),
            _ => return None,
        };
        let env = arg.wrapping_add(count + 1);
        Some(Self { agent, folder: folder(EnvironmentBlock(env))?, env })
    }

    pub fn folder(&self) -> Folder {
        self.folder
    }

    pub fn variables(&self) -> EnvironmentBlock {
        EnvironmentBlock(self.env)
    }
}

impl Iterator for EnvironmentBlock {
    type Item = &'static [u8];

    fn next(&mut self) -> Option<&'static [u8]> {
        // SAFETY: the block ends with a null, after which `self.0` is not moved any more.
        let at = unsafe { *self.0 };
        if at.is_null() {
            return None;
        }
        self.0 = self.0.wrapping_add(1);
        // SAFETY: strings of the environment lie on the stack for the whole life of the process.
        Some(unsafe { text(at) })
    }
}

/// `TAUT_HOME`, else `XDG_STATE_HOME/taut`, else `HOME/.local/state/taut`; `None` when the daemon is not to be asked.
fn folder(variables: EnvironmentBlock) -> Option<Folder> {
    let (mut taut, mut xdg, mut home) = (None, None, None);
    for variable in variables {
        if let Some(value) = strip(variable, b"TAUT_NO_DAEMON=") {
            if !value.is_empty() && !same(value, b"0") {
                return None;
            }
        } else if let Some(value) = strip(variable, b"TAUT_HOME=") {
            first(&mut taut, value);
        } else if let Some(value) = strip(variable, b"XDG_STATE_HOME=") {
            first(&mut xdg, value);
        } else if let Some(value) = strip(variable, b"HOME=") {
            first(&mut home, value);
        }
    }
    let found = match (taut, xdg, home) {
        (Some(base), _, _) => Folder { base, below: b"" },
        (None, Some(base), _) if starts_with(base, b"/") => Folder { base, below: b"/taut" },
        (None, _, Some(base)) => Folder { base, below: b"/.local/state/taut" },
        (None, _, None) => return None,
    };
    starts_with(found.base, b"/").then_some(found)
}

/// A variable given twice counts as the C library counts it: the first one. An empty one is not set.
fn first(slot: &mut Option<&'static [u8]>, value: &'static [u8]) {
    if slot.is_none() && !value.is_empty() {
        *slot = Some(value);
    }
}

/// The last part of a path.
fn program(path: &'static [u8]) -> &'static [u8] {
    let mut name = path;
    let mut i = 0;
    while let Some(byte) = path.get(i) {
        i += 1;
        if *byte == b'/' {
            name = path.get(i..).unwrap_or(path);
        }
    }
    name
}

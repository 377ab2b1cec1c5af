//! Bytes from the socket: whoever can connect decides what they are.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| daemon::fuzzing::frame(bytes));

//! Decides whether the fast client is built: without optimisation the compiler calls `memcpy` for every small struct,
//! and the C library has not bound it yet when the fast client runs. Then `taut_entry` only goes on to `_start`.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(fast_client)");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let system = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ARCH", "x86_64");
    if system && (is("OPT_LEVEL", "2") || is("OPT_LEVEL", "3")) {
        println!("cargo:rustc-cfg=fast_client");
    }
}

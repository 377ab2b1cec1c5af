//! Links `taut` so that the fast client runs first; how is told in `world/fast_client/link.rs`.

#[path = "../fast_client/link.rs"]
mod link;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../fast_client/link.rs");
    link::emit("bins")
}

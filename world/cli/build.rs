//! Links `taut` so that the threshold runs first; how is told in `world/entry/link.rs`.

#[path = "../entry/link.rs"]
mod link;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../entry/link.rs");
    link::emit("bins")
}

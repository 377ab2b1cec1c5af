//! Links the test program like `taut` itself, so that the threshold is tested as it is shipped.

#[path = "../entry/link.rs"]
mod link;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../entry/link.rs");
    link::emit("examples")
}

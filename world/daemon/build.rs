//! Links the test program like `taut` itself, so that the fast client is tested as it is shipped.

#[path = "../fast_client/link.rs"]
mod link;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../fast_client/link.rs");
    link::emit("examples")
}

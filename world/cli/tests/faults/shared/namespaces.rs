//! Later.
pub fn member() {}
pub fn run() -> super::Outcome {
    Ok("skipped".into())
}

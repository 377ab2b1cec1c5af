//! The variables of this process.

/// Those that are text. One whose bytes are none says nothing to us, and is no reason to end.
pub fn text_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok()))
}

//! Our own words that come back as a prompt: some clients put what a stop was refused with to the model as if a person
//! had said it. Nobody has spoken then, and what is counted in a row goes on.

/// Characters of what was said that are remembered.
const REMEMBERED: usize = 80;

/// Characters of a prompt that are looked at: a client may put something before our words.
const LOOKED_AT: usize = 400;

/// What is remembered of a text.
pub fn beginning(text: &str) -> String {
    words(text, REMEMBERED)
}

/// Whether a prompt is what was remembered.
pub fn is_ours(prompt: &str, remembered: &str) -> bool {
    !remembered.is_empty() && words(prompt, LOOKED_AT).contains(remembered)
}

/// The first characters, with single spaces: clients break and trim lines.
fn words(text: &str, most: usize) -> String {
    let head: String = text.chars().take(most * 2).collect();
    let joined = head.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_known_again_however_it_is_broken_and_whatever_stands_before_it() {
        let said = format!("[TAUT: INFO]: Reminder -  Ping\n\nbefore ending {}", "and more ".repeat(40));
        let kept = beginning(&said);
        assert_eq!(kept.chars().count(), REMEMBERED);
        for prompt in [said.clone(), format!("\n {}\r\n", said.replace(' ', "\n")), format!("Hook said: {said}")] {
            assert!(is_ours(&prompt, &kept), "{prompt}");
        }
        for prompt in ["", "go on", "Reminder - Ping"] {
            assert!(!is_ours(prompt, &kept), "{prompt}");
        }
        assert!(!is_ours("anything", ""), "nothing was said");
    }
}

//! What comes in, made fit: without what a terminal obeys, bounded; and ids as the server takes them.

use engine::leaving::SHORT;
use model::text;

/// One line of something that came in.
pub(crate) fn arrived(words: &str, most: usize) -> String {
    text::line(words, most).trim().to_string()
}

/// A machine or an agent as it is called: nothing that would be read as another's name.
pub(crate) fn name(words: &str) -> String {
    let plain = |c: char| if c.is_whitespace() || c == '@' { '-' } else { c };
    arrived(words, SHORT).chars().map(plain).collect()
}

/// Hexadecimal digits in groups, as PostgreSQL takes them.
pub(crate) fn is_uuid(id: &str) -> bool {
    let groups: Vec<&str> = id.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The id itself where it is a UUID, else one that is always the same for it on this machine.
pub(crate) fn as_uuid(id: &str, machine: &str) -> String {
    if is_uuid(id) {
        return id.to_string();
    }
    let hash = pipeline::sha256(&format!("{machine} {id}"));
    let part = |from: usize, to: usize| hash.get(from..to).unwrap_or_default().to_string();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f9_an_id_that_is_no_uuid_becomes_the_same_one_each_time_and_another_on_another_machine() {
        let made = as_uuid("0197-worker_done", "m1");
        assert!(is_uuid(&made), "{made}");
        assert_eq!(made, as_uuid("0197-worker_done", "m1"));
        assert_ne!(made, as_uuid("0197-worker_done", "m2"));
        assert_eq!(as_uuid(&made, "m2"), made);
        for bad in ["", "x", "0197e5a1-0000-7000-8000-00000000000g", "0197e5a1-0000-7000-8000-0000000000000"] {
            assert!(!is_uuid(bad), "{bad}");
        }
    }

    #[test]
    fn f9_the_name_of_a_machine_cannot_be_read_as_anothers_or_move_a_cursor() {
        assert_eq!(name("vm 3@evil\u{1b}[2J\n"), "vm-3-evil␛[2J");
        assert!(name(&"x".repeat(500)).chars().count() <= SHORT + 1);
    }
}

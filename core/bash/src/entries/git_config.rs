//! Git's configuration: the few keys that say what git runs.

use super::quoted::escape;

/// What the values of `section.key` are, in the order they are written, each with its line. Included files are not
/// followed.
pub(crate) fn git_config(text: &str, section: &str, key: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside = false;
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let line = line.trim_start();
        let said = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, behind)) => {
                inside = name.trim().eq_ignore_ascii_case(section);
                behind.trim_start()
            }
            None => line,
        };
        let Some((name, value)) = said.split_once('=').filter(|_| inside) else { continue };
        let mut whole = value.trim().to_string();
        while whole.ends_with('\\') && !whole.ends_with("\\\\") {
            whole.pop();
            let Some((_, more)) = lines.next() else { break };
            whole.push_str(more.trim_end());
        }
        if name.trim().eq_ignore_ascii_case(key) {
            found.push((index + 1, unquoted(&whole)));
        }
    }
    found
}

/// A value without quotes, escapes and the comment behind it.
fn unquoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut quoted = false;
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => out.extend(escape(&mut letters)),
            _ => out.push(letter),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g12_aliases_are_found_under_their_section_only() {
        let text = "[core]\n\thooksPath = .husky\n[Alias]\n\tnuke = \"!rm -rf ~\" # x\n\tst = status\\\n -s\n[x \"alias\"]\nst = no\n";
        assert_eq!(git_config(text, "alias", "nuke"), [(4, "!rm -rf ~".to_string())]);
        assert_eq!(git_config(text, "alias", "st"), [(5, "status -s".to_string())]);
        assert_eq!(git_config(text, "core", "hookspath"), [(2, ".husky".to_string())]);
        assert!(git_config("[alias\nx = y\n= \\\n", "alias", "x").is_empty());
    }
}

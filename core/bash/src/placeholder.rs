//! Placeholders: `<user>` in a line that was copied from a manual stands for a name, and is no redirect.

use std::borrow::Cow;

/// The longest name that is taken for one.
const LONGEST: usize = 40;

/// Folders that somebody who writes a real redirect may mean.
const REAL: &[&str] = &[
    "/etc", "/usr", "/bin", "/sbin", "/lib", "/boot", "/dev", "/home", "/root", "/var", "/opt", "/proc", "/sys",
    "/Users",
];

/// The text with its placeholders quoted, so that the shell's reader takes them for the text they are.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    // The body of a here-document is text already.
    if !text.contains('<') || !text.contains('>') || text.contains("<<") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let (mut copied, mut at) = (0, 0);
    let mut quote: Option<u8> = None;
    let bytes = text.as_bytes();
    let mut word = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => at += 1,
            (b'\'' | b'"' | b'`', None) => quote = Some(byte),
            (_, Some(open)) => quote = quote.filter(|_| byte != open),
            (b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(', None) => word = at + 1,
            (b'<', None) => {
                if let Some(end) = placeholder(text, word, at) {
                    out.push_str(text.get(copied..at).unwrap_or_default());
                    out.push('\'');
                    out.push_str(text.get(at..end).unwrap_or_default());
                    out.push('\'');
                    (copied, at) = (end, end);
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Where the placeholder that begins at `at` ends, in a word that begins at `word`.
fn placeholder(text: &str, word: usize, at: usize) -> Option<usize> {
    let end = at + 1 + closed(text.get(at + 1..)?)?;
    let rest = text.get(end + 1..).unwrap_or_default();
    let before = text.get(word..at)?;
    let glued = rest.split([' ', '\t', '\n', ';', '&']).next().unwrap_or_default();
    if rest.starts_with(['>', '(', '&', '|']) {
        return None;
    }
    let address = before.contains("://");
    let real = |target: &str| target.starts_with(['~', '$']) || REAL.iter().any(|folder| target.starts_with(folder));
    let is = if before.is_empty() && glued.is_empty() {
        // `sort <names> /etc/x`: with a blank behind it, a path is what is written.
        !rest.trim_start().starts_with(['/', '~', '$', '.'])
    } else if before.is_empty() {
        // `cat <a>b` reads and writes; `<host>/<name>` does not.
        let another = glued.find('<').and_then(|next| closed(glued.get(next + 1..)?));
        another.is_some() && !real(glued)
    } else {
        // `2<a`, and a program that has no argument yet, are read as the shell would.
        let named = before.contains(['/', ':', '=', '.', '@', '-', '_', '\'', '"', '>']);
        (address || named) && !real(glued)
    };
    is.then_some(end + 1)
}

/// How far the name of a placeholder goes, up to its `>`.
fn closed(text: &str) -> Option<usize> {
    let end = text.bytes().take(LONGEST + 1).position(|byte| byte == b'>').filter(|end| *end > 0)?;
    let name = text.get(..end)?;
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.' | '|');
    let path = name.contains("..") || name.starts_with('.');
    (name.chars().all(letter) && name.starts_with(char::is_alphabetic) && !path).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_angle_brackets_is_text_where_a_manual_would_have_it() {
        for (line, read) in [
            (
                "git clone https://github.com/<user>/<project>.git",
                "git clone https://github.com/'<user>'/'<project>'.git",
            ),
            ("docker pull <registry>/<image>:<tag>", "docker pull '<registry>'/'<image>':'<tag>'"),
            ("npm team rm <scope:team> <user>", "npm team rm '<scope:team>' '<user>'"),
            ("kubectl logs <pod> -n <space>", "kubectl logs '<pod>' -n '<space>'"),
        ] {
            assert_eq!(quoted(line), read);
        }
    }

    #[test]
    fn what_a_shell_would_write_stays_a_redirect() {
        for line in [
            "sort <a >b", "cat <a>b", "cat<a>/etc/passwd", "sort <names>/etc/passwd", "cat <in.txt> /etc/passwd",
            "cat <<E\n<user>\nE", "echo '<b>x</b>' > a.html", "a 2>b <c", "x-<p>/etc/passwd", "cat <a>~/.bashrc",
            "diff <(a) <(b) > c", "cat <../a>b", "cat a.txt>b.txt",
        ] {
            assert_eq!(quoted(line), line);
        }
    }
}

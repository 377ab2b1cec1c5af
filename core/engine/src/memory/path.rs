//! Paths as text: where they lead without looking.

/// An absolute path without `.`, `..` and doubled slashes.
pub fn normal(path: &str, cwd: &str, home: &str) -> String {
    let joined = match path.strip_prefix("~/") {
        Some(rest) => format!("{home}/{rest}"),
        None if path.starts_with('/') => path.to_string(),
        None => format!("{cwd}/{path}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// Whether a path is this folder or below it.
pub fn within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The folder a path lies in.
pub fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}

/// Whether text matches a pattern in which `*` stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut rest = rest;
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_lead_out_by_dots() {
        assert_eq!(normal("~/.claude/../.ssh/id", "/p", "/h"), "/h/.ssh/id");
        assert_eq!(normal("a//./b/../c", "/p", "/h"), "/p/a/c");
        assert!(within("/p/a", "/p") && within("/p", "/p/") && !within("/pa", "/p"));
        assert_eq!((parent("/a/b"), parent("/a"), parent("a")), ("/a", "/", "/"));
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("taut session *", "taut session activate x", true),
            ("taut session *", "taut sessions", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b", "a-c", false),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("*.md", "x.md", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}

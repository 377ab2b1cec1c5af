//! Links and headings in Markdown, outside fenced code and code spans.

/// Every link target with its line.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (fence, mark) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(opened), Some(mark)) if opened == mark => fence = None,
            (None, None) => found.extend(of_line(&without_spans(line)).into_iter().map(|link| (number + 1, link))),
            _ => {}
        }
    }
    found
}

/// A link's file part, when it points into this tree.
pub(crate) fn relative(link: &str) -> Option<&str> {
    let path = link.split(['#', '?']).next().unwrap_or_default();
    let has_scheme =
        path.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(|one| one.is_ascii_alphanumeric()));
    (!path.is_empty() && !has_scheme).then_some(path)
}

/// The path a link in `from` means, from the root of the tree; `None` when it leaves the tree.
pub(crate) fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = match link.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.split('/').collect(),
    };
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// What a link can name behind `#`: each heading as sites make an id of it.
pub(crate) fn headings(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#').strip_prefix(' ').filter(|_| !fenced && line.starts_with('#'));
        let Some(title) = title else { continue };
        let kept = title.trim().chars().filter(|one| one.is_alphanumeric() || matches!(one, ' ' | '-' | '_'));
        found.push(kept.collect::<String>().to_lowercase().replace(' ', "-"));
    }
    found
}

fn of_line(line: &str) -> Vec<String> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let reference = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    let attributes = ["src=\"", "href=\""].into_iter().flat_map(|key| line.split(key).skip(1));
    let attributes = attributes.filter_map(|rest| rest.split('"').next());
    let all = inline.chain(reference).chain(attributes);
    all.map(|link| link.trim().trim_matches(['<', '>']).to_owned()).collect()
}

/// Code spans blanked: every other part between backticks.
fn without_spans(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{headings, links, relative, resolve};

    #[test]
    fn links_are_found_outside_code() {
        let text = "[a](b.md#c) ![d](<e.svg>) `[no](no.md)`\n```\n[no](no.md)\n```\n[f]: g.md\n<img src=\"h.png\">\n";
        let found: Vec<_> = links(text).into_iter().map(|(_, link)| link).collect();
        assert_eq!(found, ["b.md#c", "e.svg", "g.md", "h.png"]);
    }

    #[test]
    fn headings_are_named_as_sites_name_them() {
        assert_eq!(headings("# A\n## `b` and C's\n```\n# no\n```\n#no\n"), ["a", "b-and-cs"]);
    }

    #[test]
    fn only_links_into_the_tree_are_relative() {
        assert_eq!(relative("https://example.org/x"), None);
        assert_eq!(relative("mailto:a@example.org"), None);
        assert_eq!(relative("#here"), None);
        assert_eq!(relative("docs/start.md#there"), Some("docs/start.md"));
    }

    #[test]
    fn paths_resolve_from_the_file_they_stand_in() {
        assert_eq!(resolve("docs/a.md", "../README.md").as_deref(), Some("README.md"));
        assert_eq!(resolve("README.md", "docs/rules/").as_deref(), Some("docs/rules"));
        assert_eq!(resolve("README.md", "../x"), None);
    }
}

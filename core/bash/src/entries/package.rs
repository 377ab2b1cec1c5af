//! `package.json`: the scripts that npm, pnpm, yarn and bun run by their names.

use super::json::json;
use super::tree::TreeNode;
use super::{EntryPiece, PIECES};

/// What npm runs for a command of its own, in that order.
pub(crate) const ON_INSTALL: &[&str] = &[
    "pnpm:devPreinstall", "preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare",
];
pub(crate) const ON_PACK: &[&str] = &["prepack", "prepare", "postpack"];
pub(crate) const ON_PUBLISH: &[&str] = &["prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"];
pub(crate) const ON_VERSION: &[&str] = &["preversion", "version", "postversion"];

/// A `package.json` that has been read.
#[derive(Debug, Default)]
pub(crate) struct Package {
    tree: TreeNode,
}

impl Package {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        json(text).map(|tree| Self { tree })
    }

    /// The script of that name, with what is run before and after it.
    pub(crate) fn script(&self, name: &str, args: &str) -> Vec<EntryPiece> {
        let Some(own) = self.piece(name, args) else { return Vec::new() };
        let before = self.piece(&format!("pre{name}"), "");
        let after = self.piece(&format!("post{name}"), "");
        before.into_iter().chain([own]).chain(after).collect()
    }

    /// Those of the scripts that there are.
    pub(crate) fn scripts(&self, names: &[&str]) -> Vec<EntryPiece> {
        names.iter().filter_map(|name| self.piece(name, "")).collect()
    }

    /// The scripts whose name fits a pattern of `npm-run-all`: `*` stops at a colon, `**` does not.
    pub(crate) fn fitting(&self, pattern: &str) -> Vec<String> {
        let Some(scripts) = self.tree.get("scripts") else { return Vec::new() };
        let names = scripts.entries().iter().map(|(name, _)| name);
        names.filter(|name| fits(name, pattern)).take(PIECES).cloned().collect()
    }

    /// The folders of the workspace, as they are written.
    pub(crate) fn workspaces(&self) -> Vec<String> {
        let listed = self.tree.at(&["workspaces", "packages"]).or_else(|| self.tree.get("workspaces"));
        let texts = listed.map(TreeNode::texts).unwrap_or_default();
        texts.into_iter().map(|(_, text)| text.trim_end_matches('/').to_string()).take(64).collect()
    }

    fn piece(&self, name: &str, args: &str) -> Option<EntryPiece> {
        let script = self.tree.get("scripts")?.get(name)?;
        let text = script.text()?;
        let text = if args.is_empty() { text.to_string() } else { format!("{text} {args}") };
        Some(EntryPiece::new(text, script.line))
    }
}

/// Whether a name fits a pattern with at most one star, which is how they are written.
fn fits(name: &str, pattern: &str) -> bool {
    let (before, after) = match pattern.split_once("**").or_else(|| pattern.split_once('*')) {
        Some(parts) => parts,
        None => return name == pattern,
    };
    let middle = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    middle.is_some_and(|middle| pattern.contains("**") || !middle.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"scripts\": {\n    \"preclean\": \"echo a\",\n    \"clean\": \"rm -rf dist\",\n    \
                        \"build:js\": \"tsc\",\n    \"postinstall\": \"x\"\n  },\n  \"workspaces\": [\"packages/*\"]\n}\n";

    #[test]
    fn g12_a_script_comes_with_those_before_and_after_it() {
        let package = Package::parse(TEXT).unwrap();
        let found = [EntryPiece::new("echo a", 3), EntryPiece::new("rm -rf dist '--x'", 4)];
        assert_eq!(package.script("clean", "'--x'"), found);
        assert_eq!(package.script("none", ""), []);
        assert_eq!(package.scripts(ON_INSTALL), [EntryPiece::new("x", 6)]);
        assert_eq!(package.fitting("build:*"), ["build:js"]);
        assert_eq!(package.workspaces(), ["packages/*"]);
    }

    #[test]
    fn shapes_that_are_not_known_give_nothing() {
        for text in ["", "[]", "{\"scripts\": []}", "{\"scripts\": {\"x\": 1, \"y\": {}}}", "{\"scripts\": \"x\"}"] {
            let found = Package::parse(text).map(|package| package.script("y", "").len()).unwrap_or_default();
            assert_eq!(found, 0, "{text}");
        }
    }
}

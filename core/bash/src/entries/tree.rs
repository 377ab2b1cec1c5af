//! What JSON, TOML and YAML files have in common: values in values, each with the line it stands on.

use toml::de::{DeTable, DeValue};

/// One value of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TreeNode {
    /// The line of the file it stands on, from one.
    pub(super) line: usize,
    pub(super) value: TreeValue,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum TreeValue {
    Text(String),
    List(Vec<TreeNode>),
    Map(Vec<(String, TreeNode)>),
    /// A number or a truth value, as it is written.
    Plain(String),
    #[default]
    Nothing,
}

impl TreeNode {
    pub(super) fn new(line: usize, value: TreeValue) -> Self {
        Self { line, value }
    }

    pub(super) fn get(&self, key: &str) -> Option<&TreeNode> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    /// The value below several keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&TreeNode> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    pub(super) fn entries(&self) -> &[(String, TreeNode)] {
        match &self.value {
            TreeValue::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> &[TreeNode] {
        match &self.value {
            TreeValue::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            TreeValue::Text(text) | TreeValue::Plain(text) => Some(text),
            _ => None,
        }
    }

    /// A text, or the texts of a list: both are written where one is meant.
    pub(super) fn texts(&self) -> Vec<(usize, &str)> {
        match self.text() {
            Some(text) => vec![(self.line, text)],
            None => self.items().iter().filter_map(|item| Some((item.line, item.text()?))).collect(),
        }
    }
}

/// A TOML text.
pub(super) fn toml(text: &str) -> Option<TreeNode> {
    let table = DeTable::parse(text).ok()?;
    let breaks: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    Some(of_table(table.get_ref(), &breaks, 1))
}

fn of_table(table: &DeTable<'_>, breaks: &[usize], line: usize) -> TreeNode {
    let entries = table.iter().map(|(key, value)| {
        let line = line_at(breaks, key.span().start);
        (key.get_ref().to_string(), of_value(value.get_ref(), breaks, line))
    });
    TreeNode::new(line, TreeValue::Map(entries.collect()))
}

fn of_value(value: &DeValue<'_>, breaks: &[usize], line: usize) -> TreeNode {
    let value = match value {
        DeValue::String(text) => TreeValue::Text(text.to_string()),
        DeValue::Boolean(truth) => TreeValue::Plain(truth.to_string()),
        DeValue::Array(items) => TreeValue::List(
            items.iter().map(|item| of_value(item.get_ref(), breaks, line_at(breaks, item.span().start))).collect(),
        ),
        DeValue::Table(table) => return of_table(table, breaks, line),
        _ => TreeValue::Nothing,
    };
    TreeNode::new(line, value)
}

fn line_at(breaks: &[usize], offset: usize) -> usize {
    breaks.partition_point(|at| *at < offset) + 1
}

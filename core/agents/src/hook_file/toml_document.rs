//! The `[[hooks]]` tables of a file of TOML, and where each of their parts stands.

use crate::settings::SettingsError;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One table of the list.
pub(super) struct HookTable {
    /// From its header to the end of the line of its last field.
    pub span: Range<usize>,
    pub fields: Vec<TableField>,
    /// Whether it holds no other table, as ours do not.
    pub is_flat: bool,
}

pub(super) struct TableField {
    pub key: String,
    /// As it is written.
    pub value: Range<usize>,
    /// What it says, where it is a text.
    pub text: Option<String>,
}

/// All tables of that list, in their order. An error where a further one could not be put behind the file.
pub(super) fn tables(text: &str, array: &str) -> Result<Vec<HookTable>, SettingsError> {
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SettingsError::at(text, at, error.message().trim().to_owned())
    })?;
    let root = root.into_inner();
    let Some((_, list)) = root.iter().find(|(key, _)| key.get_ref() == array) else { return Ok(Vec::new()) };
    let refuse = |at: usize| {
        let why = format!("`{array}` has to be written as `[[{array}]]` tables, so that one can be added behind it");
        Err(SettingsError::at(text, at, why))
    };
    let DeValue::Array(items) = list.get_ref() else { return refuse(list.span().start) };
    let mut tables = Vec::new();
    for item in items.iter() {
        match item.get_ref() {
            // A table that is written between braces is no table of its own.
            DeValue::Table(table) if written(text, &item.span()).starts_with("[[") => {
                tables.push(hook_table(text, item.span(), table));
            }
            _ => return refuse(list.span().start),
        }
    }
    if tables.is_empty() { refuse(list.span().start) } else { Ok(tables) }
}

fn hook_table(text: &str, header: Range<usize>, table: &DeTable<'_>) -> HookTable {
    // A table below it may stand anywhere in the file.
    let flat = |value: &DeValue<'_>| match value {
        DeValue::Table(_) => false,
        DeValue::Array(items) => !items.iter().any(|item| matches!(item.get_ref(), DeValue::Table(_))),
        _ => true,
    };
    let mut fields: Vec<_> = table.iter().map(|(key, value)| field(key.get_ref(), value)).collect();
    fields.sort_by_key(|field| field.value.start);
    let last = fields.last().map_or(header.end, |field| field.value.end);
    HookTable {
        span: header.start..line_end(text, last),
        fields,
        is_flat: table.values().all(|value| flat(value.get_ref())),
    }
}

fn field(key: &str, value: &Spanned<DeValue<'_>>) -> TableField {
    let text = match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    TableField { key: key.to_owned(), value: value.span(), text }
}

impl HookTable {
    pub fn text(&self, key: &str) -> Option<&str> {
        self.field(key)?.text.as_deref()
    }

    pub fn field(&self, key: &str) -> Option<&TableField> {
        self.fields.iter().find(|field| field.key == key)
    }
}

pub(super) fn written<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    text.get(span.clone()).unwrap_or_default()
}

/// Behind the end of the line of an offset.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.find('\n').map_or(rest.len(), |newline| newline + 1)
}

//! Our plugin, as the settings switch it on: it brings the same hooks, and runs beside those of the settings.

use super::SettingsError;
use crate::hook_file::jsonc::Document;

const LIST: &str = "enabledPlugins";
/// The name of the plugin, before the market that it comes from.
const NAME: &str = "taut@";

/// The plugin of ours that is switched on.
pub(super) fn enabled(text: &str) -> Result<Option<String>, SettingsError> {
    let document = Document::read(text)?;
    let list = document.root.as_ref().and_then(|root| root.member(LIST));
    let members = list.and_then(|list| list.node.members()).unwrap_or_default();
    let is_on = |node: &crate::hook_file::jsonc::Node| document.slice(node.span.clone()) == "true";
    let found = members
        .iter()
        .rfind(|member| member.key.as_deref().is_some_and(|key| key.starts_with(NAME)) && is_on(&member.node));
    Ok(found.and_then(|member| member.key.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i2_a_plugin_of_ours_is_seen_where_it_is_switched_on() {
        let found = |text: &str| enabled(text).unwrap();
        assert_eq!(found(r#"{"enabledPlugins":{"other@x":true,"taut@taut":true}}"#).as_deref(), Some("taut@taut"));
        for text in
            ["", "{}", r#"{"enabledPlugins":{"taut@taut":false}}"#, r#"{"enabledPlugins":{"tautology@x":true}}"#]
        {
            assert_eq!(found(text), None, "{text}");
        }
    }
}

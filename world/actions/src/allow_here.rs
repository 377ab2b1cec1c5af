//! A rule that stopped an agent, allowed in its project from now on: planned, shown, then written.

use crate::{ActionError, Person, record, target};
use engine::fleet::text::line;
use host::settings_file::{SettingsFileChange, SettingsSnapshot, replace};
use model::RuleKind;
use policy::rules;
use serde_json::json;
use std::path::{Path, PathBuf};
use store::Store;

/// What would be written to the user's own configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleAllowance {
    pub rule: String,
    /// For what it would hold, in words.
    pub scope: String,
    /// The change, as lines.
    pub diff: String,
    pub file: PathBuf,
    agent: String,
    after: String,
    before: String,
}

/// Writes nothing: whoever calls it shows the scope and asks, then calls [`RuleAllowance::write`].
pub fn allow_rule_here(store: &Store, config: &Path, agent: &str, rule: &str) -> Result<RuleAllowance, ActionError> {
    let target = target::find(store, agent)?;
    let in_terminal = || format!("`taut policy allow {}` in your own terminal", line(rule, 80));
    let rule =
        rules::find(rule).ok_or_else(|| ActionError::Refused(format!("there is no rule `{}`", line(rule, 80))))?;
    if rule.kind == RuleKind::Floor {
        return Err(ActionError::Refused(format!("`{}` is the floor: no configuration lifts it", rule.id)));
    }
    if rule.guards_taut() {
        let why = format!("`{}` guards the guard itself; if you want it off, run {}", rule.id, in_terminal());
        return Err(ActionError::Refused(why));
    }
    let project = target.agent.project.clone();
    // Without a folder it would hold everywhere.
    if !Path::new(&project).is_absolute() || project == "/" {
        return Err(ActionError::Refused(format!("`{agent}` is in no project; run {}", in_terminal())));
    }
    let snapshot = SettingsSnapshot::read(config).map_err(|error| ActionError::Refused(error.to_string()))?;
    let before = snapshot.text().to_string();
    let reason = format!("it stopped {}", line(agent, 80));
    let after = with_entry(&before, rule.id, &project, &reason).ok_or_else(|| {
        let why = "the configuration lists allowances in a way that nothing can be added to from here";
        ActionError::Refused(format!("{why}; run {}", in_terminal()))
    })?;
    Ok(RuleAllowance {
        rule: rule.id.to_string(),
        scope: format!("{} is no longer stopped in {}, whichever agent does it", rule.id, line(&project, 200)),
        diff: snapshot.diff(&SettingsFileChange::Text(after.clone())),
        file: config.to_path_buf(),
        agent: agent.to_string(),
        after,
        before,
    })
}

impl RuleAllowance {
    /// Exactly what was shown, or nothing: a file that changed meanwhile is left as it is.
    pub fn write(&self, store: &mut Store, person: &Person) -> Result<(), ActionError> {
        let target = target::find(store, &self.agent)?;
        let refused = |why: String| ActionError::Refused(why);
        let snapshot = SettingsSnapshot::read(&self.file).map_err(|error| refused(error.to_string()))?;
        if snapshot.text() != self.before {
            return Err(refused(format!("{} changed meanwhile; look at it again", self.file.display())));
        }
        replace(&snapshot, &SettingsFileChange::Text(self.after.clone()))
            .map_err(|error| refused(error.to_string()))?;
        let what = json!({"rule": self.rule, "scope": self.scope});
        record::store(store, record::event(person, &target.agent, "allow-rule", what, host::clock::now()))?;
        Ok(())
    }
}

/// The text with one more allowance at its end, keeping every byte of it; `None` where that would not mean what it says.
fn with_entry(before: &str, rule: &str, path: &str, reason: &str) -> Option<String> {
    let quoted = |text: &str| toml::Value::String(text.to_string()).to_string();
    let gap = if before.is_empty() {
        ""
    } else if before.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let (rule_text, path_text, reason_text) = (quoted(rule), quoted(path), quoted(reason));
    let after =
        format!("{before}{gap}[[guard.allow]]\nrule = {rule_text}\npath = {path_text}\nreason = {reason_text}\n");
    let listed = |text: &str| Some(allowances(&text.parse::<toml::Table>().ok()?));
    let (old, mut new) = (listed(before)?, listed(&after)?);
    let added = new.pop()?;
    let field = |name: &str| added.get(name).and_then(toml::Value::as_str);
    (old == new && field("rule") == Some(rule) && field("path") == Some(path)).then_some(after)
}

fn allowances(config: &toml::Table) -> Vec<toml::Value> {
    let list = config.get("guard").and_then(|guard| guard.get("allow")).and_then(toml::Value::as_array);
    list.cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_an_allowance_is_added_at_the_end_and_every_other_byte_stays() {
        let kept = "# mine\n[guard]\nmode = \"enforce\"\n\n[[guard.allow]]\nrule = \"a\"\nreason = \"r\"\n\n[notify]\non = []\n";
        for before in ["", kept, "[notify]\non = []"] {
            let after = with_entry(before, "git-force-push", "/p/\"odd\"\n", "why").unwrap();
            assert!(after.starts_with(before), "{after}");
            let list = allowances(&after.parse().unwrap());
            let last = list.last().unwrap();
            assert_eq!(last["path"].as_str(), Some("/p/\"odd\"\n"), "{after}");
        }
        for before in ["not toml", "guard = 1\n", "[guard]\nallow = []\n", "guard = { allow = [] }\n"] {
            assert_eq!(with_entry(before, "git-force-push", "/p", "why"), None, "{before}");
        }
    }
}

//! Files put into a folder: what is written there has the name it had, or a name only the run tells.

use super::change::name_of;
use super::{ActedBy, PathAction, PathVerb};
use crate::guarded_keys;
use crate::target::{Target, TargetTail};
use bash::Word;

/// `source` put at `to`, which may be a folder that is there already; with `content`, what is in `source` is.
pub(super) fn put(by: &ActedBy<'_>, to: &str, source: &Word, content: bool, acts: &mut Vec<PathAction>) {
    let name = name_of(source);
    let Some(path) = by.path(to).path else { return };
    if content || matches!(name.as_str(), "." | "..") {
        return fill(by, Some(to), acts);
    }
    if name.contains(['*', '?', '[']) || source.has_unknown() {
        if guarded_keys::is_settings_folder(&path) {
            let tail = if source.has_unknown() { TargetTail::Everything } else { TargetTail::Some(name) };
            acts.push(PathAction { deed: PathVerb::Write, target: Target { tail, ..by.path(to) } });
        }
        return;
    }
    let below = format!("{}/{name}", to.trim_end_matches('/'));
    let at_home = by.listed.home == Some(path.as_str());
    let folder = to.ends_with('/') || to.ends_with("/.") || matches!(to, "." | ".." | "~");
    // A name that says nothing is a copy's own; the folders of keys take any.
    if folder || guarded_keys::replaced_by_name(&name) || path.ends_with("/.ssh") {
        acts.push(PathAction { deed: PathVerb::Write, target: by.path(&below) });
    }
    if at_home {
        fill(by, Some(&below), acts);
    }
}

/// Anything may be written into an agent's folder of settings.
pub(super) fn fill(by: &ActedBy<'_>, folder: Option<&str>, acts: &mut Vec<PathAction>) {
    let Some(target) = folder.map(|folder| by.path(folder)) else { return };
    if target.path.as_deref().is_some_and(guarded_keys::is_settings_folder) {
        acts.push(PathAction { deed: PathVerb::Write, target: Target { tail: TargetTail::Everything, ..target } });
    }
}

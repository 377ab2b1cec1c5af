//! Taut's own secrets: the key with which this machine signs what its people answer, and the password of the server it
//! shares. Whoever reads the key can answer for a person on every machine that trusts this one.

use crate::line_context::LineContext;
use crate::target::{Target, TargetTail, stands_for};

/// The folder they are in below a home, and what they are called there.
const BELOW_HOME: &[(&str, &str)] = &[(".local/state/taut", KEY), (".config/taut", PASSWORD)];

const KEY: &str = "machine.key";
const PASSWORD: &str = "shared.pass";

/// Whether reading a target reads one of them: by its name, by a pattern, or with the whole folder.
pub(crate) fn read(ground: &LineContext<'_>, target: &Target, below_home: Option<&str>) -> bool {
    let tail = &target.tail;
    let at_home = |below: &str| BELOW_HOME.iter().any(|(folder, file)| takes((below, tail), folder, file));
    below_home.is_some_and(at_home) || moved(ground, target) || in_variable(target)
}

/// Where variables name other folders: the state folder comes first, then the file of the configuration.
fn moved(ground: &LineContext<'_>, target: &Target) -> bool {
    let Some(path) = target.path.as_deref() else { return false };
    let mut own = ground.taut.iter().map(|own| own.trim_end_matches('/'));
    let (state, config) = (own.next(), own.next().and_then(|file| file.rsplit_once('/')));
    let held = state.map(|folder| (folder, KEY)).into_iter().chain(config.map(|(folder, _)| (folder, PASSWORD)));
    held.into_iter().any(|(folder, file)| !folder.is_empty() && takes((path, &target.tail), folder, file))
}

/// `$TAUT_HOME` and what is right below it, whatever the run puts there.
fn in_variable(target: &Target) -> bool {
    let Some(head @ ("$TAUT_HOME" | "${TAUT_HOME}")) = target.unknown_head.as_deref() else { return false };
    let Some(rest) = target.shown.strip_prefix(head).filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
        return false;
    };
    let rest = rest.trim_matches('/');
    rest.is_empty() || stands_for(rest, KEY)
}

fn takes((path, tail): (&str, &TargetTail), folder: &str, file: &str) -> bool {
    let Some(below) = path.strip_prefix(folder) else { return false };
    match tail {
        TargetTail::None => below.is_empty() || below.strip_prefix('/') == Some(file),
        TargetTail::Everything => below.is_empty(),
        TargetTail::Some(pattern) => below.is_empty() && stands_for(pattern, file),
        TargetTail::Unknown(_) => false,
    }
}

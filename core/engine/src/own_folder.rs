//! An effort's own folder lies among Taut's files, and is its agent's to write all the same: what was found against that
//! is lifted, and nothing else. Only here is it known what the session works on.

use crate::event_context::EventContext;
use crate::identity;
use crate::memory::path::within;
use model::Findings;
use model::effort::Effort;

/// The findings without those that are about nothing but files in the folder of the effort that this session carries.
pub fn lift(mut findings: Findings, event: &EventContext<'_>) -> Findings {
    let Some(folder) = event.effort().and_then(|effort| own_folder(event, effort)) else { return findings };
    let below =
        |path: &String| within(path, folder) && path.len() > folder.len() && !path.split('/').any(|part| part == "..");
    findings.0.retain(|finding| {
        finding.writes_only.is_empty() || finding.file.is_some() || !finding.writes_only.iter().all(below)
    });
    findings
}

/// One folder of the project's own, and not all that Taut keeps of it.
fn own_folder<'e>(event: &EventContext<'_>, effort: &'e Effort) -> Option<&'e str> {
    let project = format!("{}/projects/{}", event.places.state, identity::project_mark(&effort.project));
    let below = effort.folder.strip_prefix(&project)?.strip_prefix('/')?;
    (!below.is_empty() && !below.split('/').any(|part| matches!(part, "" | "." | "..")))
        .then_some(effort.folder.as_str())
}

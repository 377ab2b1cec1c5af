//! How much counts what was found in a file that the line runs: whose work the file is.

use model::{Finding, Findings, FoundInFile, Ms, RuleKind};

/// Whose work a file is, as seen from a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    /// Committed, unchanged, and older than the session: the user's own.
    User,
    /// Written or changed since the session began, and not committed.
    Session,
    /// It cannot be told, or somebody else's.
    Anybody,
}

impl Author {
    fn of(file: &FoundInFile, began: Option<Ms>) -> Self {
        match began {
            // A script that runs what it is given says nothing of its own.
            Some(began) if file.given_by_line && (file.as_committed || file.changed < began) => Self::Anybody,
            Some(began) if (file.as_committed || is_hook(file)) && file.changed < began => Self::User,
            Some(began) if !file.as_committed && !file.installed && file.changed >= began => Self::Session,
            _ => Self::Anybody,
        }
    }
}

/// Git's hooks are never committed: those that were there before are the user's.
fn is_hook(file: &FoundInFile) -> bool {
    file.path.contains(".git/hooks/")
}

/// The findings as they count in a session that began then; `None` where no session is known.
///
/// What the user has committed is the user's word: only what nobody may do still stops. What this session has written
/// is no second opinion on what it may not say itself: nothing in it opens by being said again, and what only the run
/// would tell is asked about. Everything else counts as if it stood on the line.
pub fn weigh(findings: Findings, began: Option<Ms>) -> Findings {
    Findings(findings.0.into_iter().map(|finding| weighed(finding, began)).collect())
}

fn weighed(mut finding: Finding, began: Option<Ms>) -> Finding {
    let Some(file) = &finding.file else { return finding };
    let author = Author::of(file, began);
    let noted = match finding.kind {
        RuleKind::Floor | RuleKind::Noted | RuleKind::Allowed => return finding,
        _ if file.unknown => author != Author::Session,
        RuleKind::Deny => false,
        RuleKind::Strike | RuleKind::Ask | RuleKind::Warn => author == Author::User,
    };
    if noted {
        finding.kind = RuleKind::Noted;
        finding.intent = None;
    } else if finding.kind == RuleKind::Strike && author == Author::Session {
        finding.kind = RuleKind::Deny;
        finding.intent = None;
        finding.reason.push_str(" The file was written in this session, so saying it again does not let it pass.");
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::verdict::Intent;

    const BEGAN: Option<Ms> = Some(Ms(1_000));

    fn found(kind: RuleKind, changed: i64, as_committed: bool) -> Finding {
        let intent = Intent { what: "remove".into(), target: "src".into() };
        let file = FoundInFile {
            path: "x.sh".into(),
            line: 1,
            changed: Ms(changed),
            as_committed,
            installed: false,
            unknown: false,
            given_by_line: false,
        };
        Finding {
            rule: "rm-project".into(),
            kind,
            reason: String::new(),
            subject: String::new(),
            instead: None,
            intent: (kind == RuleKind::Strike).then_some(intent),
            file: Some(file),
            writes_only: Vec::new(),
        }
    }

    fn kind(finding: Finding, began: Option<Ms>) -> RuleKind {
        weigh(Findings(vec![finding]), began).0[0].kind
    }

    #[test]
    fn g12_of_the_users_own_work_only_floor_and_deny_stop() {
        let own = |kind_| kind(found(kind_, 500, true), BEGAN);
        assert_eq!(own(RuleKind::Strike), RuleKind::Noted);
        assert_eq!(own(RuleKind::Ask), RuleKind::Noted);
        assert_eq!((own(RuleKind::Deny), own(RuleKind::Floor)), (RuleKind::Deny, RuleKind::Floor));
    }

    #[test]
    fn g12_what_the_session_wrote_is_denied_for_good_where_the_line_would_be_struck() {
        let told = weigh(Findings(vec![found(RuleKind::Strike, 1_000, false)]), BEGAN);
        assert_eq!((told.0[0].kind, &told.0[0].intent), (RuleKind::Deny, &None));
        assert!(told.0[0].reason.contains("written in this session"));
        assert_eq!(kind(found(RuleKind::Ask, 2_000, false), BEGAN), RuleKind::Ask);
    }

    #[test]
    fn g12_what_the_line_gave_a_committed_file_counts_as_on_the_line() {
        let mut given = found(RuleKind::Strike, 500, true);
        given.file.as_mut().unwrap().given_by_line = true;
        assert_eq!(kind(given, BEGAN), RuleKind::Strike);
    }

    #[test]
    fn g12_everything_else_counts_as_on_the_line() {
        assert_eq!(kind(found(RuleKind::Strike, 500, false), BEGAN), RuleKind::Strike, "old and not committed");
        assert_eq!(kind(found(RuleKind::Strike, 2_000, true), BEGAN), RuleKind::Strike, "checked out in the session");
        assert_eq!(kind(found(RuleKind::Strike, 2_000, false), None), RuleKind::Strike, "no session is known");
        let mut installed = found(RuleKind::Strike, 2_000, false);
        installed.file.as_mut().unwrap().installed = true;
        assert_eq!(kind(installed, BEGAN), RuleKind::Strike, "a package manager wrote it");
    }

    #[test]
    fn g12_a_hook_that_was_there_before_is_the_users() {
        let hook = |changed| {
            let mut finding = found(RuleKind::Strike, changed, false);
            finding.file.as_mut().unwrap().path = ".git/hooks/pre-commit".into();
            kind(finding, BEGAN)
        };
        assert_eq!((hook(500), hook(2_000)), (RuleKind::Noted, RuleKind::Deny));
    }

    #[test]
    fn g12_what_only_the_run_would_tell_is_asked_about_in_the_sessions_own_files_alone() {
        let unknown = |changed, as_committed| {
            let mut finding = found(RuleKind::Ask, changed, as_committed);
            finding.file.as_mut().unwrap().unknown = true;
            finding
        };
        assert_eq!(kind(unknown(2_000, false), BEGAN), RuleKind::Ask);
        assert_eq!(kind(unknown(500, false), BEGAN), RuleKind::Noted);
        assert_eq!(kind(unknown(500, true), BEGAN), RuleKind::Noted);
        assert_eq!(kind(unknown(2_000, false), None), RuleKind::Noted);
    }
}

//! `publish-release`: publishing releases, images and repositories.

use crate::args::text;
use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::rules::http_delete::mutation_deletes;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "publish-release",
    pack: Pack::Publishing,
    kind: RuleKind::Ask,
    title: "Publishing releases, images and repositories",
    doc: "Asks before a release, a container image or a chart is made public, and before a repository or \
          release on a forge is deleted or changes who may see it, a pull request is merged past its reviews and checks, or a \
          workflow is told to deploy to production.",
    instead: "Make a draft: `gh release create v1.0.0 --draft`.",
    denies: &[
        "gh release create v1.0.0",
        "gh repo delete owner/x --yes",
        "gh release delete v1",
        "docker push org/app:1",
        "podman push app",
        "gh repo edit --visibility public",
        "helm push chart.tgz oci://r",
        "glab release create v1",
        "docker buildx build --push .",
        "gh api -X DELETE repos/o/r",
        "gh repo archive o/r",
        "gh api graphql -f query='mutation { deleteRef(input: {refId: \"x\"}) { clientMutationId } }'",
        "gh run delete 1",
        "skopeo copy a docker://b",
        "gh pr merge 12 --admin --squash",
        "gh workflow run deploy.yml -f env=production",
        "crane delete registry.example.com/app:1",
    ],
    passes: &[
        "gh pr create", "gh release list", "gh release create v1 --draft", "docker build .", "docker pull x",
        "gh repo view", "docker buildx build .", "docker buildx build --push=false .", "gh api repos/o/r",
        "gh api -X DELETE repos/o/r/issues/1/labels/bug", "gh alias delete co", "gh pr merge 1",
        "git push origin main", "gh issue list", "docker login", "gh run list", "gh workflow run ci.yml",
        "gh workflow run deploy.yml -f env=staging", "gh pr merge --auto 1", "crane ls app",
    ],
    watch: RuleTrigger::Programs(&[
        "gh", "glab", "docker", "podman", "nerdctl", "helm", "skopeo", "crane", "oras", "buildah", "regctl",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::with(sight, "RtnHcfpX");
    if call.only_looks() || call.flag("draft") || call.args.short('d') && sight.program() == "gh" {
        return;
    }
    let stopped = match sight.program() {
        "gh" | "glab" => match (call.word(0), call.word(1)) {
            ("release", "create" | "delete" | "upload" | "delete-asset") => true,
            // Past what the branch asks for: reviews and checks.
            ("pr", "merge") => call.flag("admin"),
            ("workflow", "run") => sight.command.args().iter().any(|word| to_production(&text(word))),
            ("run" | "ci" | "mr" | "deploy-key" | "schedule" | "incident" | "runner", "delete") => true,
            ("project", "item-delete" | "field-delete") => true,
            ("repo", "deploy-key" | "autolink") => call.word(2) == "delete",
            ("repo" | "project", "delete" | "archive" | "rename" | "transfer") => true,
            ("repo", "edit") => call.flag("visibility"),
            (
                "secret" | "variable" | "gist" | "label" | "cache" | "ssh-key" | "gpg-key" | "issue" | "codespace",
                "delete",
            ) => true,
            ("api", _) => deletes_by_api(sight),
            _ => false,
        },
        "crane" | "skopeo" | "regctl" | "oras" if call.words.iter().take(2).any(|word| word == "delete") => true,
        "docker" | "podman" | "nerdctl" | "buildah" | "helm" | "crane" | "oras" => {
            call.word(0) == "push"
                || call.begins(&["image", "push"])
                || call.begins(&["compose", "push"])
                || call.begins(&["manifest", "push"])
                || (call.any(|word| word == "build" || word == "bake")
                    && call.args.flags.iter().any(|flag| flag.name == "push" && flag.value.as_deref() != Some("false")))
        }
        "skopeo" => call.word(0) == "copy",
        _ => false,
    };
    if stopped {
        report(sight, "This makes something public, or takes it away from others.", hits);
    }
}

/// `-f env=production`, `--field=environment=prod`.
fn to_production(word: &str) -> bool {
    let Some((name, value)) = word.rsplit_once('=') else { return false };
    let name = name.rsplit(['=', ' ']).next().unwrap_or(name).trim_start_matches("-f").trim_start_matches("-F");
    let place = ["env", "environment", "target", "stage", "deploy_env", "deploy-env", "target_env", "environment_name"];
    place.contains(&name.to_ascii_lowercase().as_str()) && value.to_ascii_lowercase().starts_with("prod")
}

/// A DELETE request or a mutation that deletes. What is put back by the opposite request passes: labels, stars, reviewers.
fn deletes_by_api(sight: &RuleInput<'_>) -> bool {
    const PUT_BACK: &[&str] =
        &["/labels/", "/assignees", "/reactions", "/starred/", "/subscription", "/requested_reviewers", "/lock"];
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    let value = |word: &str| word.rsplit(['=', 'X']).next().is_some_and(|value| value.eq_ignore_ascii_case("delete"));
    let option = |word: &str| word.starts_with("--method") || word.starts_with("-X");
    let glued = words.iter().any(|word| option(word) && value(word));
    let apart = words.iter().zip(words.iter().skip(1)).any(|(name, given)| option(name) && value(given));
    let small = words.iter().any(|word| PUT_BACK.iter().any(|part| word.contains(part)));
    ((glued || apart) && !small) || words.iter().any(|word| mutation_deletes(word))
}

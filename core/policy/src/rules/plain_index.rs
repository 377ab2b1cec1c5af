//! `plain-index`: installing packages from an index that anybody on the way can change.

use crate::args::text;
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::rules::http_delete::is_local;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "plain-index",
    pack: Pack::RemoteCode,
    kind: RuleKind::Ask,
    title: "Installing packages over a connection that is not secured",
    doc: "Asks before packages are installed from an index that is reached by plain `http`: whoever is on the way can put \
          code into them, and installing runs it. An index on this machine or its own network passes.",
    instead: "Use the index by `https`: `pip install --index-url https://pypi.org/simple tool`.",
    denies: &[
        "pip install --index-url http://pypi.example.com/simple --trusted-host pypi.example.com foo",
        "pip3 install -i http://pypi.example.com/simple foo",
        "npm install --registry=http://npm.example.com foo",
    ],
    passes: &[
        "pip install --index-url https://download.pytorch.org/whl/cpu torch",
        "pip install -i http://localhost:3141/root/pypi/ x",
        "pip install --trusted-host pypi.org requests",
        "npm install --registry http://localhost:4873 foo",
        "pip download http://example.com/x.whl",
    ],
    watch: RuleTrigger::Programs(&[
        "pip", "pip3", "uv", "python", "python3", "npm", "pnpm", "yarn", "gem", "poetry", "pipx",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    const OPTIONS: &[&str] = &[
        "--index-url", "--extra-index-url", "-i", "--find-links", "-f", "--registry", "--source", "--default-index",
        "--index",
    ];
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    let plain = |address: &str| address.starts_with("http://") && !is_local(address);
    let installs = words.iter().take(6).any(|word| matches!(word.as_ref(), "install" | "add" | "i" | "sync" | "ci"));
    let pip = !sight.program().starts_with("python") || words.iter().take(4).any(|word| word == "pip");
    let apart = words
        .iter()
        .zip(words.iter().skip(1))
        .any(|(option, address)| OPTIONS.contains(&option.as_ref()) && plain(address));
    let glued = words
        .iter()
        .filter_map(|word| word.split_once('='))
        .any(|(option, address)| OPTIONS.contains(&option) && plain(address));
    if installs && pip && (apart || glued) {
        report(sight, "What is installed comes over a connection that anybody on the way can change.", hits);
    }
}

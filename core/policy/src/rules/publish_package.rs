//! `publish-package`: publishing packages.

use crate::args::text;
use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "publish-package",
    pack: Pack::Publishing,
    kind: RuleKind::Ask,
    title: "Publishing packages",
    doc: "Asks before a package is published to, or taken back from, a public registry: npm, crates.io, \
          PyPI, RubyGems, Maven, NuGet and others. A dry run passes.",
    instead: "See what would be published: `npm publish --dry-run`.",
    denies: &[
        "npm publish", "cargo publish", "twine upload dist/*", "gem push x.gem", "yarn npm publish",
        "pnpm publish --access public", "pnpm -r publish --no-git-checks", "poetry publish --build", "uv publish",
        "npm unpublish x@1.0.0", "cargo yank --version 1.0.0 x", "python setup.py sdist upload",
        "python -m twine upload dist/*", "mvn deploy", "./gradlew publish", "dotnet nuget push x.nupkg",
        "npx semantic-release", "lerna publish", "vsce publish", "npm deprecate x \"old\"", "mix hex.publish",
        "flit publish", "bun publish", "cargo owner --remove bob",
    ],
    passes: &[
        "npm publish --dry-run", "cargo publish --dry-run", "npm pack", "cargo package", "npm run publish-docs",
        "twine check dist/*", "cargo build", "gem build x.gemspec", "poetry build", "npm install publish", "mvn test",
        "echo npm publish", "yarn add x", "cargo owner --list",
    ],
    watch: RuleTrigger::Programs(&[
        "npm", "pnpm", "yarn", "bun", "cargo", "twine", "gem", "poetry", "uv", "flit", "hatch", "pdm", "python",
        "python3", "mvn", "mvnw", "gradle", "gradlew", "dotnet", "nuget", "npx", "bunx", "lerna", "vsce", "ovsx",
        "pod", "mix", "dart", "flutter", "semantic-release", "changeset", "conan", "luarocks", "cabal", "stack",
        "opam", "jsr", "deno", "release-it", "np", "wasm-pack", "maturin", "goreleaser", "sbt", "clojure", "lein",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    // For pnpm `-r` is every package, for the others it names one.
    let call = Call::with(sight, if sight.program() == "pnpm" { "FC" } else { "prw" });
    let words: Vec<_> = sight.command.args().iter().map(text).collect();
    if call.only_looks() || words.iter().any(|word| matches!(word.as_ref(), "-n" | "--snapshot" | "-h")) {
        return;
    }
    let first = call.word(0);
    let stopped = match sight.program() {
        "npm" if matches!(first, "owner" | "author") => matches!(call.word(1), "rm" | "remove" | "add"),
        "npm" => matches!(first, "publish" | "unpublish" | "deprecate" | "dist-tag") && call.word(1) != "ls",
        "pnpm" | "bun" | "lerna" | "vsce" | "ovsx" | "poetry" | "uv" | "flit" | "hatch" | "pdm" | "changeset"
        | "maturin" | "jsr" | "deno" | "wasm-pack" => matches!(first, "publish" | "unpublish"),
        "yarn" => first == "publish" || call.begins(&["npm", "publish"]),
        "cargo" => {
            matches!(first, "publish" | "yank")
                || (first == "owner" && (call.flag("remove") || call.flag("add")))
                || call.begins(&["release"]) && (call.args.short('x') || call.flag("execute"))
        }
        "twine" | "conan" | "luarocks" | "cabal" | "stack" => first == "upload",
        "gem" => matches!(first, "push" | "yank"),
        "python" | "python3" => {
            (call.any(|word| word == "upload") && words.iter().any(|word| word.ends_with("setup.py")))
                || runs_twine(&words)
        }
        "mvn" | "mvnw" => {
            call.any(|word| word == "deploy" || word.starts_with("release:perform") || word.starts_with("deploy:"))
        }
        "gradle" | "gradlew" => call.any(|word| {
            let task = word.rsplit(':').next().unwrap_or(word);
            matches!(task, "publish" | "publishPlugins" | "uploadArchives" | "bintrayUpload")
                || (task.starts_with("publish") && !task.ends_with("Local"))
        }),
        "dotnet" | "nuget" => call.any(|word| word == "push"),
        "npx" | "bunx" => {
            matches!(first, "semantic-release" | "np" | "release-it")
                || (matches!(first, "lerna" | "changeset" | "vsce" | "ovsx" | "@changesets/cli" | "npm" | "jsr")
                    && call.word(1) == "publish")
        }
        "pod" => call.begins(&["trunk", "push"]),
        "mix" => first == "hex.publish",
        "dart" | "flutter" => call.begins(&["pub", "publish"]),
        "opam" => first == "publish",
        "goreleaser" => first == "release",
        "sbt" => call.any(|word| word.starts_with("publish") && word != "publishLocal" || word.ends_with("releaseAll")),
        "lein" | "clojure" => first == "deploy",
        "semantic-release" | "release-it" | "np" => true,
        _ => false,
    };
    if stopped {
        report(sight, "This publishes to everyone and cannot be taken back.", hits);
    }
}

fn runs_twine(words: &[std::borrow::Cow<'_, str>]) -> bool {
    words
        .windows(3)
        .any(|window| matches!(window, [m, twine, upload] if m == "-m" && twine == "twine" && upload == "upload"))
}

//! Manual pages and completions: in every package, all of them, and where `man` and the shells look.

use std::fs;
use std::process::Command;

use release::{TARGETS, VERSION, pack, verify};

use crate::{WRITER, input, packed, pages, pages_of};

#[test]
fn i8_every_package_brings_the_same_pages_and_completions_to_where_they_are_looked_for() {
    let folder = packed();
    let list = |name: &str, tool: &str, flags: &[&str]| {
        let listed = Command::new(tool).args(flags).arg(folder.path().join(name)).output().unwrap();
        assert!(listed.status.success(), "{listed:?}");
        String::from_utf8_lossy(&listed.stdout).into_owned()
    };
    let shared = ["man/man1/taut-init.1", "man/man1/taut.1", "bash-completion/completions/taut"];
    let shared: Vec<_> = shared.into_iter().chain(["fish/vendor_completions.d/taut.fish"]).collect();
    let wheel = format!("taut_cli-{VERSION}-py3-none-{}.whl", TARGETS[0].wheel);
    let listed = list(&wheel, "python3", &["-m", "zipfile", "-l"]);
    for place in shared.iter().chain(&["zsh/site-functions/_taut"]) {
        assert!(listed.contains(&format!("taut_cli-{VERSION}.data/data/share/{place} ")), "{place}: {listed}");
    }
    let listed = list(&format!("taut-cli-{VERSION}.tgz"), "tar", &["-tzf"]);
    for place in
        ["man/taut.1", "man/taut-init.1", "completions/taut.bash", "completions/_taut", "completions/taut.fish"]
    {
        assert!(listed.contains(&format!("package/{place}\n")), "{place}: {listed}");
    }
    let archive = format!("taut-{VERSION}-{}", TARGETS[0].triple);
    let listed = list(&format!("{archive}.tar.gz"), "tar", &["-tzf"]);
    for place in
        ["man/taut.1", "man/taut-init.1", "completions/taut.bash", "completions/_taut", "completions/taut.fish"]
    {
        assert!(listed.contains(&format!("{archive}/{place}\n")), "{place}: {listed}");
    }
    let listed = list(&format!("taut-cli_{VERSION}_amd64.deb"), "dpkg-deb", &["-c"]);
    for place in ["man/man1/taut-init.1.gz", "man/man1/taut.1.gz", "zsh/vendor-completions/_taut"] {
        assert!(listed.contains(&format!(" usr/share/{place}\n")), "{place}: {listed}");
    }
    for place in &shared[2..] {
        assert!(listed.contains(&format!(" usr/share/{place}\n")), "{place}: {listed}");
    }
    let formula = fs::read_to_string(folder.path().join("taut-cli.rb")).unwrap();
    for line in
        ["man1.install Dir[\"man/*.1\"]", "bash_completion.install", "zsh_completion.install", "fish_completion"]
    {
        assert!(formula.contains(line), "{line}: {formula}");
    }
}

#[test]
fn i8_a_package_without_the_pages_of_the_others_is_seen_whatever_the_checksums_say() {
    let (folder, other) = (packed(), tempfile::tempdir().unwrap());
    let mut changed = input("https://example.invalid/o/r/releases/download/v1");
    changed.pages = pages_of(&WRITER.replace(" taut-init", "")).unwrap();
    pack(&changed, other.path()).unwrap();
    for name in [format!("taut-cli_{VERSION}_amd64.deb"), format!("taut-cli-{VERSION}.tgz")] {
        fs::copy(other.path().join(&name), folder.path().join(&name)).unwrap();
        let wrong = verify(folder.path()).unwrap().join("\n");
        assert!(wrong.contains(&format!("{name} has not the manual pages and completions of the other")), "{wrong}");
    }
}

#[test]
fn i8_a_program_that_does_not_write_its_pages_is_not_packed() {
    for (script, why) in [
        ("#!/bin/sh\nexit 1\n".to_owned(), "`completions` does not write the script of every shell"),
        (WRITER.replace("completions) echo", "completions) :"), "`completions` does not write"),
        (WRITER.replace("man) mkdir", "man) false && mkdir"), "`man --out` does not write its manual pages"),
        (WRITER.replace("in taut taut-init", "in other"), "`man --out` writes no page taut.1"),
    ] {
        let refused = pages_of(&script).unwrap_err().to_string();
        assert!(refused.contains(why), "{why}: {refused}");
    }
    assert_eq!(pages(), pages(), "the same program writes the same");
}

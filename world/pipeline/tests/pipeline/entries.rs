//! What a task runner would run is read before it runs: real files in a real project.

use crate::home::{PipelineHome, decision};

/// The files of a project in which every runner has an entry `nuke`, and everyday ones besides.
const FILES: &[(&str, &str)] = &[
    (
        "package.json",
        "{\n  \"name\": \"acme\",\n  \"scripts\": {\n    \"nuke\": \"rm -rf ~\",\n    \"clean\": \"rm -rf dist coverage\",\n    \
         \"test\": \"jest --coverage\",\n    \"lint\": \"eslint . && npm run test\",\n    \"prebuild\": \"npm run clean\",\n    \
         \"build\": \"tsc -p . && rimraf 'dist/**/*.map'\",\n    \"prepare\": \"husky install\",\n    \
         \"deep\": \"npm-run-all lint nuke\"\n  }\n}\n",
    ),
    (
        "Makefile",
        "BUILD_DIR ?= build\nOBJS = $(SRCS:.c=.o)\nPREFIX ?= /usr/local\n\n.PHONY: all clean install nuke\nall: $(OBJS)\n\t$(CC) -o app $^\n\n\
         clean:\n\t$(RM) $(OBJS) *.o\n\trm -rf $(BUILD_DIR) $(OUT)\n\tfind . -name '*.pyc' -delete\n\ninstall: all\n\t\
         install -d $(DESTDIR)$(PREFIX)/bin\n\tinstall app $(DESTDIR)$(PREFIX)/bin/app\n\nuninstall:\n\trm -rf $(PREFIX)/lib/app\n\n\
         nuke: gone\ngone:\n\t@rm -rf $(HOME)\n\nempty:\n\trm -rf $(BUILD_DIR)/*\n",
    ),
    (
        "justfile",
        "target := '~'\n\nfmt:\n  cargo fmt --all\n\nclean:\n  rm -rf target\n\nnuke: fmt\n  rm -rf {{target}}\n",
    ),
    (
        "Taskfile.yml",
        "version: '3'\ntasks:\n  build:\n    deps: [clean]\n    cmds:\n      - go build ./...\n  clean:\n    cmds:\n      - rm -rf dist\n  \
         nuke:\n    cmds:\n      - task: clean\n      - rm -rf ~\n",
    ),
    (".cargo/config.toml", "[alias]\nxtask = \"run --package xtask --\"\nnuke = \"publish --token x\"\n"),
    (
        "pyproject.toml",
        "[tool.poe.tasks]\ntest = \"pytest\"\nclean = \"rm -rf build\"\nnuke = { shell = \"rm -rf ~\" }\n",
    ),
    ("composer.json", "{\n\"scripts\": {\n\"test\": \"phpunit\",\n\"nuke\": [\"@test\", \"rm -rf ~\"]\n}}\n"),
    (
        "compose.yml",
        "services:\n  web:\n    image: ruby\n    volumes:\n      - .:/app\n    command: bash -c \"rm -f tmp/pids/server.pid && rails s\"\n",
    ),
    ("bad/compose.yml", "services:\n  job:\n    image: alpine\n    volumes: ['/:/host']\n    command: rm -rf /host\n"),
    (".git/config", "[core]\n\tbare = false\n[alias]\n\tst = status -s\n\tnuke = !rm -rf ~\n"),
];

fn project() -> PipelineHome {
    let stage = PipelineHome::new();
    FILES.iter().for_each(|(name, text)| stage.write(&format!("acme/{name}"), text));
    stage
}

#[test]
fn g12_what_an_entry_would_destroy_is_denied_and_the_reason_names_its_file_and_line() {
    let mut stage = project();
    let client = stage.client("one");
    for (line, place) in [
        ("npm run nuke", "package.json:4"),
        ("npm run deep", "package.json:4"),
        ("cd src && npm run nuke", "package.json:4"),
        ("yarn nuke", "package.json:4"),
        ("pnpm nuke", "package.json:4"),
        ("bun run nuke", "package.json:4"),
        ("make nuke", "Makefile:23"),
        ("make BUILD_DIR=~ clean", "Makefile:11"),
        ("make clean BUILD_DIR=/", "Makefile:11"),
        ("make empty BUILD_DIR=", "Makefile:26"),
        ("make uninstall", "Makefile:19"),
        ("just nuke", "justfile:10"),
        ("task nuke", "Taskfile.yml:13"),
        ("poe nuke", "pyproject.toml:4"),
        ("composer nuke", "composer.json:4"),
        ("git nuke", ".git/config:5"),
        ("docker compose -f bad/compose.yml up", "bad/compose.yml:5"),
    ] {
        let served = stage.bash(&client, line, line);
        assert_eq!(decision(&served).as_deref(), Some("deny"), "{line}");
        assert!(served.answer.stdout.contains(place), "{line}: {}", served.answer.stdout);
    }
    assert_eq!(decision(&stage.bash(&client, "cargo nuke", "cargo nuke")).as_deref(), Some("ask"));
}

#[test]
fn g12_everyday_entries_pass() {
    let mut stage = project();
    let client = stage.client("one");
    for line in [
        "npm run clean", "npm test", "npm run build", "npm ci", "npm install", "yarn", "yarn lint", "pnpm build",
        "bun run test", "npm run", "make", "make clean", "make -j8 all", "make install DESTDIR=/tmp/stage",
        "make -n nuke", "make empty", "just fmt", "just clean", "just --list", "task build", "task clean", "poe test",
        "poe clean", "composer test", "cargo xtask check", "cargo build", "git st", "git status",
        "docker compose up -d", "npm run none", "make none", "just none", "task none", "cd .. && npm run nuke",
        "cd .. && make nuke",
    ] {
        let served = stage.bash(&client, line, line);
        assert_eq!(decision(&served), None, "{line}: {}", served.answer.stdout);
    }
}

#[test]
fn g12_runners_without_their_files_are_left_alone() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    for line in [
        "npm run nuke", "make nuke", "just nuke", "task nuke", "poe nuke", "composer nuke", "git nuke",
        "docker compose up",
    ] {
        assert_eq!(decision(&stage.bash(&client, line, line)), None, "{line}");
    }
}

#[test]
fn g12_files_that_cannot_be_read_or_are_of_another_shape_change_nothing() {
    let mut stage = PipelineHome::new();
    let client = stage.client("one");
    let deep = "[".repeat(20_000);
    for text in ["", "{", "\u{0}", "{\"scripts\": null}", "nuke\n:::\n\t\n", deep.as_str()] {
        for name in
            ["package.json", "Makefile", "justfile", "Taskfile.yml", "pyproject.toml", "composer.json", "compose.yml"]
        {
            stage.write(&format!("acme/{name}"), text);
        }
        for line in
            ["npm run nuke", "make nuke", "just nuke", "task nuke", "poe nuke", "composer nuke", "docker compose up"]
        {
            let served = stage.bash(&client, &format!("{line}{}", text.len()), line);
            assert_eq!(decision(&served), None, "{line} with {:?}", text.get(..20));
        }
    }
}

//! The rooms and the doors between them: which crate may depend on which, ours and others'.

use std::collections::BTreeSet;

use crate::deps::{Manifest, manifests};
use crate::lock::Lock;
use crate::source::{Keep, line_of, production, words};
use crate::{SourceFile, Violation};

/// A crate, where it stands, and which of our crates it may depend on.
struct Room {
    folder: &'static str,
    name: &'static str,
    may_use: &'static [&'static str],
}

const CORE: &[&str] = &["model", "bash", "agents", "policy", "grammar", "engine"];

/// "May depend on" of docs/architecture.md.
const ROOMS: &[Room] = &[
    Room { folder: "core/model", name: "model", may_use: &[] },
    Room { folder: "core/bash", name: "bash", may_use: &[] },
    Room { folder: "core/agents", name: "agents", may_use: &["model"] },
    Room { folder: "core/policy", name: "policy", may_use: &["model", "bash"] },
    Room { folder: "core/grammar", name: "grammar", may_use: &["model", "bash"] },
    Room { folder: "core/engine", name: "engine", may_use: &["model", "policy", "grammar"] },
    Room { folder: "world/fast_client", name: "fast_client", may_use: &["model", "agents"] },
    Room { folder: "world/sys", name: "sys", may_use: &[] },
    Room { folder: "world/store", name: "store", may_use: &["model", "sys"] },
    Room { folder: "world/shared_store", name: "shared_store", may_use: &["model", "sys", "store"] },
    Room { folder: "world/shared_store/whoami", name: "whoami", may_use: &[] },
    Room { folder: "world/host", name: "host", may_use: &["model", "agents", "sys"] },
    Room {
        folder: "world/pipeline",
        name: "pipeline",
        may_use: &["model", "bash", "agents", "policy", "grammar", "engine", "sys", "store", "host"],
    },
    Room { folder: "world/daemon", name: "daemon", may_use: &["model", "agents", "fast_client", "sys", "pipeline"] },
    Room {
        folder: "world/service",
        name: "service",
        may_use: &[
            "model", "bash", "agents", "policy", "grammar", "engine", "sys", "store", "shared_store", "host",
            "pipeline", "daemon", "actions",
        ],
    },
    Room {
        folder: "world/runner",
        name: "runner",
        may_use: &[
            "model", "bash", "agents", "policy", "grammar", "engine", "sys", "store", "host", "pipeline", "daemon",
        ],
    },
    Room {
        folder: "world/actions",
        name: "actions",
        may_use: &["model", "bash", "agents", "policy", "grammar", "engine", "sys", "store", "host", "pipeline"],
    },
    Room { folder: "world/dash", name: "dash", may_use: &["model", "engine", "sys", "store", "daemon", "actions"] },
    Room { folder: "world/mcp", name: "mcp", may_use: &["model", "host"] },
    Room { folder: "world/cli", name: "taut", may_use: WORLD },
    Room { folder: "dev/testkit", name: "testkit", may_use: WORLD },
    Room { folder: "dev/gates", name: "gates", may_use: &[] },
    Room { folder: "dev/bench", name: "bench", may_use: CHECKED },
    Room { folder: "dev/release", name: "release", may_use: &["agents"] },
];

const WORLD: &[&str] = &[
    "model", "bash", "agents", "policy", "grammar", "engine", "fast_client", "sys", "store", "shared_store", "host",
    "pipeline", "daemon", "service", "runner", "actions", "dash", "mcp",
];

/// What checks everything may use everything.
const CHECKED: &[&str] = &[
    "model", "bash", "agents", "policy", "grammar", "engine", "fast_client", "sys", "store", "shared_store", "host",
    "pipeline", "daemon", "service", "runner", "actions", "dash", "mcp", "taut", "testkit",
];

/// A room of this name becomes the drawer for everything.
const DRAWERS: &[&str] = &["common", "core", "helpers", "shared", "types", "util", "utils"];

/// The core's dependencies are listed, because a crate that opens files would tear the fence down unseen.
const CORE_EXTERNALS: &[&str] = &["serde", "serde_json", "shuck-ast", "shuck-parser", "strsim", "toml"];

/// One room of the core reads words that it is given as the process reads its arguments.
const CORE_EXTERNAL_OF: &[(&str, &str)] = &[("grammar", "clap")];

const ASYNC_ROOMS: &[&str] = &["daemon", "dash", "mcp", "shared_store"];
const ASYNC: &[&str] = &["tokio", "async-std", "smol", "futures", "futures-executor", "axum", "hyper", "reqwest"];

/// What speaks with a server on the network. A room on a hook's path that had one of these could come to wait for it.
const SERVER_ROOMS: &[&str] = &["shared_store"];
const SERVER: &[&str] =
    &["tokio-postgres", "postgres", "postgres-protocol", "rustls", "tokio-rustls", "sqlx", "diesel"];

/// On the way of an event: compiling a regex costs more than the whole hook.
const HOOK_PATH: &[&str] = &[
    "model", "bash", "agents", "policy", "grammar", "engine", "fast_client", "sys", "store", "host", "pipeline",
    "daemon", "service", "actions", "taut",
];
const REGEX: &[&str] = &["regex", "regex-lite", "fancy-regex", "onig", "pcre2"];

pub(crate) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let lock = files.iter().find(|file| file.path == "Cargo.lock").map(|file| Lock::parse(&file.text));
    let lock = lock.unwrap_or_default();
    let crates = manifests(files);
    let (fuzzers, crates): (Vec<_>, Vec<_>) =
        crates.into_iter().partition(|manifest| room_fuzzed_by(manifest).is_some());
    let mut found: Vec<_> = crates.iter().flat_map(|manifest| of_crate(manifest, &lock)).collect();
    found.extend(fuzzers.iter().flat_map(of_fuzzer));
    found.extend(files.iter().filter(|file| must_be_sync(file)).flat_map(awaits));
    found
}

fn of_crate(manifest: &Manifest<'_>, lock: &Lock) -> Vec<Violation> {
    let name = manifest.name.as_str();
    let mut found = Vec::new();
    let mut say = |what: String| found.push(manifest.file.breaks(0, what));
    if DRAWERS.contains(&name) {
        say(format!("a crate named {name} becomes the drawer for everything: name what it does"));
    }
    if !manifest.takes_workspace_lints {
        say("does not take the workspace's lints: add `lints.workspace = true`".to_owned());
    }
    let folder = manifest.file.path.trim_end_matches("/Cargo.toml");
    let Some(room) = ROOMS.iter().find(|room| room.name == name && room.folder == folder) else {
        say(format!("{name} at {folder} is no room of the house: add it to docs/architecture.md and to this gate"));
        return found;
    };
    for need in manifest.needs.iter().filter(|need| is_ours(need) && !room.may_use.contains(&need.as_str())) {
        say(format!("{name} may not depend on {need}"));
    }
    let in_core = CORE.contains(&name);
    for need in manifest.tests_need.iter().filter(|need| in_core && is_ours(need)) {
        if !CORE.contains(&need.as_str()) && need != "testkit" {
            say(format!("tests of {name} may not depend on {need}"));
        }
    }
    for need in manifest.needs.iter().filter(|need| in_core && !is_ours(need)) {
        if !CORE_EXTERNALS.contains(&need.as_str()) && !CORE_EXTERNAL_OF.contains(&(name, need)) {
            say(format!("{name} is core and may not depend on {need}"));
        }
    }
    let brought = brought_by(manifest, lock);
    for banned in ASYNC.iter().filter(|banned| !ASYNC_ROOMS.contains(&name) && brought.contains(**banned)) {
        say(format!("{name} brings in {banned}: async lives only in {}", ASYNC_ROOMS.join(" and ")));
    }
    for banned in SERVER.iter().filter(|banned| !SERVER_ROOMS.contains(&name) && brought.contains(**banned)) {
        say(format!("{name} brings in {banned}: only {} speaks with a server", SERVER_ROOMS.join(" and ")));
    }
    for banned in REGEX.iter().filter(|banned| HOOK_PATH.contains(&name) && brought.contains(**banned)) {
        say(format!("{name} is on the way of every event and brings in {banned}"));
    }
    found
}

/// The room whose `fuzz` folder holds this crate. It is a workspace of its own, so that nobody else builds the fuzzer.
fn room_fuzzed_by(manifest: &Manifest<'_>) -> Option<&'static Room> {
    let folder = manifest.file.path.strip_suffix("/fuzz/Cargo.toml")?;
    ROOMS.iter().find(|room| room.folder == folder)
}

fn of_fuzzer(manifest: &Manifest<'_>) -> Vec<Violation> {
    let Some(room) = room_fuzzed_by(manifest) else { return Vec::new() };
    let strangers = manifest.needs.iter().filter(|need| is_ours(need) && *need != room.name);
    strangers
        .map(|need| manifest.file.breaks(0, format!("the fuzzer of {} may not depend on {need}", room.name)))
        .collect()
}

/// Every external package the crate's production code is built with.
fn brought_by(manifest: &Manifest<'_>, lock: &Lock) -> BTreeSet<String> {
    manifest.needs.iter().filter(|need| !is_ours(need)).flat_map(|need| lock.closure(need)).collect()
}

fn is_ours(package: &str) -> bool {
    ROOMS.iter().any(|room| room.name == package)
}

fn must_be_sync(file: &SourceFile) -> bool {
    let room = ROOMS.iter().find(|room| file.path.starts_with(&format!("{}/src/", room.folder)));
    room.is_some_and(|room| HOOK_PATH.contains(&room.name) && !ASYNC_ROOMS.contains(&room.name))
        && file.is_rust()
        && !file.is_test()
}

fn awaits(file: &SourceFile) -> Vec<Violation> {
    let code = production(&file.text, Keep::Code);
    let found = words(&code).filter(|(_, word)| matches!(*word, "async" | "await"));
    found.map(|(at, word)| file.breaks(line_of(&code, at), format!("{word} on the way of an event"))).collect()
}

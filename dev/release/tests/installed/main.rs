//! Every package, installed for real from local files into a throw-away home: the program says its version, `taut init`
//! proves itself, and the line that it wrote denies. `TAUT_PACKAGES` is a folder that `release pack` has filled.

mod installation;
mod loopback;
mod shared;

use std::fs;
use std::path::{Path, PathBuf};

use installation::{Installation, packages};
use loopback::Loopback;
use release::{PACKAGE, PackageTarget, VERSION, verify};
use shared::Completions;
use testkit::{ClientLaunch, RealClient, Script, Turn};

fn named(end: &str) -> PathBuf {
    let found = fs::read_dir(packages()).unwrap().map(|entry| entry.unwrap().path());
    let mut fitting: Vec<_> = found.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    assert_eq!(fitting.len(), 1, "{end}: {fitting:?}");
    fitting.remove(0)
}

/// The wheel of this machine.
fn wheel() -> PathBuf {
    named(&format!("{}.whl", PackageTarget::host().unwrap().wheel))
}

#[test]
fn i6_the_packages_are_whole() {
    assert_eq!(verify(&packages()).unwrap(), [""; 0]);
}

#[test]
fn i6_npm_installs_the_program_of_this_machine_and_init_names_it_and_not_a_script() {
    let registry = Loopback::start(packages());
    let there = Installation::new("npm");
    let cache = there.root().join("cache");
    there.run(
        "npm",
        &[
            "install",
            "-g",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--prefix",
            text(&there.prefix()),
            "--cache",
            text(&cache),
            "--registry",
            &registry.url(),
            &format!("{PACKAGE}@{VERSION}"),
        ],
    );
    let program = there.prefix().join("bin/taut");
    there.proves_itself(&program);
    there.is_documented(&program, Completions::Nowhere);
}

#[test]
fn i6_pip_installs_the_wheel_and_both_of_its_names_run() {
    let there = Installation::new("pip");
    there.run(
        "pip3",
        &[
            "install",
            "--quiet",
            "--no-index",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
            "--target",
            text(&there.prefix()),
            text(&wheel()),
        ],
    );
    let second = there.run(text(&there.prefix().join("bin").join(PACKAGE)), &["version"]);
    assert_eq!(second, format!("taut {VERSION}\n"));
    let program = there.prefix().join("bin/taut");
    there.proves_itself(&program);
    there.is_documented(&program, Completions::InPlace("zsh/site-functions"));
}

#[test]
fn i6_dpkg_takes_the_debian_package() {
    let there = Installation::new("deb");
    let package = named(&format!("_{}.deb", PackageTarget::host().unwrap().debian.unwrap()));
    let fields = there.run("dpkg-deb", &["--field", text(&package)]);
    assert!(fields.contains(&format!("Package: {PACKAGE}\nVersion: {VERSION}\n")), "{fields}");
    // The whole installation where this user may, with a database of its own; else only the files.
    let database = there.prefix().join("var/lib/dpkg");
    for folder in ["info", "updates"] {
        fs::create_dir_all(database.join(folder)).unwrap();
    }
    fs::write(database.join("status"), "").unwrap();
    let root = format!("--root={}", there.prefix().display());
    if testkit::is_not_root() {
        there.run("dpkg-deb", &["-x", text(&package), text(&there.prefix())]);
    } else {
        there.run("dpkg", &[&root, "--force-not-root", "--force-bad-path", "--install", text(&package)]);
        assert!(there.run("dpkg", &[&root, "--listfiles", PACKAGE]).contains("/usr/bin/taut"));
    }
    let program = there.prefix().join("usr/bin/taut");
    there.proves_itself(&program);
    there.is_documented(&program, Completions::InPlace("zsh/vendor-completions"));
}

#[test]
fn i6_the_shell_installer_gets_the_archive_over_http() {
    let server = Loopback::start(packages());
    let there = Installation::new("script").with("TAUT_RELEASE_URL", &server.url());
    let said = there.run("sh", &[text(&packages().join("install.sh"))]);
    assert!(said.contains(&format!("taut {VERSION} is in ")), "{said}");
    let program = there.home().join(".local/bin/taut");
    there.proves_itself(&program);
    there.is_documented(&program, Completions::InPlace("zsh/site-functions"));
}

#[test]
fn i4_the_client_takes_the_plugin_and_is_guarded_by_it() {
    let client = RealClient::installed().unwrap();
    let claude = text(client.program());
    let there = Installation::new("plugin").with("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let config = there.sandbox.claude_dir();
    let there = there.with("CLAUDE_CONFIG_DIR", text(&config));
    there.run("tar", &["-xzf", text(&named(&format!("taut-marketplace-{VERSION}.tar.gz"))), "-C", text(there.root())]);
    let market = there.root().join(format!("taut-marketplace-{VERSION}"));
    for folder in [&market, &market.join("plugins/taut")] {
        there.run(claude, &["plugin", "validate", "--strict", text(folder)]);
    }
    there.run(claude, &["plugin", "marketplace", "add", text(&market)]);
    there.run(claude, &["plugin", "install", "taut@taut"]);

    let script = Script::new().main(Turn::bash("rm -rf ~")).main(Turn::say("done"));
    let run = ClientLaunch::new(&there.sandbox, script).run(&client).unwrap();
    let program = config.join("plugins/data/taut-taut/taut");
    let events = there.run(text(&program), &["events", "--json", "-n", "100"]);
    let denied = |line: &str| line.contains("\"PreToolUse\"") && line.contains("\"deny\"");
    assert!(events.lines().any(denied), "{events}\n{}", run.requests.all_text_sent());
    for event in ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"] {
        let stored = events.lines().filter(|line| line.contains(&format!("\"event\":\"{event}\""))).count();
        assert_eq!(stored, 1, "{event}: {events}");
    }
    assert!(there.home().is_dir());
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

//! How this program was installed, as the place it lies in shows, and the commands that upgrade and remove it.

use super::program::copy_in;
use std::path::Path;
use sys::outside::{self, Rules};

/// Larger than any list that is looked into.
const LARGEST: u64 = 1 << 20;
const PACKAGE: &str = "taut-cli";
/// What is left to do after `taut uninstall`.
const IN_CACHE: &str = "nothing else: the program lies in a cache";

/// A way to install programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallChannel {
    /// One word for programs that ask: `cargo`, `npm`.
    pub id: &'static str,
    /// As people say it after "installed by".
    pub name: String,
    /// The command that brings it up to date, or in words where there is none.
    pub upgrade: String,
    pub remove: String,
}

impl InstallChannel {
    pub fn of(exe: &Path, state: &Path) -> Self {
        let exe = std::fs::canonicalize(exe).unwrap_or_else(|_| exe.to_path_buf());
        let exe = exe.as_path();
        if std::fs::canonicalize(copy_in(state)).is_ok_and(|copy| copy == exe) {
            return kept_copy(exe);
        }
        node(exe).or_else(|| python(exe)).or_else(|| cargo(exe)).or_else(|| system(exe)).unwrap_or_else(|| by_hand(exe))
    }
}

fn channel(id: &'static str, name: impl Into<String>, upgrade: String, remove: String) -> InstallChannel {
    InstallChannel { id, name: name.into(), upgrade, remove }
}

fn kept_copy(exe: &Path) -> InstallChannel {
    let upgrade = "upgrade Taut the way you installed it, then `taut init` renews the copy".to_owned();
    channel("copy", "`taut init`, which keeps it as a copy", upgrade, format!("rm {}", exe.display()))
}

fn node(exe: &Path) -> Option<InstallChannel> {
    let text = exe.to_str()?;
    let once = |id, runner: &str| {
        let again = format!("{runner} {PACKAGE}@latest init");
        Some(channel(id, format!("`{runner}`, run once"), again, IN_CACHE.to_owned()))
    };
    let global = |id, install: &str, remove: &str| {
        let upgrade = format!("{install} {PACKAGE}@latest && taut init");
        Some(channel(id, format!("`{install}`"), upgrade, format!("{remove} {PACKAGE}")))
    };
    match text {
        _ if !text.contains("/node_modules/") => None,
        _ if text.contains("/_npx/") => once("npx", "npx"),
        _ if text.contains("/pnpm/dlx") => once("npx", "pnpm dlx"),
        _ if text.contains("bunx-") => once("npx", "bunx"),
        _ if text.contains("/.bun/") => global("npm", "bun add -g", "bun remove -g"),
        _ if text.contains("/pnpm/") => global("npm", "pnpm add -g", "pnpm remove -g"),
        _ if text.contains("/lib/node_modules/") => global("npm", "npm install -g", "npm uninstall -g"),
        _ => global("npm", "npm install", "npm uninstall"),
    }
}

fn python(exe: &Path) -> Option<InstallChannel> {
    let folder = exe.ancestors().nth(2)?;
    let has = |name: &str| folder.join(name).is_file();
    let text = exe.to_str()?;
    if text.contains("/uv/archive-v") {
        let again = format!("uvx {PACKAGE}@latest init");
        return Some(channel("uvx", "`uvx`, run once", again, IN_CACHE.to_owned()));
    }
    if has("uv-receipt.toml") {
        let upgrade = format!("uv tool upgrade {PACKAGE}");
        return Some(channel("uv", "`uv tool install`", upgrade, format!("uv tool uninstall {PACKAGE}")));
    }
    if has("pipx_metadata.json") {
        return Some(channel(
            "pipx",
            "`pipx install`",
            format!("pipx upgrade {PACKAGE}"),
            format!("pipx uninstall {PACKAGE}"),
        ));
    }
    let pip = folder.join("bin/pip");
    let pip = pip.display();
    has("pyvenv.cfg").then(|| {
        let upgrade = format!("{pip} install --upgrade {PACKAGE} && taut init");
        channel("pip", "`pip install` in an environment", upgrade, format!("{pip} uninstall {PACKAGE}"))
    })
}

/// Cargo keeps a list beside its `bin`: where each program came from.
fn cargo(exe: &Path) -> Option<InstallChannel> {
    let text = exe.to_str()?;
    if text.contains("/target/debug/") || text.contains("/target/release/") {
        let upgrade = "git pull && cargo install --path world/cli".to_owned();
        return Some(channel("build", "`cargo build`, in its folder", upgrade, "cargo clean".to_owned()));
    }
    let root = exe.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
    let list = outside::read_text(&root.join(".crates.toml"), &Rules::up_to(LARGEST)).ok()?;
    let (package, source) = list.lines().filter(|line| line.contains("\"taut\"")).find_map(installed)?;
    let upgrade = match source.split_once('+') {
        Some(("path", place)) => {
            let place = place.trim_start_matches("file://");
            format!("git -C {place} pull && cargo install --path {place}")
        }
        Some(("git", place)) => {
            format!("cargo install --git {} {package}", place.split(['?', '#']).next().unwrap_or(place))
        }
        _ => format!("cargo install {package}"),
    };
    let elsewhere = !root.ends_with(".cargo");
    let root = if elsewhere { format!(" --root {}", root.display()) } else { String::new() };
    Some(channel("cargo", "`cargo install`", format!("{upgrade}{root}"), format!("cargo uninstall {package}{root}")))
}

/// `"taut 0.1.0 (path+file:///src/world/cli)" = ["taut"]`.
fn installed(line: &str) -> Option<(&str, &str)> {
    let (entry, _) = line.trim().strip_prefix('"')?.split_once("\" =")?;
    let (package, rest) = entry.split_once(' ')?;
    let (_, source) = rest.split_once('(')?;
    Some((package, source.trim_end_matches(')')))
}

fn system(exe: &Path) -> Option<InstallChannel> {
    let text = exe.to_str()?;
    if let Some((_, below)) = text.split_once("/Cellar/") {
        let formula = below.split('/').next().unwrap_or("taut");
        return Some(channel(
            "brew",
            "Homebrew",
            format!("brew upgrade {formula}"),
            format!("brew uninstall {formula}"),
        ));
    }
    if text.starts_with("/nix/store/") {
        return Some(channel("nix", "Nix", "nix profile upgrade taut".into(), "nix profile remove taut".into()));
    }
    if text.contains("/plugins/cache/") || text.contains("/plugins/data/") {
        let (upgrade, remove) = ("update the plugin in your agent", "remove the plugin in your agent");
        return Some(channel("plugin", "a plugin of your agent", upgrade.into(), remove.into()));
    }
    let holds = |package: &&str| {
        let list = format!("/var/lib/dpkg/info/{package}.list");
        let list = outside::read_text(Path::new(&list), &Rules::up_to(LARGEST)).unwrap_or_default();
        list.lines().any(|line| line == text)
    };
    let package = [PACKAGE, "taut"].into_iter().find(holds)?;
    let upgrade = format!("sudo dpkg -i {package}_<version>_<architecture>.deb");
    Some(channel("deb", "a Debian package", upgrade, format!("sudo apt remove {package}")))
}

/// The installer of a release puts it into the user's own folder, and so do people.
fn by_hand(exe: &Path) -> InstallChannel {
    let remove = format!("rm {}{}", exe.display(), pages_beside(exe));
    if exe.parent().is_some_and(|folder| folder.ends_with(".local/bin")) {
        let upgrade = "run the `install.sh` of the newest release again".to_owned();
        return channel("script", "the installer of a release, or by hand", upgrade, remove);
    }
    let upgrade = format!("put the newest release in the place of {}", exe.display());
    channel("file", "hand: a file that was put there", upgrade, remove)
}

/// The manual pages and completions that the installer puts beside a folder of programs, where they are.
fn pages_beside(exe: &Path) -> String {
    let share = exe.parent().filter(|folder| folder.ends_with("bin")).map(|folder| folder.with_file_name("share"));
    let Some(share) = share.filter(|share| share.join("man/man1/taut.1").is_file()) else { return String::new() };
    let places = [
        "man/man1/taut.1", "man/man1/taut-*.1", "bash-completion/completions/taut", "zsh/site-functions/_taut",
        "fish/vendor_completions.d/taut.fish",
    ];
    places.map(|place| format!(" {}", share.join(place).display())).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &Path) -> InstallChannel {
        InstallChannel::of(path, Path::new("/nowhere/state"))
    }

    #[test]
    fn i1_how_it_was_installed_is_seen_by_its_place() {
        for (path, id, upgrade) in [
            ("/h/.npm/_npx/1/node_modules/@taut/linux-x64/bin/taut", "npx", "npx taut-cli@latest init"),
            ("/usr/lib/node_modules/taut-cli/node_modules/@taut/x/bin/taut", "npm", "npm install -g taut-cli@latest"),
            ("/h/.bun/install/global/node_modules/@taut/x/bin/taut", "npm", "bun add -g taut-cli@latest"),
            ("/h/.cache/uv/archive-v0/x/bin/taut", "uvx", "uvx taut-cli@latest init"),
            ("/opt/homebrew/Cellar/taut/0.1.0/bin/taut", "brew", "brew upgrade taut"),
            ("/h/.local/bin/taut", "script", "install.sh"),
            ("/opt/taut", "file", "newest release"),
            ("/w/target/release/taut", "build", "cargo install"),
        ] {
            let found = of(Path::new(path));
            assert_eq!(found.id, id, "{path}");
            assert!(found.upgrade.contains(upgrade), "{path}: {}", found.upgrade);
        }
    }

    #[test]
    fn i1_lists_and_receipts_beside_it_say_more() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let make = |below: &str, text: &str| {
            let path = root.join(below);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let exe = make(".cargo/bin/taut", "");
        make(".cargo/.crates.toml", "[v1]\n\"taut 0.1.0 (path+file:///src/world/cli)\" = [\"taut\"]\n");
        let found = of(&exe);
        assert_eq!(found.upgrade, "git -C /src/world/cli pull && cargo install --path /src/world/cli");
        assert_eq!(found.remove, "cargo uninstall taut");
        make(".cargo/.crates.toml", "\"taut 0.1.0 (git+https://example.invalid/taut?rev=1#abc)\" = [\"taut\"]\n");
        assert_eq!(of(&exe).upgrade, "cargo install --git https://example.invalid/taut taut");
        let tool = make("uv/tools/taut-cli/bin/taut", "");
        make("uv/tools/taut-cli/uv-receipt.toml", "");
        assert_eq!(of(&tool).upgrade, "uv tool upgrade taut-cli");
        let piped = make("pipx/venvs/taut-cli/bin/taut", "");
        make("pipx/venvs/taut-cli/pipx_metadata.json", "");
        assert_eq!(of(&piped).id, "pipx");
        let venv = make("acme/.venv/bin/taut", "");
        make("acme/.venv/pyvenv.cfg", "");
        assert_eq!(of(&venv).id, "pip");
        let script = make(".local/bin/taut", "");
        assert_eq!(of(&script).remove, format!("rm {}", script.display()));
        make(".local/share/man/man1/taut.1", "");
        let remove = of(&script).remove;
        assert!(remove.contains("/.local/share/man/man1/taut-*.1 ") && remove.ends_with("taut.fish"), "{remove}");
        let copy = make("state/bin/taut", "");
        assert_eq!(InstallChannel::of(&copy, &root.join("state")).id, "copy");
    }
}

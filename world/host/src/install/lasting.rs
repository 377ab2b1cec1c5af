//! Whether a program will still lie where it lies now: caches are cleared, build folders made anew, and a folder of one
//! version goes with the next. A hook line whose program is gone lets everything pass, and nobody is told.

use std::path::{Component, Path};

/// How long what lies in a place stays there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stay {
    /// It can go at any time, and a link to it then leads nowhere.
    Passing,
    /// It goes with its version; a link that the package manager keeps leads to the next one.
    OneVersion,
}

/// Folders by their names, one below the other. A name that ends in `*` is the beginning of one.
const PLACES: &[(&[&str], Stay, &str)] = &[
    (&["_npx"], Stay::Passing, "the cache of npx"),
    (&["pnpm", "dlx*"], Stay::Passing, "the cache of pnpm"),
    (&[".bunx-*"], Stay::Passing, "the cache of bunx"),
    (&["bunx-*"], Stay::Passing, "the cache of bunx"),
    (&[".bun", "install", "cache"], Stay::Passing, "the cache of bun"),
    (&["uv", "archive-v*"], Stay::Passing, "the cache of uv"),
    (&["plugins", "cache"], Stay::Passing, "a plugin's folder, which changes with each version"),
    (&[".cache"], Stay::Passing, "a cache"),
    (&["Library", "Caches"], Stay::Passing, "a cache"),
    (&["store", "v*", "links"], Stay::OneVersion, "the store of pnpm"),
    (&[".pnpm"], Stay::OneVersion, "the store of pnpm"),
    (&[".nvm"], Stay::OneVersion, "the folder of one version of Node"),
    (&["node-versions"], Stay::OneVersion, "the folder of one version of Node"),
    (&["fnm_multishells"], Stay::Passing, "the folder of one shell"),
    (&[".volta"], Stay::OneVersion, "the folder of one version of Node"),
    (&[".nodenv"], Stay::OneVersion, "the folder of one version of Node"),
    (&[".asdf", "installs"], Stay::OneVersion, "the folder of one version"),
    (&["mise", "installs"], Stay::OneVersion, "the folder of one version"),
    (&["Cellar"], Stay::OneVersion, "the folder of one version"),
    (&["nix", "store"], Stay::OneVersion, "the store of Nix"),
];

const TEMPORARY: [&str; 6] = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"];

/// Where a program lies, if it will not stay there. What is temporary is as lasting as a home that is temporary too.
pub fn lies_in(path: &Path, home: &Path) -> Option<&'static str> {
    place(path, home, &[Stay::Passing, Stay::OneVersion])
}

/// The same for what a link leads to: the link may lead to the next version.
pub fn leads_into(target: &Path, home: &Path) -> Option<&'static str> {
    place(target, home, &[Stay::Passing])
}

fn place(path: &Path, home: &Path, kinds: &[Stay]) -> Option<&'static str> {
    let names: Vec<&str> = path.components().filter_map(name).collect();
    let listed = PLACES.iter().filter(|(_, stay, _)| kinds.contains(stay));
    let by_name = listed.filter(|(folders, ..)| holds(&names, folders)).map(|(.., what)| *what).next();
    by_name
        .or_else(|| is_in_build_folder(path).then_some("a build folder"))
        .or_else(|| is_of_project(path).then_some("a project's node_modules"))
        .or_else(|| is_in_environment(path).then_some("a Python environment"))
        .or_else(|| is_temporary(path, home).then_some("a temporary folder"))
}

fn name(part: Component<'_>) -> Option<&str> {
    match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    }
}

fn holds(names: &[&str], folders: &[&str]) -> bool {
    let is = |(name, folder): (&&str, &&str)| match folder.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == folder,
    };
    // The last name is the program's own.
    let (_, above) = names.split_last().unwrap_or((&"", &[]));
    above.windows(folders.len()).any(|part| part.iter().zip(folders).all(is))
}

/// A build's output: by its place, or by the mark that build tools leave in folders whose content can be made again.
/// Python's tools leave that mark in every environment.
fn is_in_build_folder(path: &Path) -> bool {
    let is_profile = |name: Option<&&str>| name.is_some_and(|name| matches!(*name, "debug" | "release"));
    let names: Vec<&str> = path.components().filter_map(name).collect();
    let by_place = names
        .iter()
        .enumerate()
        .any(|(at, name)| *name == "target" && (is_profile(names.get(at + 1)) || is_profile(names.get(at + 2))));
    let is_marked = |folder: &Path| folder.join("CACHEDIR.TAG").is_file() && !folder.join("pyvenv.cfg").is_file();
    by_place || path.ancestors().skip(1).any(is_marked)
}

/// In `node_modules`, and not in that of all projects.
fn is_of_project(path: &Path) -> bool {
    let all = path.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules"));
    let Some(outermost) = all.last().and_then(Path::parent) else { return false };
    let is_global = match outermost.file_name().and_then(|name| name.to_str()) {
        Some("global") => true,
        // Beside the names that npm has put there for everybody.
        Some("lib") => outermost.parent().is_some_and(|prefix| prefix.join("bin/taut").symlink_metadata().is_ok()),
        _ => false,
    };
    !is_global
}

/// In a Python environment that no installer of programs looks after.
fn is_in_environment(path: &Path) -> bool {
    let Some(folder) = path.ancestors().nth(2) else { return false };
    let has = |name: &str| folder.join(name).is_file();
    has("pyvenv.cfg") && !has("uv-receipt.toml") && !has("pipx_metadata.json")
}

fn is_temporary(path: &Path, home: &Path) -> bool {
    let is_below = |folder: &Path| path.starts_with(folder) && !home.starts_with(folder);
    TEMPORARY.iter().any(|folder| is_below(Path::new(folder))) || is_below(&std::env::temp_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "/home/ann";

    fn at(path: &str) -> Option<&'static str> {
        lies_in(Path::new(path), Path::new(HOME))
    }

    #[test]
    fn i1_what_a_cache_or_a_build_holds_does_not_stay() {
        for path in [
            "/home/ann/.npm/_npx/1a2b/node_modules/@taut/linux-x64/bin/taut",
            "/home/ann/.cache/pnpm/dlx/x/node_modules/@taut/linux-x64/bin/taut",
            "/home/ann/Library/Caches/pnpm/dlx-77/x/taut",
            "/home/ann/.bun/install/cache/.bunx-0-taut/node_modules/@taut/linux-x64/bin/taut",
            "/tmp/bunx-1000-taut-cli@latest/node_modules/@taut/linux-x64/bin/taut",
            "/data/uv/archive-v0/Xy/bin/taut",
            "/home/ann/.cache/pipx/77/bin/taut",
            "/home/ann/.local/share/pnpm/store/v11/links/@taut/linux-x64/0.1.0/h/node_modules/x/bin/taut",
            "/home/ann/.nvm/versions/node/v22.1.0/lib/node_modules/taut-cli/node_modules/@taut/linux-x64/bin/taut",
            "/home/ann/acme/node_modules/@taut/linux-x64/bin/taut",
            "/home/ann/.claude/plugins/cache/taut/taut/0.1.0/native/linux-x64/taut",
            "/opt/homebrew/Cellar/taut/0.1.0/bin/taut",
            "/nix/store/abc-taut-0.1.0/bin/taut",
            "/tmp/x/taut",
            "/w/target/release/taut",
            "/w/target/x86_64-unknown-linux-musl/debug/taut",
        ] {
            assert!(at(path).is_some(), "{path}");
        }
    }

    #[test]
    fn i1_what_an_installer_keeps_stays() {
        for path in [
            "/usr/bin/taut",
            "/usr/local/bin/taut",
            "/opt/homebrew/bin/taut",
            "/opt/homebrew/opt/taut/bin/taut",
            "/home/ann/.cargo/bin/taut",
            "/home/ann/.local/bin/taut",
            "/home/ann/.local/state/taut/bin/taut",
            "/home/ann/.bun/install/global/node_modules/@taut/linux-x64/bin/taut",
            "/home/ann/target/bin/taut",
            "/home/cache/bin/taut",
        ] {
            assert_eq!(at(path), None, "{path}");
        }
        assert_eq!(lies_in(Path::new("/tmp/t/bin/taut"), Path::new("/tmp/t/home")), None, "a throw-away home");
    }

    #[test]
    fn i1_a_link_may_lead_into_the_folder_of_one_version_and_not_into_a_cache() {
        let leads = |path: &str| leads_into(Path::new(path), Path::new(HOME));
        assert_eq!(leads("/opt/homebrew/Cellar/taut/0.1.0/bin/taut"), None);
        assert_eq!(leads("/nix/store/abc-taut-0.1.0/bin/taut"), None);
        assert!(leads("/home/ann/.npm/_npx/1/taut").is_some());
        assert!(leads("/w/target/release/taut").is_some());
    }

    #[test]
    fn i1_marks_in_folders_tell_an_environment_of_a_program_from_one_of_a_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let make = |path: &str| {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), "").unwrap();
        };
        // A home beside it, since the folder itself is a temporary one.
        let found = |path: &str| lies_in(&root.join(path), &root.join("home"));
        make("out/CACHEDIR.TAG");
        assert_eq!(found("out/a/taut"), Some("a build folder"));
        for file in ["tool/CACHEDIR.TAG", "tool/pyvenv.cfg"] {
            make(file);
        }
        assert_eq!(found("tool/bin/taut"), Some("a Python environment"));
        make("tool/uv-receipt.toml");
        assert_eq!(found("tool/bin/taut"), None);
        make("pipx/pyvenv.cfg");
        make("pipx/pipx_metadata.json");
        assert_eq!(found("pipx/bin/taut"), None);
        let native = "node/lib/node_modules/taut-cli/node_modules/@taut/linux-x64/bin/taut";
        assert_eq!(found(native), Some("a project's node_modules"));
        make("node/bin/taut");
        assert_eq!(found(native), None, "npm's own prefix");
    }
}

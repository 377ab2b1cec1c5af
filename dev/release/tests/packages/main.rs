//! Packages of programs that are only bytes: what is in them, that they are the same twice, and that changes are seen.

mod pages;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use release::{PackError, PackageTarget, ProgramPages, ReleaseInput, TARGETS, TargetBinary, VERSION, pack, verify};
use tempfile::TempDir;

/// A program that says its name and what it was given.
const PROGRAM: &str = "#!/bin/sh\necho taut \"$@\"\n";

/// What a program that knows itself writes.
const WRITER: &str = r##"#!/bin/sh
case $1 in
completions) echo "# completions of $2" ;;
man) mkdir -p "$3" && for page in taut taut-init; do echo "page $page" >"$3/$page.1"; done ;;
esac
"##;

fn pages_of(script: &str) -> Result<ProgramPages, PackError> {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("taut");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    ProgramPages::of(&program)
}

fn pages() -> ProgramPages {
    pages_of(WRITER).unwrap()
}

fn input(url: &str) -> ReleaseInput {
    let bytes = |target: &PackageTarget| format!("program for {}", target.triple).into_bytes();
    let binaries = TARGETS.iter().map(|target| TargetBinary { target, bytes: bytes(target) }).collect();
    ReleaseInput { binaries, pages: pages(), url: url.to_owned(), time: 1_700_000_000 }
}

fn packed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    pack(&input("https://example.invalid/o/r/releases/download/v1"), folder.path()).unwrap();
    folder
}

/// A release of a program for this machine, found where it is.
fn packed_here() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let target = PackageTarget::host().unwrap();
    let binaries = vec![TargetBinary { target, bytes: PROGRAM.as_bytes().to_vec() }];
    let url = format!("file://{}", folder.path().display());
    let input = ReleaseInput { binaries, pages: pages(), url, time: 0 };
    pack(&input, folder.path()).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn i6_one_version_gives_every_package_for_every_machine() {
    let folder = packed();
    assert_eq!(verify(folder.path()).unwrap(), [""; 0]);
    let names = names(folder.path());
    let count = |end: &str| names.iter().filter(|name| name.ends_with(end)).count();
    // Four archives and the marketplace; npm's four, their entry and the plugin; four wheels; Linux twice.
    assert_eq!((count(".tar.gz"), count(".tgz"), count(".whl"), count(".deb")), (5, 6, 4, 2), "{names:?}");
    for name in ["install.sh", "taut-cli.rb", "SHA256SUMS", "CHANGES.md", &format!("taut-{VERSION}.cdx.json")] {
        assert!(names.iter().any(|found| found == name), "{name}");
    }
}

#[test]
fn i6_the_same_programs_give_the_same_bytes_twice() {
    let (one, other) = (packed(), packed());
    for name in names(one.path()) {
        let [one, other] = [&one, &other].map(|folder| fs::read(folder.path().join(&name)).unwrap());
        assert!(one == other, "{name}");
    }
}

#[test]
fn i6_what_is_changed_missing_or_not_listed_is_seen() {
    let folder = packed();
    let wheel = names(folder.path()).into_iter().find(|name| name.ends_with("x86_64.whl")).unwrap();
    fs::write(folder.path().join("install.sh"), "echo").unwrap();
    fs::write(folder.path().join("more"), "").unwrap();
    fs::remove_file(folder.path().join(&wheel)).unwrap();
    let wrong = verify(folder.path()).unwrap().join("\n");
    assert!(wrong.contains("install.sh is not what its checksum says"), "{wrong}");
    assert!(wrong.contains("more has no checksum") && wrong.contains(&format!("{wheel} is missing")), "{wrong}");
}

#[test]
fn i6_a_package_with_another_program_is_seen_whatever_the_checksums_say() {
    let (folder, other) = (packed(), tempfile::tempdir().unwrap());
    let mut changed = input("https://example.invalid");
    changed.binaries[0].bytes.push(b'!');
    pack(&changed, other.path()).unwrap();
    let deb = format!("taut-cli_{VERSION}_amd64.deb");
    fs::copy(other.path().join(&deb), folder.path().join(&deb)).unwrap();
    let wrong = verify(folder.path()).unwrap().join("\n");
    assert!(wrong.contains("x86_64-unknown-linux-gnu do not all have the same program"), "{wrong}");
}

#[test]
fn i6_the_formula_names_each_archive_with_its_checksum() {
    let folder = packed();
    let formula = fs::read_to_string(folder.path().join("taut-cli.rb")).unwrap();
    let sums = fs::read_to_string(folder.path().join("SHA256SUMS")).unwrap();
    for target in TARGETS {
        let name = format!("taut-{VERSION}-{}.tar.gz", target.triple);
        let sum = sums.lines().find_map(|line| line.strip_suffix(&format!("  {name}"))).unwrap();
        let url = format!("url \"https://example.invalid/o/r/releases/download/v1/{name}\"");
        assert!(formula.contains(&format!("{url}\n      sha256 \"{sum}\"")), "{formula}");
    }
    assert!(formula.contains("homepage \"https://example.invalid/o/r\"") && !formula.contains('@'), "{formula}");
    if !is_absent("ruby") {
        let checked = Command::new("ruby").arg("-c").arg(folder.path().join("taut-cli.rb")).output().unwrap();
        assert!(checked.status.success(), "{checked:?}");
    }
}

fn is_absent(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_err()
}

fn install(folder: &Path, home: &Path) -> Output {
    let mut script = Command::new("sh");
    script.arg(folder.join("install.sh")).env("HOME", home).env_remove("TAUT_INSTALL_DIR").output().unwrap()
}

#[test]
fn i6_the_installer_puts_the_program_into_the_users_folder_and_says_what_is_next() {
    let (folder, home) = (packed_here(), tempfile::tempdir().unwrap());
    for _ in 0..2 {
        let done = install(folder.path(), home.path());
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success() && said.contains("next: ") && said.contains("taut init"), "{done:?}");
        let ran = Command::new(home.path().join(".local/bin/taut")).arg("version").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "taut version\n");
    }
    assert_eq!(names(&home.path().join(".local/bin")), ["taut"]);
    let share = home.path().join(".local/share");
    assert_eq!(names(&share.join("man/man1")), ["taut-init.1", "taut.1"]);
    for (place, shell) in [
        ("bash-completion/completions/taut", "bash"),
        ("zsh/site-functions/_taut", "zsh"),
        ("fish/vendor_completions.d/taut.fish", "fish"),
    ] {
        assert_eq!(fs::read_to_string(share.join(place)).unwrap(), format!("# completions of {shell}\n"));
    }
}

#[test]
fn i6_the_installer_puts_pages_only_beside_a_folder_of_programs_and_goes_on_where_it_cannot() {
    let (folder, home) = (packed_here(), tempfile::tempdir().unwrap());
    let into = |place: &str| {
        let mut script = Command::new("sh");
        script.arg(folder.path().join("install.sh")).env("HOME", home.path());
        script.env("TAUT_INSTALL_DIR", home.path().join(place)).output().unwrap()
    };
    let done = into("tools");
    assert!(done.status.success() && !home.path().join("share").exists(), "{done:?}");
    assert_eq!(names(home.path()), ["tools"]);
    // A file where the folder of pages should be.
    fs::write(home.path().join("share"), "").unwrap();
    let done = into("bin");
    assert!(done.status.success() && home.path().join("bin/taut").is_file(), "{done:?}");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("could not be put into") && said.contains("taut man and taut completions"), "{said}");
}

#[test]
fn i6_the_installer_refuses_an_archive_that_is_not_the_released_one() {
    let (folder, home) = (packed_here(), tempfile::tempdir().unwrap());
    let archive = format!("taut-{VERSION}-{}.tar.gz", PackageTarget::host().unwrap().triple);
    let path = folder.path().join(archive);
    let mut bytes = fs::read(&path).unwrap();
    bytes.push(0);
    fs::write(&path, bytes).unwrap();
    let refused = install(folder.path(), home.path());
    assert!(!refused.status.success() && !home.path().join(".local").exists(), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("its checksum is") && said.contains("nothing was installed"), "{said}");
    fs::remove_file(&path).unwrap();
    let absent = install(folder.path(), home.path());
    assert!(String::from_utf8_lossy(&absent.stderr).contains("cannot be had; nothing was installed"), "{absent:?}");
}

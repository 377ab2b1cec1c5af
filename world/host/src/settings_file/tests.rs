//! Replacing settings files on a real file system.

use super::*;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};

fn snapshot(path: &Path) -> SettingsSnapshot {
    SettingsSnapshot::read(path).unwrap()
}

fn text(text: &str) -> SettingsFileChange {
    SettingsFileChange::Text(text.into())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn i1_the_file_is_found_at_each_level() {
    let places = PathVariables { home: Some("/h".into()), ..PathVariables::default() };
    let path = |level: SettingsLevel, places| level.path(places, agents::DEFAULT).unwrap();
    assert_eq!(path(SettingsLevel::User, &places), Path::new("/h/.claude/settings.json"));
    let moved = PathVariables { agent_folders: [("claude-code", "/c".into())].into(), ..places.clone() };
    assert_eq!(path(SettingsLevel::User, &moved), Path::new("/c/settings.json"));
    assert_eq!(path(SettingsLevel::Project("/p".into()), &moved), Path::new("/p/.claude/settings.json"));
    assert_eq!(path(SettingsLevel::Local("/p".into()), &moved), Path::new("/p/.claude/settings.local.json"));
}

#[test]
fn i1_the_file_is_where_the_agent_looks_when_its_home_or_all_configuration_is_moved() {
    let set = [
        ("HOME", "/h"),
        ("XDG_CONFIG_HOME", "/x"),
        ("GEMINI_CLI_HOME", "/g"),
        ("FACTORY_HOME_OVERRIDE", "/f"),
        ("CODEX_HOME", "/c"),
    ];
    let value = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
    let file = |places: &PathVariables, id: &str| {
        SettingsLevel::User.path(places, agents::ALL.find(id).unwrap()).unwrap().display().to_string()
    };
    let places = PathVariables::of_environment(value);
    assert_eq!(file(&places, "gemini"), "/g/.gemini/settings.json");
    assert_eq!(file(&places, "droid"), "/f/.factory/hooks.json");
    assert_eq!(file(&places, "codex"), "/c/hooks.json");
    assert!(file(&places, "opencode").starts_with("/x/opencode/"), "{}", file(&places, "opencode"));
    let relative = |name: &str| value(name).map(|value| if name == "HOME" { value } else { OsString::from("here") });
    let places = PathVariables::of_environment(relative);
    assert_eq!(file(&places, "gemini"), "/h/.gemini/settings.json");
    assert!(file(&places, "opencode").starts_with("/h/.config/opencode/"), "{}", file(&places, "opencode"));
}

#[test]
fn i1_a_replacement_keeps_mode_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "{}").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(replace(&snapshot(&path), &text("{ }")).unwrap(), None);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{ }");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    assert_eq!(names(folder.path()), ["settings.json"]);
}

#[test]
fn i1_a_replacement_goes_through_symbolic_links_and_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let (dotfiles, claude) = (folder.path().join("dotfiles"), folder.path().join("claude"));
    std::fs::create_dir_all(&dotfiles).unwrap();
    std::fs::create_dir_all(&claude).unwrap();
    std::fs::write(dotfiles.join("claude.json"), "{}").unwrap();
    symlink("claude.json", dotfiles.join("current.json")).unwrap();
    symlink("../dotfiles/current.json", claude.join("settings.json")).unwrap();
    let path = claude.join("settings.json");
    replace(&snapshot(&path), &text("{ }")).unwrap();
    assert!(path.is_symlink() && dotfiles.join("current.json").is_symlink());
    assert_eq!(std::fs::read_to_string(dotfiles.join("claude.json")).unwrap(), "{ }");

    let dangling = claude.join("dangling.json");
    symlink(dotfiles.join("new.json"), &dangling).unwrap();
    replace(&snapshot(&dangling), &text("{}")).unwrap();
    assert!(dangling.is_symlink() && dotfiles.join("new.json").is_file());

    symlink("loop.json", claude.join("loop.json")).unwrap();
    assert!(matches!(SettingsSnapshot::read(&claude.join("loop.json")), Err(SettingsFileError::Read { .. })));
}

#[test]
fn i1_a_missing_file_is_made_with_its_folder_and_goes_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".claude/settings.json");
    let made = replace(&snapshot(&path), &text("{}")).unwrap();
    assert_eq!(made, Some(folder.path().join(".claude")));
    replace(&snapshot(&path), &SettingsFileChange::Gone).unwrap();
    assert!(!path.exists());
}

#[test]
fn i1_a_file_that_changed_since_it_was_read_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "{}").unwrap();
    let read = snapshot(&path);
    std::fs::write(&path, "{\"mine\": 1}").unwrap();
    for after in [text("{ }"), SettingsFileChange::Gone] {
        assert!(matches!(replace(&read, &after), Err(SettingsFileError::Changed { .. })));
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"mine\": 1}");
    assert_eq!(names(folder.path()), ["settings.json"]);
}

#[test]
fn i1_read_only_files_and_folders_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "{}").unwrap();
    let lock = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    lock(&path, 0o444);
    let error = replace(&snapshot(&path), &text("{ }")).unwrap_err();
    assert!(error.to_string().contains("is read-only") && error.to_string().contains("chmod u+w"), "{error}");
    lock(&path, 0o644);
    lock(folder.path(), 0o555);
    let error = replace(&snapshot(&path), &text("{ }")).unwrap_err();
    lock(folder.path(), 0o755);
    assert!(matches!(error, SettingsFileError::ReadOnly { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
}

#[test]
fn hard_links_folders_and_other_encodings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "{}").unwrap();
    std::fs::hard_link(&path, folder.path().join("other.json")).unwrap();
    assert!(matches!(replace(&snapshot(&path), &text("{ }")), Err(SettingsFileError::HardLinked { .. })));
    assert!(matches!(SettingsSnapshot::read(folder.path()), Err(SettingsFileError::NotAFile { .. })));
    std::fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    assert!(matches!(SettingsSnapshot::read(&path), Err(SettingsFileError::NotText { .. })));
}

#[test]
fn copies_are_private_and_only_the_last_ones_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, "{}").unwrap();
    let state = folder.path().join("state");
    let backups = Backups::of(&state, &path);
    let copies: Vec<_> = (0..14).map(|at| backups.keep(&snapshot(&path), model::Ms(at)).unwrap().unwrap()).collect();
    assert!(!copies[3].exists() && copies[4].exists() && copies[13].exists());
    assert_eq!(std::fs::metadata(&copies[13]).unwrap().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(&state).unwrap().mode() & 0o777, 0o700);
    assert_eq!(std::fs::read_to_string(&copies[13]).unwrap(), "{}");
}

#[test]
fn a_record_is_read_back_and_restores_only_what_was_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let backups = Backups::of(folder.path(), Path::new("/h/.claude/settings.json"));
    assert_eq!(backups.read_record(), None);
    let record = Record {
        existed: true,
        made_folder: Some("/h/.claude".into()),
        before: Some("{}".into()),
        after: "{ours}".into(),
        allow: vec!["Bash(taut log *)".into()],
    };
    backups.write_record(&record).unwrap();
    assert_eq!(backups.read_record().as_ref(), Some(&record));
    assert_eq!(record.restores(Some("{ours}")), Some(text("{}")));
    assert_eq!(record.restores(Some("{ours }")), None);
    assert_eq!(Record { existed: false, ..record.clone() }.restores(Some("{ours}")), Some(SettingsFileChange::Gone));
    assert_eq!(Record { before: None, ..record }.restores(Some("{ours}")), None);
    backups.forget();
    assert_eq!(backups.read_record(), None);
}

#[test]
fn two_installations_do_not_overlap() {
    let folder = tempfile::tempdir().unwrap();
    let backups = Backups::of(folder.path(), Path::new("/x"));
    let held = backups.lock().unwrap();
    let waiting = std::thread::spawn({
        let backups = backups.clone();
        move || backups.lock().map(drop)
    });
    drop(held);
    waiting.join().unwrap().unwrap();
}

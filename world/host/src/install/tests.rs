//! Installing and leaving on a real file system, with an editor as simple as can be.

use super::*;

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn with(text: &str) -> Self {
        let scene = Self::new();
        std::fs::create_dir(scene.folder.path().join(".claude")).unwrap();
        std::fs::write(scene.path(), text).unwrap();
        scene
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(".claude/settings.json")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn text(&self) -> Option<String> {
        std::fs::read_to_string(self.path()).ok()
    }

    /// Ours is the word `OURS` with a number.
    fn install(&self, version: u32) -> Proposal {
        let file = SettingsSnapshot::read(&self.path()).unwrap();
        let found = if file.text().contains("OURS") { ExistingHooks::Ours } else { ExistingHooks::NoneOfOurs };
        let text = format!("{}OURS{version}", without(file.text()));
        Proposal::install(file, InstallRequest { text, allow: Vec::new(), found })
    }

    fn uninstall(&self) -> Proposal {
        let file = SettingsSnapshot::read(&self.path()).unwrap();
        let text = without(file.text()).to_owned();
        let left = if text.is_empty() { LeftBehind::Nothing } else { LeftBehind::Settings };
        let record = Backups::of(&self.state(), &file.target).read_record();
        Proposal::uninstall(file, UninstallRequest { text, left }, record.as_ref())
    }

    fn do_it(&self, proposal: &Proposal) -> Installed {
        proposal.apply(&self.state(), Ms(1)).unwrap()
    }
}

fn without(text: &str) -> &str {
    text.split("OURS").next().unwrap_or_default()
}

#[test]
fn i1_install_and_uninstall_leave_no_trace_of_a_file_that_was_not_there() {
    let scene = Scene::new();
    let proposal = scene.install(1);
    assert!(proposal.diff().starts_with("--- /dev/null"));
    assert_eq!(scene.do_it(&proposal).copy, None);
    assert_eq!(scene.text().as_deref(), Some("OURS1"));
    scene.do_it(&scene.uninstall());
    assert!(!scene.folder.path().join(".claude").exists());
    assert!(intent::uninstall_intended(&scene.state(), Ms(1)));
}

#[test]
fn i1_a_folder_that_got_other_files_since_stays() {
    let scene = Scene::new();
    scene.do_it(&scene.install(1));
    std::fs::write(scene.folder.path().join(".claude/other"), "").unwrap();
    scene.do_it(&scene.uninstall());
    assert!(scene.text().is_none() && scene.folder.path().join(".claude/other").exists());
}

#[test]
fn i1_an_upgrade_in_between_still_restores_the_first_text() {
    let scene = Scene::with("{ }\r\n");
    let done = scene.do_it(&scene.install(1));
    assert_eq!(std::fs::read_to_string(done.copy.unwrap()).unwrap(), "{ }\r\n");
    scene.do_it(&scene.install(2));
    assert_eq!(scene.do_it(&scene.install(2)), Installed::default());
    assert_eq!(scene.text().as_deref(), Some("{ }\r\nOURS2"));
    scene.do_it(&scene.uninstall());
    assert_eq!(scene.text().as_deref(), Some("{ }\r\n"));
}

#[test]
fn i1_edits_made_since_are_never_lost_to_the_copy() {
    let scene = Scene::with("{}");
    scene.do_it(&scene.install(1));
    std::fs::write(scene.path(), "{mine}OURS1").unwrap();
    scene.do_it(&scene.install(2));
    assert_eq!(scene.text().as_deref(), Some("{mine}OURS2"));
    scene.do_it(&scene.uninstall());
    assert_eq!(scene.text().as_deref(), Some("{mine}"));
}

#[test]
fn i1_a_text_that_is_all_ours_leaves_valid_settings_where_the_file_was_the_users() {
    let scene = Scene::with("{mine}");
    scene.do_it(&scene.install(1));
    std::fs::write(scene.path(), "OURS1").unwrap();
    scene.do_it(&scene.uninstall());
    assert_eq!(scene.text().as_deref(), Some("{}\n"));
}

#[test]
fn i1_folders_made_on_the_way_to_a_file_go_with_it_and_no_other_does() {
    let scene = Scene::new();
    let path = scene.folder.path().join(".config/agent/plugins/taut.js");
    std::fs::create_dir(scene.folder.path().join(".config")).unwrap();
    let install = |text: &str| {
        let file = SettingsSnapshot::read(&path).unwrap();
        let found = ExistingHooks::NoneOfOurs;
        Proposal::install(file, InstallRequest { text: text.into(), allow: Vec::new(), found })
    };
    let uninstall = || {
        let file = SettingsSnapshot::read(&path).unwrap();
        let record = Backups::of(&scene.state(), &file.target).read_record();
        let request = UninstallRequest { text: String::new(), left: LeftBehind::NoFile };
        Proposal::uninstall(file, request, record.as_ref())
    };
    scene.do_it(&install("OURS"));
    std::fs::write(&path, "OURS, changed").unwrap();
    scene.do_it(&uninstall());
    assert!(scene.folder.path().join(".config").exists() && !scene.folder.path().join(".config/agent").exists());
    scene.do_it(&install("OURS"));
    std::fs::write(scene.folder.path().join(".config/agent/mine"), "").unwrap();
    scene.do_it(&uninstall());
    assert!(scene.folder.path().join(".config/agent/mine").exists());
    assert!(!scene.folder.path().join(".config/agent/plugins").exists());
}

#[test]
fn i1_nothing_is_written_into_a_file_whose_nothing_is_lawful() {
    let scene = Scene::new();
    let path = scene.folder.path().join("config.toml");
    std::fs::write(&path, "OURS1").unwrap();
    let request = UninstallRequest { text: String::new(), left: LeftBehind::Nothing };
    scene.do_it(&Proposal::uninstall(SettingsSnapshot::read(&path).unwrap(), request, None));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
}

#[test]
fn i1_an_empty_file_is_empty_again() {
    let scene = Scene::with("");
    scene.do_it(&scene.install(1));
    scene.do_it(&scene.uninstall());
    assert_eq!(scene.text().as_deref(), Some(""));
}

#[test]
fn a_file_that_changed_after_the_proposal_is_proposed_again() {
    let scene = Scene::with("{}");
    let proposal = scene.install(1);
    std::fs::write(scene.path(), "{mine}").unwrap();
    let error = proposal.apply(&scene.state(), Ms(1)).unwrap_err();
    assert!(matches!(error, SettingsFileError::Changed { .. }));
    assert_eq!(scene.text().as_deref(), Some("{mine}"));
    assert_eq!(Backups::of(&scene.state(), &scene.path()).read_record(), None);
    scene.do_it(&scene.install(1));
    assert_eq!(scene.text().as_deref(), Some("{mine}OURS1"));
}

#[test]
fn i1_leaving_works_without_a_state_folder_and_says_what_is_missing() {
    let scene = Scene::with("{}OURS1");
    std::fs::write(scene.state(), "in the way").unwrap();
    let done = scene.do_it(&scene.uninstall());
    assert_eq!(scene.text().as_deref(), Some("{}"));
    assert_eq!(done.notes.len(), 2);
    let error = scene.install(1).apply(&scene.state(), Ms(1)).unwrap_err();
    assert!(matches!(error, SettingsFileError::Backup { .. }));
    assert_eq!(scene.text().as_deref(), Some("{}"));
}

#[test]
fn nothing_to_remove_changes_nothing() {
    let scene = Scene::with("{}");
    assert!(!scene.uninstall().changes_anything());
    let absent = Scene::new();
    assert!(!absent.uninstall().changes_anything());
    assert_eq!(absent.do_it(&absent.uninstall()), Installed::default());
}

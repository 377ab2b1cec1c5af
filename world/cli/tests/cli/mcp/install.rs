//! `taut init --mcp`, `taut uninstall` and `taut doctor` over the client's list of servers.

use std::path::{Path, PathBuf};
use testkit::{Finished, Sandbox};

/// As the client writes it, with a server of somebody else's.
const LIST: &str =
    "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}";

struct InstalledHome {
    sandbox: Sandbox,
}

impl InstalledHome {
    fn new() -> Self {
        let sandbox = Sandbox::with_copy_of(Path::new(env!("CARGO_BIN_EXE_taut"))).unwrap();
        let sandbox = sandbox.with_env("TAUT_NO_DAEMON", "1");
        testkit::stage::put_program(&sandbox.root().join("bin/claude"), "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
        Self { sandbox }
    }

    fn list(&self) -> PathBuf {
        self.sandbox.home().join(".claude.json")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.list()).unwrap()
    }

    fn settings(&self) -> Option<String> {
        std::fs::read_to_string(self.sandbox.claude_dir().join("settings.json")).ok()
    }

    fn taut(&self, args: &[&str]) -> Finished {
        self.sandbox.taut(args, b"").unwrap()
    }

    #[track_caller]
    fn works(&self, args: &[&str]) -> String {
        let ended = self.taut(args);
        assert_eq!(ended.code(), Some(0), "taut {args:?}: {}{}", ended.stdout_text(), ended.stderr_text());
        ended.stdout_text()
    }

    #[track_caller]
    fn uninstalls(&self) -> String {
        let ended = self.sandbox.at_terminal(&["uninstall"], "y\n", &[]).unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    fn doctor(&self) -> String {
        let all = self.taut(&["doctor"]).stdout_text();
        let lines: Vec<&str> = all.lines().skip_while(|line| !line.contains(" mcp ")).take(2).collect();
        lines.join("\n")
    }
}

#[test]
fn m5_init_registers_the_server_and_uninstall_restores_every_byte() {
    let home = InstalledHome::new();
    std::fs::write(home.list(), LIST).unwrap();
    let entry = format!(
        "\"taut\": {{ \"type\": \"stdio\", \"command\": \"{}\", \"args\": [\"mcp\"] }}",
        home.sandbox.bin().display()
    );
    let shown = home.works(&["init", "--mcp", "--dry-run"]);
    assert!(shown.contains(&format!("+    {entry}")), "{shown}");
    assert_eq!((home.text().as_str(), home.settings()), (LIST, None));
    home.works(&["init", "--yes"]);
    assert_eq!(home.text(), LIST, "not without being asked for");
    assert!(home.doctor().starts_with("ok   mcp") && home.doctor().contains("not registered"), "{}", home.doctor());

    let told = home.works(&["init", "--mcp", "--yes"]);
    assert!(told.contains("server registered in") && told.contains("it answers"), "{told}");
    assert!(home.text().contains(&entry), "{}", home.text());
    let once = home.text();
    assert!(home.works(&["init", "--mcp", "--yes"]).contains("has Taut's server already"));
    assert_eq!(home.text(), once);
    assert!(home.doctor().starts_with("ok   mcp       registered in"), "{}", home.doctor());

    assert!(home.uninstalls().contains("server removed from"));
    assert_eq!((home.text().as_str(), home.settings()), (LIST, None));
}

#[test]
fn m5_a_list_that_init_made_goes_again_and_links_and_modes_stay() {
    use std::os::unix::fs::PermissionsExt;
    let home = InstalledHome::new();
    home.works(&["init", "--mcp", "--yes"]);
    assert!(home.text().contains("mcpServers"));
    home.uninstalls();
    assert!(!home.list().exists());

    let kept = home.sandbox.home().join("dotfiles.json");
    std::fs::write(&kept, LIST).unwrap();
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("dotfiles.json", home.list()).unwrap();
    home.works(&["init", "--mcp", "--yes"]);
    assert_eq!(home.list().read_link().unwrap(), Path::new("dotfiles.json"));
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // The client counts on in the meantime.
    std::fs::write(&kept, home.text().replace("\"numStartups\": 7", "\"numStartups\": 8")).unwrap();
    home.uninstalls();
    assert_eq!(home.text(), LIST.replace('7', "8"));
}

#[test]
fn m5_the_list_is_where_the_client_looks_for_it() {
    let home = InstalledHome::new();
    let folder = home.sandbox.root().join("own");
    std::fs::create_dir(&folder).unwrap();
    let init = |env: &[(&str, &Path)]| {
        let mut command = home.sandbox.command(home.sandbox.bin());
        command.args(["init", "--mcp", "--yes"]).envs(env.iter().copied());
        assert!(testkit::process::run(command, b"", testkit::stage::LIMIT).unwrap().success());
    };
    init(&[("CLAUDE_CONFIG_DIR", &folder)]);
    assert!(folder.join(".claude.json").exists() && !home.list().exists());
    std::fs::write(home.sandbox.claude_dir().join(".config.json"), "{}").unwrap();
    init(&[]);
    assert!(!home.list().exists(), "an older name of it comes first");
    assert!(std::fs::read_to_string(home.sandbox.claude_dir().join(".config.json")).unwrap().contains("\"taut\""));
}

#[test]
fn m5_a_list_that_cannot_be_edited_is_named_and_nothing_is_changed() {
    for (text, why) in [
        ("{ // mine\n}", ".claude.json:1:3: Claude Code reads plain JSON only"),
        ("{\"mcpServers\": {\"taut\": {\"command\": \"/b/other\"}}}", "somebody else's"),
        ("{\"a\": ", ".claude.json:1:"),
    ] {
        let home = InstalledHome::new();
        std::fs::write(home.list(), text).unwrap();
        let ended = home.taut(&["init", "--mcp", "--yes"]);
        assert_eq!(ended.code(), Some(1), "{text}");
        assert!(ended.stderr_text().contains(why) && ended.stderr_text().contains("hint: "), "{}", ended.stderr_text());
        assert_eq!((home.text().as_str(), home.settings()), (text, None));
        // It keeps nobody from taking the hooks out.
        home.works(&["init", "--yes"]);
        home.uninstalls();
        assert_eq!((home.text().as_str(), home.settings()), (text, None));
    }
}

#[test]
fn m5_a_registered_program_that_is_gone_is_told_by_the_doctor() {
    let home = InstalledHome::new();
    std::fs::write(home.list(), r#"{"mcpServers": {"taut": {"command": "/gone/taut", "args": ["mcp"]}}}"#).unwrap();
    let found = home.doctor();
    assert!(found.starts_with("bad  mcp") && found.contains("/gone/taut could not be started"), "{found}");
    assert!(found.ends_with("taut init --mcp"), "{found}");
}

#[test]
fn m5_a_list_that_init_makes_is_nobody_elses_business_and_a_number_in_one_is_not_judged() {
    use std::os::unix::fs::PermissionsExt;
    let home = InstalledHome::new();
    home.works(&["init", "--mcp", "--yes"]);
    assert_eq!(std::fs::metadata(home.list()).unwrap().permissions().mode() & 0o777, 0o600);
    let home = InstalledHome::new();
    std::fs::write(home.list(), "{\n  \"cost\": [1e400, -0.5E+9999]\n}\n").unwrap();
    home.works(&["init", "--mcp", "--yes"]);
    assert!(home.text().contains("[1e400, -0.5E+9999]") && home.text().contains("mcpServers"), "{}", home.text());
    home.uninstalls();
    assert_eq!(home.text(), "{\n  \"cost\": [1e400, -0.5E+9999]\n}\n");
}

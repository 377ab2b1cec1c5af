//! What a line runs from files, on the way that every hook takes: real files, a real index, a real session.

use crate::home::{Client, PipelineHome, decision};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Long before any file of a test was written: whatever stands there is the session's own work.
const BEFORE_ALL: i64 = 1_000_000;
/// Long after: whatever stands there was there before the session.
const AFTER_ALL: i64 = 4_000_000_000_000;

struct Project {
    home: PipelineHome,
    client: Client,
    calls: usize,
}

impl Project {
    /// A project whose session begins at that moment.
    fn new(began: i64) -> Self {
        let mut home = PipelineHome::new();
        home.move_clock(began);
        let client = home.client("s1");
        home.start(&client, "startup");
        Self { home, client, calls: 0 }
    }

    fn with(mut self, files: &[(&str, &str)]) -> Self {
        files.iter().for_each(|(file, text)| self.write(file, text));
        self
    }

    fn write(&mut self, file: &str, text: &str) {
        self.home.write(&format!("acme/{file}"), text);
    }

    /// What is answered to a line, and why.
    fn run(&mut self, line: &str) -> (String, String) {
        self.calls += 1;
        let response = self.home.bash(&self.client, &format!("t{}", self.calls), line);
        let answer: Value = serde_json::from_str(&response.answer.stdout).unwrap_or_default();
        let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_string();
        (decision(&response).unwrap_or_else(|| "pass".to_string()), reason)
    }

    fn answer(&mut self, line: &str) -> String {
        self.run(line).0
    }

    /// The turn goes by: what was denied has been read.
    fn next_turn(&mut self) {
        self.home.send(&self.client, "PostToolBatch", serde_json::json!({}));
    }

    /// As if these files had just been committed: an index that git would write.
    fn commit(&self, files: &[&str]) {
        let root = self.home.folder("acme");
        let mut index = b"DIRC\0\0\0\x02".to_vec();
        index.extend((files.len() as u32).to_be_bytes());
        for file in files {
            index.extend(entry(&root, file));
        }
        std::fs::write(root.join(".git/index"), index).unwrap();
    }
}

fn entry(root: &Path, file: &str) -> Vec<u8> {
    let found = std::fs::metadata(root.join(file)).unwrap();
    let mut out = Vec::new();
    let numbers = [found.ctime(), found.ctime_nsec(), found.mtime(), found.mtime_nsec()];
    out.extend(numbers.iter().flat_map(|number| (*number as u32).to_be_bytes()));
    out.extend([0; 20]);
    out.extend((found.size() as u32).to_be_bytes());
    out.extend([0; 20]);
    out.extend((file.len() as u16).to_be_bytes());
    out.extend(file.as_bytes());
    out.resize((out.len() + 8) / 8 * 8, 0);
    out
}

const NUKE: &str = "#!/bin/sh\n# tidy up\nrm -rf ~\n";

#[test]
fn g12_what_is_denied_on_the_line_is_denied_in_a_file_and_the_reason_names_file_and_line() {
    let mut project = Project::new(AFTER_ALL).with(&[
        ("clean.sh", NUKE),
        ("nuke.py", "import os, shutil\n\nshutil.rmtree(os.path.expanduser('~'))\n"),
        ("nuke.js", "const fs = require('fs');\n\nfs.rmSync(process.env.HOME, { recursive: true });\n"),
        ("outer.sh", "cd \"$(dirname \"$0\")\"\n\n./clean.sh\n"),
    ]);
    for (line, place) in [
        ("bash clean.sh", "clean.sh:3"),
        ("./clean.sh", "clean.sh:3"),
        ("source clean.sh", "clean.sh:3"),
        ("cat clean.sh | sh", "clean.sh:3"),
        ("bash < clean.sh", "clean.sh:3"),
        ("sudo ./clean.sh", "clean.sh:3"),
        ("bash outer.sh", "clean.sh:3"),
        ("python3 nuke.py", "nuke.py:3"),
        ("node nuke.js", "nuke.js:3"),
    ] {
        let (answer, reason) = project.run(line);
        assert_eq!(answer, "deny", "{line}: {reason}");
        assert!(reason.contains(&format!("[rm-root] {place} runs `")), "{line}: {reason}");
    }
}

#[test]
fn g12_statements_of_a_file_are_asked_about_as_on_the_line() {
    let mut project = Project::new(AFTER_ALL).with(&[
        ("drop.sql", "BEGIN;\nDROP TABLE users;\nCOMMIT;\n"),
        ("seed.sql", "CREATE TABLE a (id int);\nINSERT INTO a VALUES (1);\nDELETE FROM a WHERE id = 2;\n"),
        ("drop.js", "// fresh start\ndb.users.drop();\n"),
        ("flush.txt", "SET a 1\nFLUSHALL\n"),
    ]);
    for line in [
        "psql -f drop.sql", "psql app < drop.sql", "cat drop.sql | mysql", "sqlite3 app.db '.read drop.sql'",
        "mysql -e 'source drop.sql'", "sqlcmd -i drop.sql", "mongosh app drop.js", "redis-cli < flush.txt",
        "docker exec -i db psql -U app < drop.sql",
    ] {
        assert_eq!(project.answer(line), "ask", "{line}");
    }
    for line in [
        "psql -f seed.sql", "sqlite3 app.db < seed.sql", "cat drop.sql", "psql -c 'select 1'",
        "sqlite3 /tmp/t.db < drop.sql",
    ] {
        assert_eq!(project.answer(line), "pass", "{line}");
    }
}

#[test]
fn g12_a_script_that_the_session_wrote_is_not_let_through_by_saying_it_again() {
    let script = [("x.sh", "git push --force origin main\n")];
    let mut before = Project::new(AFTER_ALL).with(&script);
    assert_eq!(before.answer("bash x.sh"), "deny");
    before.next_turn();
    assert_eq!(before.answer("bash x.sh"), "pass", "a strike, as on the line");

    let mut since = Project::new(BEFORE_ALL).with(&script);
    assert_eq!(since.answer("bash x.sh"), "deny");
    since.next_turn();
    let (answer, reason) = since.run("bash x.sh");
    assert_eq!(answer, "deny");
    assert!(reason.contains("x.sh:1 runs `git push --force") && reason.contains("written in this session"), "{reason}");
}

#[test]
fn g12_of_a_committed_script_only_what_nobody_may_do_stops() {
    let files = [
        ("release.sh", "git push --force origin main\ngit reset --hard\nsudo systemctl restart app\nrm -rf \"$OUT\"\n"),
        ("clean.sh", NUKE),
    ];
    let mut project = Project::new(AFTER_ALL).with(&files);
    assert_eq!(project.answer("bash release.sh"), "deny", "not committed yet");
    project.commit(&["clean.sh", "release.sh"]);
    assert_eq!(project.answer("bash release.sh"), "pass");
    assert_eq!(project.answer("bash clean.sh"), "deny");
    project.write("release.sh", "git push --force origin other\n");
    assert_eq!(project.answer("bash release.sh"), "deny", "changed since");
}

#[test]
fn g12_what_only_the_run_would_tell_is_asked_about_in_the_sessions_own_scripts_alone() {
    let files = [
        ("unknown.sh", "rm -rf \"$1\"\n$TOOL -rf /\n"),
        ("broken.sh", "if then (((\nrm -rf build\n"),
        ("long.sh", &"echo 1 2 3\n".repeat(8_000)),
    ];
    for line in ["bash unknown.sh \"$X\"", "bash broken.sh", "bash long.sh"] {
        assert_eq!(Project::new(BEFORE_ALL).with(&files).answer(line), "ask", "{line}");
        assert_eq!(Project::new(AFTER_ALL).with(&files).answer(line), "pass", "{line}");
    }
}

#[test]
fn g12_a_projects_everyday_scripts_pass_even_where_the_session_wrote_them() {
    let deploy = "#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"${BASH_SOURCE[0]}\")/..\"\nrm -rf build dist node_modules\nnpm ci\nnpm run build\n";
    let temp = "TMP=\"$(mktemp -d)\"\ntrap 'rm -rf \"$TMP\"' EXIT\ncp -r src \"$TMP\"\nrm -rf \"$TMP\"\n";
    let tool = "import shutil, sys\nfrom pathlib import Path\n\nCACHE = Path(__file__).parent / '.cache'\n\n\
        def clean(folder):\n    shutil.rmtree(folder, ignore_errors=True)\n\nclean(CACHE)\n\
        shutil.rmtree(sys.argv[1])\n";
    let data = "cat <<'EOF' > notes.txt\nNever run rm -rf / or rm -rf ~\nEOF\ngrep -n 'rm -rf /' *.sh || echo 'no rm -rf / here'\n";
    let node =
        "const fs = require('fs');\nconst out = process.argv[2];\nfs.rmSync(out, { recursive: true, force: true });\n";
    let args = "case \"$1\" in\n  build) cargo build ;;\n  test) cargo test \"${@:2}\" ;;\n  clean) rm -rf target ;;\n\
        \x20 *) echo \"usage: $0 build|test\" >&2; exit 1 ;;\nesac\n";
    let mut project = Project::new(BEFORE_ALL).with(&[
        ("scripts/deploy.sh", deploy),
        ("temp.sh", temp),
        ("tool.py", tool),
        ("data.sh", data),
        ("clean.js", node),
        ("dev", args),
    ]);
    for line in [
        "bash scripts/deploy.sh", "./scripts/deploy.sh", "cd scripts && ./deploy.sh", "bash temp.sh",
        "python3 tool.py .cache", "bash data.sh", "node clean.js out", "./dev test --all", "./dev clean",
        "bash gone.sh", "./gone", "python3 gone.py", "source .venv/bin/activate", "bash -n scripts/deploy.sh",
    ] {
        let (answer, reason) = project.run(line);
        assert_eq!(answer, "pass", "{line}: {reason}");
    }
}

#[test]
fn g12_a_program_that_a_build_made_is_nobodys_business() {
    let mut project = Project::new(BEFORE_ALL);
    std::fs::create_dir_all(project.home.folder("acme").join("target/debug")).unwrap();
    std::fs::write(project.home.folder("acme").join("target/debug/app"), b"\x7fELF\0\x01\x02not a tool").unwrap();
    for line in ["./target/debug/app --force", "sudo -n true; ./target/debug/app -rf x"] {
        assert_ne!(project.answer(line), "deny", "{line}");
    }
}

#[test]
fn g14_a_copy_of_a_tool_and_a_link_to_one_are_that_tool_in_a_later_call() {
    let mut project = Project::new(BEFORE_ALL);
    let rm = ["/usr/bin/rm", "/bin/rm"].into_iter().find(|path| Path::new(path).exists()).unwrap();
    let folder = project.home.folder("acme");
    std::fs::copy(rm, folder.join("x")).unwrap();
    std::os::unix::fs::symlink(rm, folder.join("y")).unwrap();
    std::fs::copy(std::env::current_exe().unwrap(), folder.join("z")).unwrap();
    for (line, rule) in [("./x -rf ~", "rm-root"), ("./y -rf ~", "rm-root"), ("./z pause 1h", "taut-command")] {
        let (answer, reason) = project.run(line);
        assert_eq!(answer, "deny", "{line}");
        assert!(reason.contains(&format!("[{rule}]")), "{line}: {reason}");
    }
    assert_eq!(project.answer("./x notes.txt"), "pass");
}

#[test]
fn g12_a_file_that_never_ends_or_never_answers_holds_up_nobody() {
    let mut project = Project::new(AFTER_ALL);
    let folder = project.home.folder("acme");
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero.sh")).unwrap();
    std::os::unix::fs::symlink("loop.sh", folder.join("loop.sh")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe.sh")).status().unwrap().success());
    for line in ["bash zero.sh", "bash loop.sh", "bash pipe.sh", "./zero.sh", "source pipe.sh", "bash ."] {
        assert_eq!(project.answer(line), "pass", "{line}");
    }
}

/// Scripts of which each runs the next, and the last does what nobody may.
fn chain(project: &mut Project, deep: usize, filling: &str) {
    for at in 1..deep {
        project.write(&format!("s{at}.sh"), &format!("{filling}bash s{}.sh\n", at + 1));
    }
    project.write(&format!("s{deep}.sh"), "rm -rf ~\n");
}

#[test]
fn g12_scripts_that_run_scripts_are_followed_as_far_as_files_are_read() {
    for deep in [4, 7, 8] {
        let mut project = Project::new(AFTER_ALL);
        chain(&mut project, deep, "");
        let (answer, reason) = project.run("bash s1.sh");
        assert_eq!(answer, "deny", "{deep}: {reason}");
        assert!(reason.contains(&format!("[rm-root] s{deep}.sh:1 runs `")), "{reason}");
    }
}

#[test]
fn g12_a_ninth_file_that_the_session_wrote_is_asked_about_and_the_cause_is_said() {
    let mut project = Project::new(BEFORE_ALL);
    chain(&mut project, 9, "");
    let (answer, reason) = project.run("bash s1.sh");
    assert_eq!(answer, "ask", "{reason}");
    assert!(reason.contains("more than 8 files"), "{reason}");
    let mut before = Project::new(AFTER_ALL);
    chain(&mut before, 9, "");
    assert_eq!(before.answer("bash s1.sh"), "pass", "nobody is asked about what was there before");
}

#[test]
fn g12_what_is_too_much_to_be_read_of_all_files_together_is_asked_about_where_the_session_wrote_it() {
    let dense = "echo a \"$x\" | grep -v y && ls -la b; for i in 1 2 3; do echo $i; done\n".repeat(700);
    let files = [
        ("a.sh", dense.as_str()),
        ("b.sh", dense.as_str()),
        ("c.sh", dense.as_str()),
        ("all.sh", "bash a.sh\nbash b.sh\nbash c.sh\n"),
    ];
    let mut own = Project::new(BEFORE_ALL).with(&files);
    assert_eq!(own.answer("bash a.sh"), "pass", "one of them is read to its end");
    let (answer, reason) = own.run("bash all.sh");
    assert_eq!(answer, "ask", "{reason}");
    let mut before = Project::new(AFTER_ALL).with(&files);
    assert_eq!(before.answer("bash all.sh"), "pass");
}

#[test]
fn g12_long_scripts_that_run_each_other_are_read_so_often_and_what_is_left_is_asked_about() {
    let mut project = Project::new(BEFORE_ALL);
    chain(&mut project, 8, &"# what is done here, and why\n".repeat(1500));
    let (answer, reason) = project.run("bash s1.sh");
    assert_eq!(answer, "ask", "{reason}");
    assert!(reason.contains("more text from files than is read"), "{reason}");
}

#[test]
fn g12_what_the_line_gives_a_committed_script_is_the_lines_own_word() {
    let files = [
        ("with-env.sh", "#!/bin/sh\nset -a\nexec \"$@\"\n"),
        ("rmdir.sh", "rm -rf \"$1\"\n"),
        ("out.sh", "rm -rf \"${OUT:-dist}\"\n"),
        ("release.sh", "git tag \"$1\"\ngit push --force origin \"$1\"\n"),
        ("db.sh", "case \"$1\" in\n  reset) git reset --hard ;;\nesac\n"),
        ("Makefile", "run:\n\t$(CMD)\n\nforce:\n\tgit push --force origin $(B)\n"),
        (
            "package.json",
            "{\"scripts\": {\n\"git\": \"git\",\n\"push\": \"git push\",\n\"force\": \"git push --force\"\n}}\n",
        ),
        ("src/a.c", "int a;\n"),
    ];
    let mut project = Project::new(AFTER_ALL).with(&files);
    project.commit(&["Makefile", "db.sh", "out.sh", "package.json", "release.sh", "rmdir.sh", "with-env.sh"]);
    for line in [
        "sh with-env.sh git reset --hard", "make run CMD=\"git reset --hard\"", "npm run git -- reset --hard",
        "npm run push -- --force", "OUT=src sh out.sh", "sh rmdir.sh src",
    ] {
        assert_eq!(project.answer(line), "deny", "{line}");
    }
    for line in [
        "sh with-env.sh npm test", "sh release.sh v1.2.0", "sh db.sh reset", "make force B=main", "npm run force",
        "npm run git -- status", "OUT=build sh out.sh", "sh rmdir.sh node_modules",
    ] {
        assert_eq!(project.answer(line), "pass", "{line}");
    }
}

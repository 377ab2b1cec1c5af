use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

struct Repository {
    folder: tempfile::TempDir,
    tree: PathBuf,
}

impl Repository {
    /// With two files in its first commit.
    fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap().join("a tree");
        let made = Self { folder, tree };
        fs::create_dir(&made.tree).unwrap();
        made.git(&[&["init", "-q", "-b", "main"], options].concat());
        made.write("one.txt", "1\n2\n3\n");
        made.write("deep/two.txt", "a\nb\n");
        made
    }

    fn committed() -> Self {
        let made = Self::new(&[]);
        made.commit("first");
        made
    }

    fn commit(&self, words: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", words]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn base(&self) -> String {
        crate::probe::head_of(&self.tree).unwrap().commit.unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"]).args(args);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(&self.tree);
        let out = command.output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim().to_string()
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn diff(&self, base: &str) -> Result<SessionDiff, NoDiff> {
        self.diff_besides(base, &[])
    }

    fn diff_besides(&self, base: &str, before: &[UncommittedFile]) -> Result<SessionDiff, NoDiff> {
        let state = self.folder.path().join("state");
        session_diff(&DiffRequest {
            tree: &self.tree,
            base,
            before,
            home: &state,
            state: &state,
            limits: DiffLimits::WHOLE,
        })
    }

    fn uncommitted(&self, base: &str) -> Vec<UncommittedFile> {
        let state = self.folder.path().join("state");
        let limits = DiffLimits::SIZE;
        uncommitted(&DiffRequest { tree: &self.tree, base, before: &[], home: &state, state: &state, limits })
            .unwrap()
            .unwrap()
    }

    fn size(&self, base: &str) -> (u64, u64, u64) {
        let DiffSize { files, added, removed } = self.diff(base).unwrap().size;
        (files, added, removed)
    }

    /// Everything that git keeps of the repository, and when it was written.
    fn kept(&self) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
        let mut found = Vec::new();
        let mut folders = vec![self.tree.join(".git")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let meta = entry.metadata().unwrap();
                if meta.is_dir() {
                    folders.push(entry.path());
                } else {
                    found.push((entry.path(), fs::read(entry.path()).unwrap(), meta.modified().unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

#[test]
fn f4_a_diff_holds_commits_what_is_not_committed_and_files_that_git_does_not_know() {
    let repository = Repository::committed();
    let base = repository.base();
    assert_eq!(repository.diff(&base).unwrap(), SessionDiff::default());
    repository.write("one.txt", "1\n2\nthree\n");
    repository.commit("second");
    repository.write("deep/two.txt", "a\nb\nc\n");
    repository.git(&["add", "deep/two.txt"]);
    repository.write("deep/two.txt", "a\nb\nc\nd\n");
    repository.write("new/three \"\n.txt", "x\ny\n");
    repository.write(".gitignore", "*.log\n");
    repository.write("left.log", "out\n");
    let found = repository.diff(&base).unwrap();
    assert_eq!(found.size, DiffSize { files: 4, added: 1 + 2 + 2 + 1, removed: 1 });
    let names: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, [".gitignore", "deep/two.txt", "new/three \"\n.txt", "one.txt"]);
    assert!(found.patch.contains("-3\n+three\n") && found.patch.contains("+d\n"), "{}", found.patch);
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    fs::remove_file(repository.tree.join("one.txt")).unwrap();
    assert_eq!(repository.size(&base), (4, 2 + 2 + 1, 3));
}

/// Every setting by which a repository has something run leaves a mark here.
#[test]
fn f4_t2_nothing_that_a_repository_sets_is_run_and_nothing_of_it_is_written() {
    let repository = Repository::committed();
    let base = repository.base();
    let mark = repository.folder.path().join("mark");
    let script = repository.folder.path().join("leave-mark.sh");
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let run = script.to_str().unwrap();
    let hooks = repository.tree.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in ["post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction", "post-checkout"] {
        fs::copy(&script, hooks.join(name)).unwrap();
    }
    let driver = format!(
        "[core]\n\tfsmonitor = {run}\n\thooksPath = {}\n\tpager = {run}\n\tsshCommand = {run}\n\
         [filter \"f\"]\n\tclean = {run}\n\tsmudge = {run}\n\trequired = true\n[filter \"p\"]\n\tprocess = {run}\n\
         [diff]\n\texternal = {run}\n[diff \"d\"]\n\ttextconv = {run}\n\tcommand = {run}\n[pager]\n\tdiff = {run}\n\
         [credential]\n\thelper = {run}\n[alias]\n\tdiff = !{run}\n[include]\n\tpath = more\n",
        hooks.display()
    );
    let config = repository.tree.join(".git/config");
    fs::write(&config, fs::read_to_string(&config).unwrap() + &driver).unwrap();
    fs::write(repository.tree.join(".git/more"), format!("[diff \"e\"]\n\ttextconv = {run}\n")).unwrap();
    fs::write(repository.tree.join(".git/info/attributes"), "*.txt filter=f diff=d\n").unwrap();
    fs::write(repository.tree.join("deep/.gitattributes"), "* filter=p diff=e\n").unwrap();
    repository.write("one.txt", "1\n2\n3\n4\n");
    repository.write("deep/two.txt", "a\n");
    repository.write("deep/new.txt", "n\n");
    let before = repository.kept();
    assert_eq!(repository.size(&base), (4, 3, 1));
    assert!(!mark.exists(), "run: {}", fs::read_to_string(&mark).unwrap());
    assert!(repository.kept() == before, "something was written below .git");
    // The marks work: git itself runs them.
    let _ = Command::new("git").args(["diff", &base]).current_dir(&repository.tree).output().unwrap();
    assert!(mark.exists(), "nothing of this would have been run anyway");
}

#[test]
fn f4_what_is_marked_as_unchanged_is_looked_at_all_the_same() {
    let repository = Repository::committed();
    let base = repository.base();
    repository.git(&["update-index", "--assume-unchanged", "one.txt"]);
    repository.write("one.txt", "hidden\n");
    assert_eq!(repository.size(&base), (1, 1, 3));
}

#[test]
fn f4_unusual_repositories_are_told_in_plain_words_or_true_numbers() {
    let unborn = Repository::new(&[]);
    assert_eq!(unborn.base(), model::fact::UNBORN);
    assert_eq!(unborn.size(model::fact::UNBORN), (2, 5, 0), "before the first commit everything is new");
    let long = Repository::new(&["--object-format=sha256"]);
    long.commit("first");
    let base = long.base();
    assert_eq!(base.len(), 64);
    long.write("one.txt", "1\n");
    assert_eq!(long.size(&base), (1, 0, 2));
    let plain = tempfile::tempdir().unwrap();
    let request = DiffRequest {
        tree: plain.path(),
        base: &base,
        before: &[],
        home: plain.path(),
        state: plain.path(),
        limits: DiffLimits::WHOLE,
    };
    assert!(matches!(session_diff(&request), Err(NoDiff::NoRepository)));
    assert!(matches!(Repository::committed().diff(&"0".repeat(40)), Err(NoDiff::BaseGone)));
    assert!(matches!(Repository::committed().diff("--output=x"), Err(NoDiff::BaseGone)));
    let split = Repository::committed();
    split.git(&["update-index", "--split-index"]);
    let base = split.base();
    split.write("one.txt", "1\n2\n3\n4\n");
    assert_eq!(split.size(&base), (1, 1, 0), "its index lies in two files");
    let linked = Repository::committed();
    let side = Repository { tree: linked.tree.parent().unwrap().join("side"), folder: tempfile::tempdir().unwrap() };
    linked.git(&["worktree", "add", "-q", "-b", "side", side.tree.to_str().unwrap()]);
    side.write("one.txt", "1\n2\n3\n4\n");
    assert_eq!(side.size(&side.base()), (1, 1, 0), "a linked work tree");
    let sparse = Repository::committed();
    sparse.git(&["sparse-checkout", "set", "--no-cone", "/one.txt"]);
    let base = sparse.base();
    assert!(!sparse.tree.join("deep").exists());
    assert_eq!(sparse.size(&base), (0, 0, 0), "what is not checked out is not removed");
    let clone = Repository { tree: sparse.tree.parent().unwrap().join("clone"), folder: tempfile::tempdir().unwrap() };
    sparse.git(&[
        "clone",
        "-q",
        "--depth=1",
        &format!("file://{}", sparse.tree.display()),
        clone.tree.to_str().unwrap(),
    ]);
    clone.write("one.txt", "1\n2\n3\n4\n");
    assert_eq!(clone.size(&clone.base()), (1, 1, 0), "a clone without history");
}

#[test]
fn f4_what_is_not_text_or_too_large_counts_as_a_file_and_is_said() {
    let repository = Repository::committed();
    let base = repository.base();
    repository.write("picture", b"\x89PNG\0\0\0");
    repository.write("large", vec![b'x'; 2 << 20]);
    let found = repository.diff(&base).unwrap();
    assert_eq!(found.size, DiffSize { files: 1, added: 0, removed: 0 });
    assert_eq!(found.notes, ["1 new file too large to be counted", "1 file without lines: not text, or too large"]);
    let lines = "line\n".repeat(300_000);
    repository.write("one.txt", &lines);
    let found = repository.diff(&base).unwrap();
    assert_eq!((found.size.files, found.size.added, found.patch.len()), (2, 300_000, 1 << 20));
    assert!(found.notes.contains(&"only the first 1024 KiB of the diff are shown".to_string()), "{:?}", found.notes);
}

#[test]
fn f4_a_submodule_is_not_looked_into() {
    let inner = Repository::committed();
    let outer = Repository::committed();
    outer.git(&["submodule", "add", "-q", inner.tree.to_str().unwrap(), "sub"]);
    let base = outer.commit("with a submodule");
    let mark = outer.folder.path().join("mark");
    let config = outer.tree.join(".git/modules/sub/config");
    let monitor = format!("[core]\n\tfsmonitor = \"touch '{}'; false\"\n", mark.display());
    fs::write(&config, fs::read_to_string(&config).unwrap() + &monitor).unwrap();
    outer.write("sub/one.txt", "changed\n");
    let found = outer.diff(&base).unwrap();
    assert_eq!(found.size, DiffSize::default());
    assert_eq!(found.notes, ["what changed inside submodules is not in it"]);
    assert!(!mark.exists());
}

/// What git itself tells once everything is staged.
fn told_by_git(repository: &Repository, base: &str) -> DiffSize {
    repository.git(&["add", "-A"]);
    numstat::size(&numstat::read(repository.git(&["diff", "--cached", "-M", "--numstat", "-z", base]).as_bytes()))
}

#[test]
fn f4_the_numbers_are_those_of_git_whatever_was_edited() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |most: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % most
    };
    let names = ["a.txt", "b/c.txt", "b/d e.rs", "é.md", "f"];
    for round in 0..12 {
        let repository = Repository::committed();
        let base = repository.base();
        for _ in 0..8 {
            let name = names[random(5) as usize];
            match random(6) {
                0 => {
                    let _ = fs::remove_file(repository.tree.join(name));
                }
                1 => {
                    repository.git(&["add", "-A"]);
                    repository.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
                }
                2 => drop(repository.git(&["add", "-A"])),
                3 => {
                    let _ = fs::rename(repository.tree.join(name), repository.tree.join("renamed.txt"));
                }
                _ => {
                    let ends = if random(2) == 0 { "\n" } else { "" };
                    let lines: Vec<String> = (0..random(30)).map(|_| format!("line {}", random(12))).collect();
                    repository.write(name, lines.join("\n") + ends);
                }
            }
        }
        let ours = repository.diff(&base).unwrap().size;
        assert_eq!(ours, told_by_git(&repository, &base), "round {round}");
    }
}

#[test]
fn f4_what_was_not_committed_before_the_session_is_none_of_its_changes_until_it_touches_it() {
    let repository = Repository::committed();
    let base = repository.base();
    repository.write("one.txt", "mine\n");
    repository.write("draft (*).md", "mine too\n");
    fs::remove_file(repository.tree.join("deep/two.txt")).unwrap();
    let before = repository.uncommitted(&base);
    assert_eq!(before.len(), 3);
    assert_eq!(repository.diff_besides(&base, &before).unwrap(), SessionDiff::default());
    repository.write("draft (x).md", "the agent's\n");
    repository.commit("the agent commits it all");
    assert_eq!(repository.diff_besides(&base, &before).unwrap().files.len(), 1);
    repository.write("one.txt", "mine\nand the agent's\n");
    let found = repository.diff_besides(&base, &before).unwrap();
    assert_eq!(found.size, DiffSize { files: 2, added: 3, removed: 3 });
    assert_eq!(found.notes, ["1 file had changes that were not committed when it began: they are in it"]);
}

//! Git in a folder of its own: it reads the objects of a repository and the files of a work tree, and nothing that the
//! repository, or its user, has set. So no filter, monitor, hook, converter or helper is there to be run, whoever
//! changes the repository's settings and whenever; nothing is fetched; and all that git writes is thrown away.
//!
//! A few settings say how files lie on the disk. They are asked for by name and handed on.

use super::bounded_run::{Told, finish};
use super::scratch::Scratch;
use super::{DiffRequest, NoDiff, UncommittedFile, many};
use crate::probe::GitFolders;
use crate::programs;
use model::fact::UNBORN;
use std::fs::{DirBuilder, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use sys::outside::{self, Rules};

/// More names or numbers than this are not read.
pub const MOST_OUTPUT: usize = 8 << 20;

/// How files lie on the disk, and which of them nobody wants to see.
const HANDED_ON: &str = "^(core\\.(filemode|autocrlf|eol|safecrlf|symlinks|ignorecase|precomposeunicode|excludesfile|sparsecheckout)\
    |extensions\\.objectformat)$";

/// What our own would do besides.
const PLAIN: &[&str] = &[
    "core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false", "core.quotePath=false",
    "core.hooksPath=/dev/null", "core.bigFileThreshold=4m", "gc.auto=0", "maintenance.auto=false", "diff.renames=true",
];

const EMPTY_BLOB: [&str; 2] =
    ["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];
const EMPTY_TREE: [&str; 2] =
    ["4b825dc642cb6eb9a060e54bf8d69288fbee4904", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"];

/// A larger index is not copied.
const LARGEST_INDEX: u64 = 256 << 20;
/// Of files that git does not know.
const MOST_UNTRACKED: usize = 1_000;
const LARGEST_UNTRACKED: u64 = 1 << 20;
const MOST_UNTRACKED_BYTES: u64 = 16 << 20;

pub struct PrivateGit {
    program: PathBuf,
    tree: PathBuf,
    home: PathBuf,
    folders: GitFolders,
    scratch: Scratch,
    settings: Vec<String>,
    /// Ids have sixty-four digits instead of forty.
    long_ids: bool,
    deadline: Instant,
    limit: Duration,
    pub notes: Vec<String>,
}

impl PrivateGit {
    pub fn open(request: &DiffRequest<'_>) -> Result<Self, NoDiff> {
        let folders = GitFolders::of(request.tree).ok_or(NoDiff::NoRepository)?;
        let folders = GitFolders {
            own: folders.own.canonicalize().map_err(|_| NoDiff::NoRepository)?,
            common: folders.common.canonicalize().map_err(|_| NoDiff::NoRepository)?,
        };
        let mut git = Self {
            program: programs::find_or_search("git").ok_or(NoDiff::NoGit)?,
            tree: request.tree.to_path_buf(),
            home: request.home.to_path_buf(),
            folders,
            scratch: Scratch::make(request.state)?,
            settings: Vec::new(),
            long_ids: false,
            deadline: Instant::now() + request.limits.time,
            limit: request.limits.time,
            notes: Vec::new(),
        };
        git.read_settings()?;
        git.lay_out().map_err(|source| NoDiff::Scratch { folder: git.scratch.0.clone(), source })?;
        Ok(git)
    }

    /// Asking git for its settings runs nothing.
    fn read_settings(&mut self) -> Result<(), NoDiff> {
        let mut command = self.bare();
        command.arg("--git-dir").arg(&self.folders.own).args(["config", "-z", "--get-regexp", HANDED_ON]);
        // Ends with 1 where none of them is set.
        let told = finish(command, None, 64 << 10, self.deadline).ok_or(self.too_slow())?;
        for setting in told.out.split(|byte| *byte == 0) {
            let text = String::from_utf8_lossy(setting);
            let Some((name, value)) = text.split_once('\n') else { continue };
            if name == "extensions.objectformat" {
                self.long_ids = value.eq_ignore_ascii_case("sha256");
            } else {
                self.settings.push(format!("{name}={value}"));
            }
        }
        Ok(())
    }

    /// A repository that has nothing of its own but a way to the objects of another.
    fn lay_out(&self) -> std::io::Result<()> {
        let at = |name: &str| self.scratch.0.join(name);
        for folder in ["objects/info", "refs", "info"] {
            DirBuilder::new().recursive(true).mode(0o700).create(at(folder))?;
        }
        std::fs::write(at("HEAD"), "ref: refs/heads/none\n")?;
        let format = if self.long_ids {
            "repositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
        } else {
            "bare = false\n"
        };
        std::fs::write(at("config"), format!("[core]\n\t{format}"))?;
        let mut alternates = quoted(&self.folders.common.join("objects"));
        alternates.push(b'\n');
        std::fs::write(at("objects/info/alternates"), alternates)?;
        if let Ok(text) = outside::read(&self.folders.common.join("info/exclude"), &Rules::up_to(1 << 20)) {
            std::fs::write(at("info/exclude"), text)?;
        }
        Ok(())
    }

    /// The tree to compare with.
    pub fn base(&self, asked: &str) -> Result<String, NoDiff> {
        if asked == UNBORN {
            return Ok(self.one_of(EMPTY_TREE).to_string());
        }
        let is_id = matches!(asked.len(), 40 | 64) && asked.bytes().all(|byte| byte.is_ascii_hexdigit());
        let told = self.run(&["rev-parse", "--verify", "-q", &format!("{asked}^{{tree}}")], None, 1024)?;
        let tree = String::from_utf8_lossy(&told.out).trim().to_string();
        if is_id && told.status.success() && !tree.is_empty() { Ok(tree) } else { Err(NoDiff::BaseGone) }
    }

    /// The repository's index, copied, so that only files that were touched are read. One that cannot be used is made of
    /// the base, and then every file is.
    pub fn take_index(&mut self, base: &str) -> Result<(), NoDiff> {
        // "Unchanged" as somebody marked it is not believed.
        const REFRESH: [&str; 4] = ["update-index", "-q", "--ignore-submodules", "--really-refresh"];
        let copied = self.copy_index().is_ok();
        // Ends with 1 where a file differs.
        if copied && self.run(&REFRESH, None, MOST_OUTPUT)?.status.code().is_some_and(|code| code <= 1) {
            return Ok(());
        }
        let _ = std::fs::remove_file(self.index());
        let _ = std::fs::remove_file(self.scratch.0.join("index.lock"));
        self.run(&["read-tree", base], None, 1024)?.whole("read-tree")?;
        self.run(&REFRESH, None, MOST_OUTPUT).map(drop)
    }

    fn copy_index(&self) -> std::io::Result<()> {
        let refused = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        let (mut from, found) =
            outside::open(&self.folders.own.join("index"), &Rules::up_to(LARGEST_INDEX)).map_err(|_| refused())?;
        if found.len() > LARGEST_INDEX {
            return Err(refused());
        }
        let mut to = File::create(self.index())?;
        std::io::copy(&mut (&mut from).take(LARGEST_INDEX), &mut to)?;
        // Git compares the time of the index with those of the files to know which of them it has to read.
        to.set_modified(found.modified()?)
    }

    fn index(&self) -> PathBuf {
        self.scratch.0.join("index")
    }

    /// Files that git does not know are part of what changed: they stand in our index as empty, so that all of them is new.
    pub fn add_untracked(&mut self) -> Result<(), NoDiff> {
        let told = self.run(&["ls-files", "--others", "--exclude-standard", "-z"], None, MOST_OUTPUT)?;
        let cut = told.cut;
        let out = told.cut_or_whole("ls-files")?;
        let mut names: Vec<&[u8]> = out.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
        if cut {
            names.pop();
        }
        let (mut large, mut bytes, mut lines) = (0, 0_u64, Vec::new());
        for name in names.iter().take(MOST_UNTRACKED) {
            let found = std::fs::symlink_metadata(self.tree.join(std::ffi::OsStr::from_bytes(name)));
            // A repository inside this one is not looked into.
            let Some(found) = found.ok().filter(|found| found.is_file() || found.is_symlink()) else { continue };
            bytes = bytes.saturating_add(found.size());
            if found.size() > LARGEST_UNTRACKED || bytes > MOST_UNTRACKED_BYTES {
                large += 1;
                continue;
            }
            lines.extend_from_slice(format!("100644 {}\t", self.one_of(EMPTY_BLOB)).as_bytes());
            lines.extend_from_slice(name);
            lines.push(0);
        }
        if large > 0 {
            self.notes.push(format!("{} too large to be counted", many(large, "new file")));
        }
        if names.len() > MOST_UNTRACKED || cut {
            self.notes.push(format!("of the new files only {MOST_UNTRACKED} are in it"));
        }
        if lines.is_empty() {
            return Ok(());
        }
        let put = ["update-index", "--add", "--replace", "-z", "--index-info"];
        self.run(&put, Some(&lines), 1024)?.whole("update-index").map(drop)
    }

    /// The files as they are now. Links and what is not there have no content.
    pub fn contents(&self, mut names: Vec<String>) -> Result<Vec<UncommittedFile>, NoDiff> {
        // One is a line of what git reads, and a quote at its beginning is not taken as it is.
        names.retain(|name| !name.contains('\n') && !name.starts_with('"'));
        let is_file = |name: &str| std::fs::symlink_metadata(self.tree.join(name)).is_ok_and(|found| found.is_file());
        names.retain(|name| is_file(name) || std::fs::symlink_metadata(self.tree.join(name)).is_err());
        let (there, gone): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| is_file(name));
        let mut files: Vec<UncommittedFile> = gone.into_iter().map(|name| UncommittedFile(name, None)).collect();
        if there.is_empty() {
            return Ok(files);
        }
        let asked = there.join("\n") + "\n";
        let told = self.run(&["hash-object", "--stdin-paths"], Some(asked.as_bytes()), MOST_OUTPUT)?;
        let ids = String::from_utf8_lossy(&told.whole("hash-object")?).into_owned();
        files.extend(there.into_iter().zip(ids.lines()).map(|(name, id)| UncommittedFile(name, Some(id.to_string()))));
        Ok(files)
    }

    /// Which files are as they were then, each as what leaves it out, and how many are not.
    pub fn same_as(&self, before: &[UncommittedFile]) -> Result<(Vec<String>, usize), NoDiff> {
        if before.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let names = before.iter().map(|UncommittedFile(name, _)| name.clone()).collect();
        let now = match self.contents(names) {
            // One that cannot be read is not as it was.
            Err(NoDiff::Failed { .. }) => Vec::new(),
            now => now?,
        };
        let same: Vec<String> = before
            .iter()
            .filter(|file| now.contains(file))
            .map(|UncommittedFile(name, _)| format!(":(top,exclude,literal){name}"))
            .collect();
        let others = before.len() - same.len();
        Ok((same, others))
    }

    fn one_of(&self, ids: [&'static str; 2]) -> &'static str {
        let [short, long] = ids;
        if self.long_ids { long } else { short }
    }

    pub fn run(&self, args: &[&str], stdin: Option<&[u8]>, most: usize) -> Result<Told, NoDiff> {
        let mut command = self.bare();
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_DIR", &self.scratch.0);
        command.env("GIT_WORK_TREE", &self.tree).env("GIT_INDEX_FILE", self.index());
        for setting in self.settings.iter().map(String::as_str).chain(PLAIN.iter().copied()) {
            command.args(["-c", setting]);
        }
        command.args(args);
        finish(command, stdin, most, self.deadline).ok_or_else(|| self.too_slow())
    }

    fn too_slow(&self) -> NoDiff {
        NoDiff::TooSlow { limit: self.limit }
    }

    /// Nothing of our own environment: it may come from an agent.
    fn bare(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &self.home).env("LC_ALL", "C");
        let plain = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "true"),
        ];
        command.envs(plain).current_dir(&self.tree).arg("--no-pager").arg("--no-optional-locks");
        command.process_group(0);
        command
    }
}

/// As a line of git's list of alternates: a path that begins or goes on oddly stands in quotes.
fn quoted(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'#');
    if bytes.iter().all(is_plain) {
        return bytes.to_vec();
    }
    let mut quoted = vec![b'"'];
    for byte in bytes {
        if is_plain(byte) {
            quoted.push(*byte);
        } else {
            quoted.extend_from_slice(format!("\\{byte:03o}").as_bytes());
        }
    }
    quoted.push(b'"');
    quoted
}

//! npm, pnpm, yarn and bun: the scripts of `package.json`.

use super::{EntrySource, argument_text, joined_path, options, parent};
use crate::entries::{EntryPiece, ON_INSTALL, ON_PACK, ON_PUBLISH, ON_VERSION, Package};
use crate::reading::Word;
use crate::walk::{Place, Walker};

const VALUED: &[&str] = &[
    "-C", "-w", "-F", "--prefix", "--cwd", "--dir", "--workspace", "--filter", "--loglevel", "--registry", "--cache",
    "--userconfig", "--script-shell", "--tag", "--otp", "--access", "--omit", "--include", "--reporter",
    "--use-node-version", "--env-file", "--shell",
];

/// Commands of the managers themselves: no script is run by these names.
const OWN: &[&str] = &[
    "access", "adduser", "audit", "autoclean", "bin", "bugs", "build", "cache", "check", "completion", "config",
    "constraints", "create", "dedupe", "deploy", "deprecate", "diff", "dist-tag", "dlx", "docs", "doctor", "env",
    "exec", "explain", "explore", "fetch", "find-dupes", "fund", "get", "global", "help", "hook", "import", "info",
    "init", "la", "licenses", "link", "list", "ll", "ln", "login", "logout", "ls", "node", "npm", "org", "outdated",
    "owner", "patch", "patch-commit", "ping", "pkg", "plugin", "pm", "policies", "prefix", "profile", "prune", "query",
    "rebuild", "remove", "repl", "repo", "rm", "root", "sbom", "search", "set", "set-script", "setup", "shrinkwrap",
    "star", "store", "team", "token", "un", "uninstall", "unlink", "unplug", "unpublish", "up", "update", "upgrade",
    "version", "view", "whoami", "why", "x",
];

/// What a call asks for.
enum Asked<'w> {
    Script(String, &'w [Word]),
    Lifecycle(&'static [&'static str]),
    Both(&'static [&'static str], &'static str),
}

impl Walker {
    pub(super) fn open_package(&mut self, program: &str, args: &[Word], place: &Place) -> bool {
        let tool = if program == "yarnpkg" { "yarn" } else { program };
        let (mut options, operands) = options::split(args, VALUED);
        let (sub, rest) = match operands.split_first() {
            Some((sub, rest)) => (sub.known().unwrap_or_default(), rest),
            None if tool == "yarn" && options.is_empty() => ("install".to_string(), operands),
            None => return false,
        };
        if tool == "yarn" && matches!(sub.as_str(), "workspace" | "workspaces") {
            return self.open_yarn_workspace(&sub, rest, place);
        }
        // Options of `run` may stand before the script's name; npm takes them behind it as well.
        let (more, after) = options::split(rest, VALUED);
        options.extend(more);
        let npm_args;
        let mut given = after;
        if tool == "npm" {
            let (more, operands) = options::scattered(after, VALUED);
            options.extend(more);
            npm_args = operands;
            given = &npm_args;
        }
        if let Some(script) = options::value(&options, &["--script-shell"]) {
            let run = super::super::shells::RunFile { script, args: None, own_process: true };
            self.run_file(&run, crate::reading::Via::Shell(tool.to_string()), place);
        }
        let Some(asked) = asked(tool, &sub, given, rest) else { return false };
        if options::given(&options, &["--ignore-scripts", "-g", "--global"]) && !matches!(asked, Asked::Script(..)) {
            return false;
        }
        let folder = options::value(&options, &["-C", "--prefix", "--cwd", "--dir"]).cloned();
        let Some(folder) = self.entry_folder(folder.as_ref()) else { return false };
        let named =
            options.iter().filter(|(name, _)| matches!(name.as_str(), "-w" | "--workspace" | "-F" | "--filter"));
        let named: Vec<String> = named.filter_map(|(_, value)| value.as_ref()?.known()).collect();
        if named.is_empty() {
            return self.run_package(tool, &folder, &asked, place);
        }
        let mut found = false;
        for name in named.iter().take(4) {
            for folder in self.workspace(&folder, name) {
                found |= self.run_package(tool, &folder, &asked, place);
            }
        }
        found
    }

    /// `yarn workspace NAME script`, `yarn workspaces run script`.
    fn open_yarn_workspace(&mut self, sub: &str, rest: &[Word], place: &Place) -> bool {
        let (_, operands) = options::split(rest, VALUED);
        let (name, rest) = match operands.split_first() {
            Some((name, rest)) if sub == "workspace" => (name.known().unwrap_or_default(), rest),
            _ => return false,
        };
        let after = options::split(rest, VALUED).1;
        let Some((command, rest)) = after.split_first() else { return false };
        let command = command.known().unwrap_or_default();
        let Some(asked) = asked("yarn", &command, rest, rest) else { return false };
        let Some(folder) = self.entry_folder(None) else { return false };
        let mut found = false;
        for folder in self.workspace(&folder, &name) {
            found |= self.run_package("yarn", &folder, &asked, place);
        }
        found
    }

    /// `node --run script`.
    pub(super) fn open_node_run(&mut self, args: &[Word], place: &Place) -> bool {
        let words: Vec<String> = args.iter().take(16).map(Word::shown).collect();
        let at = words.iter().position(|word| word == "--run");
        let attached = words.iter().find_map(|word| word.strip_prefix("--run=")).map(str::to_string);
        let Some(name) = at.and_then(|at| words.get(at + 1).cloned()).or(attached) else { return false };
        let Some(folder) = self.entry_folder(None) else { return false };
        let rest = words.iter().position(|word| word == "--").and_then(|at| args.get(at + 1..)).unwrap_or_default();
        self.run_package("node", &folder, &Asked::Script(name, rest), place)
    }

    /// `npm-run-all a b:*`, `run-s`, `run-p`, `concurrently "npm:x"`.
    pub(super) fn open_several_scripts(&mut self, program: &str, args: &[Word], place: &Place) -> bool {
        let patterns: Vec<String> = args
            .iter()
            .filter_map(Word::known)
            .filter_map(|word| match program {
                "concurrently" => {
                    let (tool, name) = word.split_once(':')?;
                    matches!(tool, "npm" | "pnpm" | "yarn" | "bun" | "node").then(|| name.to_string())
                }
                _ => (!word.starts_with('-')).then_some(word),
            })
            .collect();
        let Some(folder) = self.entry_folder(None).filter(|_| !patterns.is_empty()) else { return false };
        let Some(file) = self.nearest(&folder, &["package.json"]) else { return false };
        let Some(package) = file.text().and_then(Package::parse) else { return false };
        for pattern in patterns.iter().take(64) {
            let (pattern, args) = pattern.split_once(' ').unwrap_or((pattern, ""));
            for name in package.fitting(pattern).into_iter().take(64) {
                let words: Vec<Word> = args.split_whitespace().map(Word::text).collect();
                self.run_package("npm", &folder, &Asked::Script(name, &words), place);
            }
        }
        // Other operands of it are commands.
        program != "concurrently"
    }

    /// Runs what is asked for of the package around `folder`; `false` when there is none of that.
    fn run_package(&mut self, tool: &str, folder: &str, asked: &Asked<'_>, place: &Place) -> bool {
        let Some(file) = self.nearest(folder, &["package.json"]) else { return false };
        let source = EntrySource::beside(file);
        let Some(package) = Package::parse(source.text()) else { return false };
        let pieces: Vec<EntryPiece> = match asked {
            Asked::Script(name, args) => {
                let pieces = package.script(name, &argument_text(args));
                // `npm restart` without a script of its own stops and starts.
                if pieces.is_empty() && name == "restart" {
                    [package.script("stop", ""), package.script("start", "")].concat()
                } else {
                    pieces
                }
            }
            Asked::Lifecycle(names) => package.scripts(names),
            Asked::Both(names, script) => [package.scripts(names), package.script(script, "")].concat(),
        };
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        if pieces.is_empty() || !self.first_time(&source, &texts.join("\n")) {
            return !pieces.is_empty();
        }
        self.run_pieces(&source, tool, &pieces, place);
        true
    }

    /// The folders that a workspace of that name may stand in: it is a path, or the last part of one that is listed.
    fn workspace(&mut self, folder: &str, name: &str) -> Vec<String> {
        let path = name.trim_start_matches('{').trim_end_matches(['}', '.']);
        if path.starts_with("./") || (path.contains('/') && !path.starts_with('@')) {
            return vec![joined_path(folder, path)];
        }
        let last = path.rsplit('/').next().unwrap_or(path);
        let Some(file) = self.nearest(folder, &["package.json"]) else { return Vec::new() };
        let root = parent(&file.path).to_string();
        let mut listed = file.text().and_then(Package::parse).map(|package| package.workspaces()).unwrap_or_default();
        if listed.is_empty() {
            listed.extend(["packages/*".to_string(), "apps/*".to_string()]);
        }
        let places = listed.iter().filter_map(|pattern| match pattern.strip_suffix("/*") {
            Some(above) => Some(format!("{above}/{last}")),
            None => (pattern.rsplit('/').next() == Some(last)).then(|| pattern.clone()),
        });
        let found: Vec<String> = places.take(3).map(|place| joined_path(&root, &place)).collect();
        // Only those that there are: `nearest` would find the package around them.
        found.into_iter().filter(|folder| self.in_folder(folder, &["package.json"]).is_some()).collect()
    }
}

fn asked<'w>(tool: &str, sub: &str, given: &'w [Word], rest: &'w [Word]) -> Option<Asked<'w>> {
    let named = |words: &'w [Word]| {
        let (name, args) = words.split_first()?;
        let args = match args.split_first() {
            Some((first, behind)) if first.shown() == "--" => behind,
            _ => args,
        };
        Some(Asked::Script(name.known()?, args))
    };
    let script = |name: &str, args| Some(Asked::Script(name.to_string(), args));
    Some(match (tool, sub) {
        (_, "run" | "run-script") | ("npm", "rum" | "urn") => named(given)?,
        ("bun", "test") => return None,
        ("npm" | "pnpm", "t" | "tst") => return script("test", given),
        (_, "test" | "start" | "stop" | "restart") => return script(sub, given),
        ("npm" | "pnpm", "it" | "install-test" | "cit" | "install-ci-test") => Asked::Both(ON_INSTALL, "test"),
        // With packages named npm leaves the scripts of the project alone.
        ("npm", "install" | "i" | "in" | "ins" | "inst" | "isntall") if !given.is_empty() => return None,
        (_, "install" | "i" | "ci" | "clean-install" | "ic" | "install-clean") => Asked::Lifecycle(ON_INSTALL),
        ("yarn" | "pnpm" | "bun", "add") => Asked::Lifecycle(ON_INSTALL),
        (_, "publish") => Asked::Lifecycle(ON_PUBLISH),
        (_, "pack") => Asked::Lifecycle(ON_PACK),
        (_, "version") => Asked::Lifecycle(ON_VERSION),
        ("npm", _) => return None,
        ("yarn" | "pnpm", "build" | "deploy" | "check" | "prefix" | "search" | "setup" | "docs") => {
            return script(sub, rest);
        }
        (_, own) if OWN.contains(&own) || own.is_empty() => return None,
        (_, name) => return script(name, rest),
    })
}

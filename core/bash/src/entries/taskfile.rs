//! `Taskfile.yml`: the commands of a task and of those it depends on.

use std::collections::HashSet;

use super::tree::{TreeNode, TreeValue};
use super::yaml::yaml;
use super::{DEPTH, EntryPiece, GROWTH, PIECES, unknown};

/// What was asked of `task`.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskCall {
    pub(crate) names: Vec<String>,
    /// `NAME=value` on the line.
    pub(crate) vars: Vec<(String, String)>,
    /// What stands behind `--`.
    pub(crate) args: String,
}

struct Run {
    tree: TreeNode,
    vars: Vec<(String, String)>,
    seen: HashSet<String>,
    pieces: Vec<EntryPiece>,
    grown: usize,
    /// Tasks that were gone into.
    entered: usize,
}

/// The shell that `task` would run.
pub(crate) fn taskfile(text: &str, call: &TaskCall) -> Vec<EntryPiece> {
    let tree = yaml(text);
    let mut run = Run { vars: Vec::new(), seen: HashSet::new(), pieces: Vec::new(), grown: 0, entered: 0, tree };
    let global = run.tree.get("vars").cloned().unwrap_or_default();
    run.declare(&global);
    run.vars.extend(call.vars.iter().cloned());
    run.vars.push(("CLI_ARGS".to_string(), call.args.clone()));
    if call.names.is_empty() {
        run.task("default", 0);
    }
    // One that is not there stops it before anything runs.
    let names: &[String] = if call.names.iter().all(|name| run.find(name).is_some()) { &call.names } else { &[] };
    for name in names {
        run.task(name, 0);
    }
    run.pieces
}

impl Run {
    fn task(&mut self, name: &str, depth: usize) {
        let name = name.trim_start_matches(':');
        self.entered += 1;
        if depth > DEPTH || self.entered > PIECES || !self.seen.insert(name.to_string()) {
            return;
        }
        let Some(task) = self.find(name).cloned() else { return };
        let kept = self.vars.len();
        let own = task.get("vars").cloned().unwrap_or_default();
        self.declare(&own);
        for other in task.get("deps").map(TreeNode::items).unwrap_or_default() {
            let other = other.text().or_else(|| other.get("task")?.text());
            if let Some(other) = other.map(str::to_string) {
                self.task(&other, depth + 1);
            }
        }
        let folder = task.get("dir").and_then(TreeNode::text).map(|folder| self.filled(folder));
        let commands = [task.get("cmds"), task.get("cmd"), Some(&task).filter(|task| task.entries().is_empty())];
        for command in commands.into_iter().flatten() {
            if let Some(text) = command.text() {
                self.piece(text, command.line, folder.clone());
            }
            for command in command.items() {
                self.command(command, folder.as_ref(), depth);
            }
        }
        self.vars.truncate(kept);
    }

    /// One of `cmds`: a text, `cmd:`, `defer:`, or another task.
    fn command(&mut self, command: &TreeNode, folder: Option<&String>, depth: usize) {
        let deferred = command.get("defer");
        let text = [Some(command), command.get("cmd"), deferred]
            .into_iter()
            .flatten()
            .find_map(|node| Some((node.line, node.text()?.to_string())));
        if let Some((line, text)) = text {
            self.piece(&text, line, folder.cloned());
            return;
        }
        let other = command.get("task").or_else(|| deferred?.get("task")).and_then(TreeNode::text);
        let Some(other) = other.map(str::to_string) else { return };
        let kept = self.vars.len();
        let given = command.get("vars").cloned().unwrap_or_default();
        self.declare(&given);
        // The same task may run again with other values.
        if self.vars.len() > kept {
            self.seen.remove(&other);
        }
        self.task(&other, depth + 1);
        self.vars.truncate(kept);
    }

    fn find(&self, name: &str) -> Option<&TreeNode> {
        let tasks = self.tree.get("tasks")?;
        tasks.get(name).or_else(|| {
            let called = |task: &TreeNode| {
                let aliases = task.get("aliases").map(TreeNode::texts).unwrap_or_default();
                aliases.iter().any(|(_, alias)| *alias == name)
            };
            tasks.entries().iter().map(|(_, task)| task).find(|task| called(task))
        })
    }

    /// Takes `vars:`; one that a shell gives runs it.
    fn declare(&mut self, vars: &TreeNode) {
        for (name, node) in vars.entries() {
            let value = match (&node.value, node.get("sh").and_then(TreeNode::text)) {
                (TreeValue::Text(text) | TreeValue::Plain(text), _) => self.filled(text),
                (_, Some(shell)) => {
                    let shell = self.filled(shell);
                    self.pieces.push(EntryPiece::new(shell.clone(), node.line));
                    format!("$({shell})")
                }
                _ => unknown(name),
            };
            self.vars.push((name.clone(), value));
        }
    }

    fn piece(&mut self, text: &str, line: usize, folder: Option<String>) {
        if self.pieces.len() < PIECES {
            let text = self.filled(text);
            self.pieces.push(EntryPiece { folder, ..EntryPiece::new(text, line) });
        }
    }

    /// `{{.NAME}}` as its value. A template that does more is not known.
    fn filled(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((inside, behind)) = after.split_once("}}") else { break };
            out.push_str(before);
            let name = inside.trim_matches(['-', ' ']).trim_start_matches('.');
            let value = self.vars.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
            match value.filter(|value| self.grown + out.len() + value.len() < GROWTH) {
                Some(value) => out.push_str(value),
                None => out.push_str(&unknown(name)),
            }
            rest = behind;
        }
        out.push_str(rest);
        self.grown += out.len();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str, names: &[&str]) -> Vec<(usize, String)> {
        let call = TaskCall { names: names.iter().map(ToString::to_string).collect(), ..TaskCall::default() };
        taskfile(text, &call).into_iter().map(|piece| (piece.line, piece.text)).collect()
    }

    #[test]
    fn g12_a_task_runs_what_it_depends_on_and_calls() {
        let text = "version: '3'\nvars:\n  OUT: build\ntasks:\n  default: echo hi\n  nuke:\n    deps: [a]\n    cmds:\n      \
                    - rm -rf {{.OUT}} {{.X}}\n      - task: b\n      - cmd: ls {{.CLI_ARGS}}\n  a:\n    - echo a\n  b:\n    \
                    cmd: echo b\n    aliases: [bee]\n";
        let pairs = |list: &[(usize, &str)]| list.iter().map(|(n, t)| (*n, t.to_string())).collect::<Vec<_>>();
        let found = [(13, "echo a"), (9, "rm -rf build ${X:?}"), (15, "echo b"), (11, "ls ")];
        assert_eq!(runs(text, &["nuke"]), pairs(&found));
        assert_eq!(runs(text, &[]), pairs(&[(5, "echo hi")]));
        assert_eq!(runs(text, &["bee"]), pairs(&[(15, "echo b")]));
        assert_eq!(runs(text, &["none"]), pairs(&[]));
    }

    #[test]
    fn hostile_tasks_end() {
        let text = "tasks:\n  a:\n    deps: [a, b]\n    cmds: [{task: b, vars: {X: '{{.X}}{{.X}}'}}]\n  b:\n    \
                    cmds: [{task: a, vars: {X: '{{.X}}{{.X}}'}}, {task: b, vars: {X: 1}}]\n";
        assert!(runs(text, &["a"]).is_empty());
    }
}

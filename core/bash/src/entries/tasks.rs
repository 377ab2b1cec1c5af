//! Task lists in TOML and JSON: Python's project file, cargo's aliases, mise, composer, deno.

use std::collections::HashSet;

use super::json::json;
use super::tree::{TreeNode, TreeValue, toml};
use super::{DEPTH, EntryPiece, PIECES, quoted};

/// Where a tool keeps its tasks, and how one of them calls others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskTable {
    Poe,
    Pdm,
    Hatch,
    Rye,
    Taskipy,
    Mise,
    Composer,
    Deno,
    Pipenv,
    Pixi,
    CargoMake,
}

/// One run through a task and those it calls.
struct Run<'a> {
    table: TaskTable,
    tasks: Vec<(&'a str, &'a TreeNode)>,
    seen: HashSet<&'a str>,
    pieces: Vec<EntryPiece>,
}

/// The shell that the tool would run for a task, with `args` behind it.
pub(crate) fn task(text: &str, table: TaskTable, name: &str, args: &str) -> Vec<EntryPiece> {
    let parsed = if matches!(table, TaskTable::Composer | TaskTable::Deno) { json(text) } else { toml(text) };
    let Some(tree) = parsed else { return Vec::new() };
    let mut run = Run { table, tasks: listed(&tree, table), seen: HashSet::new(), pieces: Vec::new() };
    run.task(name, args, 0);
    run.pieces
}

fn listed(tree: &TreeNode, table: TaskTable) -> Vec<(&str, &TreeNode)> {
    let path: &[&str] = match table {
        TaskTable::Poe => &["tool", "poe", "tasks"],
        TaskTable::Pdm => &["tool", "pdm", "scripts"],
        TaskTable::Rye => &["tool", "rye", "scripts"],
        TaskTable::Taskipy => &["tool", "taskipy", "tasks"],
        TaskTable::Mise | TaskTable::Deno | TaskTable::CargoMake => &["tasks"],
        TaskTable::Composer | TaskTable::Pipenv => &["scripts"],
        TaskTable::Pixi => &["tool", "pixi", "tasks"],
        TaskTable::Hatch => &["tool", "hatch", "envs"],
    };
    // hatch.toml has no `tool.hatch` before it, and each environment has scripts of its own.
    let found = tree.at(path).or_else(|| tree.get(path.last()?));
    let tables: Vec<&TreeNode> = match table {
        TaskTable::Hatch => {
            found.iter().flat_map(|envs| envs.entries()).filter_map(|(_, env)| env.get("scripts")).collect()
        }
        _ => found.into_iter().collect(),
    };
    tables.iter().flat_map(|table| table.entries()).map(|(name, node)| (name.as_str(), node)).collect()
}

impl<'a> Run<'a> {
    fn find(&self, name: &str) -> Option<(&'a str, &'a TreeNode)> {
        self.tasks.iter().find(|(known, _)| *known == name).copied()
    }

    fn task(&mut self, name: &str, args: &str, depth: usize) {
        let Some((name, node)) = self.find(name) else { return };
        if depth > DEPTH || !self.seen.insert(name) {
            return;
        }
        for around in ["pre_", "post_"] {
            if around == "post_" {
                self.body(node, args, depth);
            }
            let hook = format!("{around}{name}");
            if self.find(&hook).is_some() && matches!(self.table, TaskTable::Pdm | TaskTable::Taskipy) {
                self.task(&hook, "", depth + 1);
            }
        }
    }

    fn body(&mut self, node: &'a TreeNode, args: &str, depth: usize) {
        for key in ["deps", "depends", "dependencies", "depends-on"] {
            for (_, other) in node.get(key).map(TreeNode::texts).unwrap_or_default() {
                self.task(other.split_whitespace().next().unwrap_or_default(), "", depth + 1);
            }
        }
        match &node.value {
            TreeValue::Text(text) => self.text(text, node.line, args, depth),
            TreeValue::List(items) => items.iter().for_each(|item| self.step(item, args, depth)),
            TreeValue::Map(_) => self.table_task(node, args, depth),
            _ => {}
        }
    }

    /// A task that says how its text is to be taken.
    fn table_task(&mut self, node: &'a TreeNode, args: &str, depth: usize) {
        let folder = ["cwd", "dir", "working_dir"].iter().find_map(|key| node.get(key)?.text()).map(str::to_string);
        let from = self.pieces.len();
        if self.table == TaskTable::CargoMake {
            self.cargo_make(node, depth);
        }
        for key in ["cmd", "shell", "command", "run", "chain", "all"] {
            match node.get(key) {
                Some(_) if self.table == TaskTable::CargoMake => {}
                Some(found) if key == "cmd" && !found.items().is_empty() && self.table != TaskTable::Mise => {
                    let words: Vec<String> = found.texts().iter().map(|(_, word)| quoted(word)).collect();
                    self.piece(&words.join(" "), found.line, args);
                }
                Some(found) => match found.text() {
                    Some(text) => self.text(text, found.line, args, depth),
                    None => found.items().iter().for_each(|item| self.step(item, args, depth)),
                },
                None => {}
            }
        }
        for key in ["sequence", "composite", "parallel"] {
            for step in node.get(key).map(TreeNode::items).unwrap_or_default() {
                match step.text() {
                    Some(name) if self.reference(name, depth) => {}
                    // A step of pdm's is a command when no task has its name.
                    Some(text) if key == "composite" => self.piece(text, step.line, ""),
                    _ => self.body(step, "", depth + 1),
                }
            }
        }
        if let Some(other) = node.get("ref").and_then(TreeNode::text) {
            self.reference(other, depth);
        }
        let new = self.pieces.get_mut(from..).unwrap_or_default();
        new.iter_mut().for_each(|piece| piece.folder = folder.clone().or(piece.folder.take()));
    }

    /// `script`, or `command` with its `args`, or another task.
    fn cargo_make(&mut self, node: &'a TreeNode, depth: usize) {
        if let Some(script) = node.get("script") {
            let lines: Vec<&str> = script.texts().into_iter().map(|(_, line)| line).collect();
            self.piece(&lines.join("\n"), script.line, "");
        }
        if let Some(command) = node.get("command") {
            let args = node.get("args").map(TreeNode::texts).unwrap_or_default();
            let args: Vec<String> = args.iter().map(|(_, word)| quoted(word)).collect();
            self.piece(command.text().unwrap_or_default(), command.line, &args.join(" "));
        }
        if let Some(other) = node.get("run_task").and_then(TreeNode::text) {
            self.reference(other, depth);
        }
    }

    /// One of several: a command, in poe's lists the name of a task.
    fn step(&mut self, item: &'a TreeNode, args: &str, depth: usize) {
        match item.text() {
            Some(text) if self.table == TaskTable::Poe && self.reference(text, depth) => {}
            Some(text) => self.text(text, item.line, args, depth),
            None => self.body(item, args, depth + 1),
        }
    }

    /// Runs the task that a text begins with the name of, if there is one.
    fn reference(&mut self, text: &str, depth: usize) -> bool {
        let (name, args) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let found = self.find(name).is_some();
        if found {
            self.task(name, args, depth + 1);
        }
        found
    }

    fn text(&mut self, text: &'a str, line: usize, args: &str, depth: usize) {
        let table = self.table;
        match table {
            TaskTable::Composer => self.composer(text, line, args, depth),
            // In an environment's scripts the name of another stands for it.
            TaskTable::Hatch if self.reference(text, depth) => {}
            TaskTable::Hatch => self.piece(text.trim_start_matches("- ").trim_end_matches("{args}"), line, args),
            _ => self.piece(text, line, args),
        }
    }

    /// `@other`, `@php x`, `@composer x`, `@putenv X=y`; `Class::method` is PHP.
    fn composer(&mut self, text: &'a str, line: usize, args: &str, depth: usize) {
        let Some(told) = text.strip_prefix('@') else {
            if text.contains(' ') || !text.contains("::") {
                self.piece(text, line, args);
            }
            return;
        };
        let (word, rest) = told.split_once(' ').unwrap_or((told, ""));
        match word {
            "php" | "composer" => self.piece(told, line, args),
            "putenv" => self.piece(&format!("export {}", quoted(rest)), line, ""),
            "no_additional_args" | "additional_args" => self.piece(rest, line, ""),
            name => self.task(name, rest, depth + 1),
        }
    }

    fn piece(&mut self, text: &str, line: usize, args: &str) {
        if self.pieces.len() < PIECES && !text.trim().is_empty() {
            let text = if args.is_empty() { text.to_string() } else { format!("{text} {args}") };
            self.pieces.push(EntryPiece::new(text, line));
        }
    }
}

/// A cargo alias as the arguments it stands for.
pub(crate) fn cargo_alias(text: &str, name: &str) -> Option<(String, usize)> {
    let tree = toml(text)?;
    let alias = tree.get("alias")?.get(name)?;
    let words = match alias.text() {
        Some(text) => text.to_string(),
        None => alias.texts().iter().map(|(_, word)| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    Some((words, alias.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str, table: TaskTable, name: &str) -> Vec<String> {
        task(text, table, name, "").into_iter().map(|piece| format!("{}: {}", piece.line, piece.text)).collect()
    }

    #[test]
    fn g12_tasks_of_python_projects_are_found() {
        let poe = "[tool.poe.tasks]\na = \"echo a\"\nnuke = [\"a\", \"b\"]\nb.shell = \"rm -rf ~\"\nc = { cmd = \"ls\", deps = [\"a\"] }\n\
                   d = { sequence = [\"a\", { cmd = \"x\" }] }\n";
        assert_eq!(runs(poe, TaskTable::Poe, "nuke"), ["2: echo a", "4: rm -rf ~"]);
        assert_eq!(runs(poe, TaskTable::Poe, "c"), ["2: echo a", "5: ls"]);
        assert_eq!(runs(poe, TaskTable::Poe, "d"), ["2: echo a", "6: x"]);
        let pdm =
            "[tool.pdm.scripts]\npre_x = \"p\"\nx = {cmd = [\"rm\", \"a b\"]}\ny = {composite = [\"x\", \"ls -l\"]}\n";
        assert_eq!(runs(pdm, TaskTable::Pdm, "y"), ["2: p", "3: 'rm' 'a b'", "4: ls -l"]);
        let hatch = "[tool.hatch.envs.default.scripts]\ntest = \"pytest {args}\"\nall = [\"test\", \"- rm x\"]\n";
        assert_eq!(runs(hatch, TaskTable::Hatch, "all"), ["2: pytest ", "3: rm x"]);
        assert_eq!(
            runs("[tasks.x]\nrun = [\"a\", \"b\"]\ndepends = [\"y\"]\n[tasks]\ny = \"c\"\n", TaskTable::Mise, "x"),
            ["5: c", "2: a", "2: b"]
        );
        assert!(runs(poe, TaskTable::Pdm, "nuke").is_empty());
        assert_eq!(runs("[scripts]\nx = \"rm y\"\n", TaskTable::Pipenv, "x"), ["2: rm y"]);
        let pixi = "[tool.pixi.tasks]\na = \"ls\"\nx = { cmd = \"rm y\", depends-on = [\"a\"] }\n";
        assert_eq!(runs(pixi, TaskTable::Pixi, "x"), ["2: ls", "3: rm y"]);
        let make = "[tasks.a]\nscript = [\"cd x\", \"rm y\"]\n[tasks.x]\ndependencies = [\"a\"]\ncommand = \"rm\"\nargs = [\"-rf\", \"z\"]\n";
        assert_eq!(runs(make, TaskTable::CargoMake, "x"), ["2: cd x\nrm y", "5: rm '-rf' 'z'"]);
    }

    #[test]
    fn g12_scripts_of_composer_and_deno_are_found() {
        let composer = "{\"scripts\": {\n\"a\": [\"@b --x\", \"@php y.php\", \"Vendor\\\\C::run\", \"rm -rf ~\"],\n\"b\": \"ls\"\n}}";
        assert_eq!(runs(composer, TaskTable::Composer, "a"), ["3: ls --x", "2: php y.php", "2: rm -rf ~"]);
        let deno = "{\"tasks\": {\n\"a\": {\"command\": \"rm x\", \"dependencies\": [\"b\"]}, // c\n\"b\": \"ls\"}}";
        assert_eq!(runs(deno, TaskTable::Deno, "a"), ["3: ls", "2: rm x"]);
    }

    #[test]
    fn g12_cargo_aliases_are_texts_or_lists() {
        let text = "[alias]\nx = \"run -p xtask --\"\ny = [\"run\", \"--\", \"a b\"]\n";
        assert_eq!(cargo_alias(text, "x"), Some(("run -p xtask --".into(), 2)));
        assert_eq!(cargo_alias(text, "y"), Some(("'run' '--' 'a b'".into(), 3)));
        assert_eq!(cargo_alias(text, "z"), None);
    }

    #[test]
    fn hostile_lists_end() {
        assert!(runs("[tool.poe.tasks]\na = [\"a\", \"b\"]\nb = [\"a\"]\n", TaskTable::Poe, "a").is_empty());
        assert!(runs("{\"scripts\": {\"a\": [\"@a\", \"@b\"], \"b\": \"@a\"}}", TaskTable::Composer, "a").is_empty());
        assert!(runs("[", TaskTable::Mise, "a").is_empty());
    }
}

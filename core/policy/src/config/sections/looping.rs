//! `[loop]`, `[hooks]`, `[agents]`. The command line and the environment speak before `[loop]`, `.fresher/config.sh` after it.

use crate::config::declare::{Stated, table, texts, words};
use crate::config::types::{Dollars, Length};

table! {
    /// How `taut loop` runs an agent, and when it ends.
    pub struct LoopSection {
        /// The agent to run.
        agent: Stated<String> = Stated::default_of("claude-code".to_string()),
        /// The model the agent is to use.
        model: Option<String> = None,
        /// Turns of the agent in one iteration; 0 is as many as it likes.
        max_turns: Option<u32> = None,
        /// The agent does everything without asking, as with `--danger`.
        skip_permissions: Stated<bool> = Stated::default_of(false),
        /// What the agent may do without asking, since nobody is there to answer; without it a person is asked at the start.
        permissions: Option<PermissionMode> = None,
        /// With `permissions = "edits"`: commands the agent may run, by their first words, such as `"cargo test"`.
        commands: Vec<String> = Vec::new(),
        /// The command that must pass before a task counts as done.
        verify: Option<String> = None,
        /// The longest such a command may take; `"0s"` is a day.
        verify_timeout: Length = 1_800_000,
        /// So many agents at once on the queue, each in a work tree of its own.
        workers: Stated<u32> = Stated::default_of(1),
        /// How the work of several agents comes together.
        merge: MergeStyle = MergeStyle::Rebase,
        /// So often an agent is asked to solve the conflicts of one task, before a person is.
        merge_tries: u32 = 3,
        /// A command that makes a fresh work tree ready, such as one that copies what git ignores and builds need.
        worktree_setup: Option<String> = None,
        /// The remote that finished work is pushed to and others' is taken from, where several machines work on one queue.
        push: Option<RemoteName> = None,
        /// What is done with the files that a failed iteration left.
        failed_tree: FailedTree = FailedTree::Keep,
        /// More arguments for the agent.
        agent_args: Vec<String> = Vec::new(),
        /// Where the work is written down.
        source: Stated<WorkSource> = Stated::default_of(WorkSource::Auto),
        /// The plan.
        plan_file: Stated<String> = Stated::default_of("IMPLEMENTATION_PLAN.md".to_string()),
        /// The folder of the specifications.
        spec_dir: Stated<String> = Stated::default_of("specs".to_string()),
        /// The folder of the logs.
        log_dir: Stated<String> = Stated::default_of(".taut/logs".to_string()),
        /// Ends after so many iterations; 0 is unlimited.
        max_iterations: Stated<u32> = Stated::default_of(0),
        /// Ends after so long; `"0s"` is unlimited.
        max_time: Option<Length> = None,
        /// Ends when it has cost so many dollars; 0 is unlimited.
        max_cost: Option<Dollars> = None,
        /// Ends after so many failed iterations in a row; without it 1 on a plan and 5 on the queue.
        max_failures: Option<u32> = None,
        /// Ends after the same failure so many times in a row; 0 never.
        same_failures: Stated<u32> = Stated::default_of(3),
        /// Ends after so many iterations in a row that changed nothing, 0 never; without it 1 on a plan and 3 on the queue.
        idle_iterations: Option<u32> = None,
        /// Ends an iteration whose agent says nothing for so long while no tool of it runs; `"0s"` never.
        max_silence: Stated<Length> = Stated::default_of(1_800_000),
        /// Ends an iteration after so long; `"0s"` never.
        max_iteration_time: Stated<Length> = Stated::default_of(14_400_000),
        /// Ends after so many iterations in a row that a hook skipped.
        max_skips: Stated<u32> = Stated::default_of(10),
        /// The longest pause after an error of the service.
        max_backoff: Length = 300_000,
        /// Ends after a day in any case.
        ceiling: bool = true,
        /// Ends when nothing is left to do or nothing changes.
        smart_termination: Stated<bool> = Stated::default_of(true),
        /// What counts as progress: commits, tasks and files, or commits alone.
        progress: Stated<Progress> = Stated::default_of(Progress::Any),
    }
}

texts! {
    /// A remote of the project's repository.
    RemoteName: "the name of a remote such as \"origin\"", is_remote_name;
}

/// Nothing that git could take for an option or an address.
fn is_remote_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-');
    text.len() <= 100 && text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(plain)
}

words! {
    /// What a started agent may do without asking.
    pub enum PermissionMode("permissions") {
        /// What its own settings let it do.
        Ask = "ask",
        /// Edits inside the project, git add and commit, its tasks, and the commands that are named.
        Edits = "edits",
        /// Everything, as with `--danger`.
        All = "all",
    }
}

words! {
    /// How a finished branch joins the loop's own.
    pub enum MergeStyle("merge style") {
        Rebase = "rebase",
        Merge = "merge",
    }
}

words! {
    /// What is done with the files that a failed iteration left.
    pub enum FailedTree("treatment of a failed tree") {
        /// They stay where they are.
        Keep = "keep",
        /// They are kept in a ref, and the tree is as it was before.
        Aside = "aside",
    }
}

words! {
    /// What counts as progress.
    pub enum Progress("progress") {
        /// Commits, tasks, or files.
        Any = "any",
        Commits = "commits",
    }
}

words! {
    /// Where the work is written down.
    pub enum WorkSource("source") {
        /// The queue where it has tasks, else the plan file.
        Auto = "auto",
        Plan = "plan",
        Queue = "queue",
    }
}

pub const LOOP: &str = r#"[loop]
max_iterations = 20
max_time = "8h"
max_cost = 20.0
progress = "commits"
"#;

table! {
    /// The hooks of the loop.
    pub struct HooksSection {
        /// Hooks run at all.
        enabled: bool = true,
        /// Seconds after which a hook is killed; 0 is the default.
        timeout: u32 = 30,
        /// What a hook that fails or takes too long does to the loop.
        fail_behavior: FailBehavior = FailBehavior::Continue,
        /// Before the first iteration.
        started: HookSection = HookSection::default(),
        /// Before each iteration.
        next_iteration: HookSection = HookSection::default(),
        /// After each iteration.
        post_iteration: HookSection = HookSection::default(),
        /// At the end, whatever the end is.
        finished: HookSection = HookSection::default(),
    }
}

table! {
    /// One hook of the loop.
    pub struct HookSection {
        /// It runs.
        enabled: bool = true,
        /// The loop does not wait for it.
        background: bool = false,
        /// Seconds after which it is killed; without it those of all hooks.
        timeout: Option<u32> = None,
    }
}

words! {
    /// What a hook that fails does to the loop.
    pub enum FailBehavior("behavior") {
        Continue = "continue",
        Abort = "abort",
    }
}

pub const HOOKS: &str =
    "[hooks]\ntimeout = 30\nfail_behavior = \"continue\"\n\n[hooks.post_iteration]\nbackground = true\n";

table! {
    /// An agent of your own.
    pub struct AgentSection {
        /// Program and arguments; `{prompt}` stands for the prompt, which is read from stdin otherwise.
        [needed] command: Vec<String> = Vec::new(),
    }
}

pub const AGENTS: &str = "[agents.mine]\ncommand = [\"my-agent\", \"--prompt\", \"{prompt}\"]\n";

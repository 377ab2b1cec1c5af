//! The table of rules: the only list of all of them.

mod access_grant;
mod account_change;
mod agent_part_remove;
mod agent_settings;
mod agent_settings_edit;
mod aws_delete;
mod chmod_system;
mod cloud_delete;
mod crontab_remove;
mod database_drop;
mod decode_to_shell;
mod device_write;
mod disk_format;
mod docker_destroy;
mod file_empty;
mod fork_bomb;
mod framework_db_reset;
mod git_branch_delete;
mod git_clean;
mod git_discard;
mod git_force_push;
mod git_hook_write;
mod git_push_delete;
mod git_reset_hard;
mod git_rewrite_history;
mod git_stash_drop;
mod git_worktree_remove;
mod helm_uninstall;
mod history_wipe;
mod http_delete;
mod key_delete;
mod kill_all;
mod kill_by_name;
mod kubectl_delete;
mod machine_stop;
mod package_purge;
mod pipe_to_shell;
mod plain_index;
mod platform_destroy;
mod protected_write;
mod publish_package;
mod publish_release;
mod rm_outside_project;
mod rm_project;
mod rm_root;
mod rm_system;
mod rm_unknown;
mod rm_unknown_root;
mod run_download;
mod secret_read;
mod secret_send;
mod setuid;
mod shred_file;
mod sql_destroy;
mod sudo;
mod taut_command;
mod taut_files;
mod taut_identity;
mod taut_remove;
mod terraform_destroy;
mod unguarded_agent;
mod unknown_program;
mod unreadable;
mod vcs_discard;
mod windows_destroy;

pub(crate) use http_delete::local_host as is_local_host;

use crate::command_facts::CommandFacts;
use crate::path_actions::PathActionKind;
use crate::rule::{Pack, Rule, RuleTrigger};
use crate::running::EXECUTORS;
use crate::tools::{self, ToolTable};
use bash::Command;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Every rule, in the order they speak.
pub static ALL: &[&Rule] = &[
    &rm_root::RULE,
    &rm_system::RULE,
    &rm_outside_project::RULE,
    &rm_project::RULE,
    &rm_unknown_root::RULE,
    &rm_unknown::RULE,
    &shred_file::RULE,
    &file_empty::RULE,
    &crontab_remove::RULE,
    &git_force_push::RULE,
    &git_push_delete::RULE,
    &git_reset_hard::RULE,
    &git_clean::RULE,
    &git_discard::RULE,
    &git_branch_delete::RULE,
    &git_stash_drop::RULE,
    &git_rewrite_history::RULE,
    &git_worktree_remove::RULE,
    &git_hook_write::RULE,
    &vcs_discard::RULE,
    &kill_by_name::RULE,
    &kill_all::RULE,
    &fork_bomb::RULE,
    &sudo::RULE,
    &chmod_system::RULE,
    &setuid::RULE,
    &account_change::RULE,
    &access_grant::RULE,
    &machine_stop::RULE,
    &package_purge::RULE,
    &device_write::RULE,
    &disk_format::RULE,
    &windows_destroy::RULE,
    &pipe_to_shell::RULE,
    &decode_to_shell::RULE,
    &run_download::RULE,
    &plain_index::RULE,
    &protected_write::RULE,
    &history_wipe::RULE,
    &key_delete::RULE,
    &secret_read::RULE,
    &secret_send::RULE,
    &sql_destroy::RULE,
    &database_drop::RULE,
    &framework_db_reset::RULE,
    &terraform_destroy::RULE,
    &kubectl_delete::RULE,
    &helm_uninstall::RULE,
    &docker_destroy::RULE,
    &aws_delete::RULE,
    &cloud_delete::RULE,
    &platform_destroy::RULE,
    &http_delete::RULE,
    &publish_package::RULE,
    &publish_release::RULE,
    &taut_command::RULE,
    &taut_files::RULE,
    &taut_remove::RULE,
    &taut_identity::RULE,
    &agent_settings::RULE,
    &agent_settings_edit::RULE,
    &agent_part_remove::RULE,
    &unguarded_agent::RULE,
    &unknown_program::RULE,
    &unreadable::RULE,
];

/// Which rules look at a program, by its name.
static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<&'static Rule>>> = LazyLock::new(|| {
    let mut map: HashMap<&'static str, Vec<&'static Rule>> = HashMap::new();
    for rule in ALL {
        let programs: Vec<&'static str> = match rule.watch {
            RuleTrigger::Programs(programs) => programs.to_vec(),
            RuleTrigger::Tools(table) => table.tools.iter().flat_map(|tool| tool.programs).copied().collect(),
            RuleTrigger::Running => EXECUTORS.to_vec(),
            _ => continue,
        };
        for program in programs {
            let rules = map.entry(program).or_default();
            if !rules.iter().any(|known| std::ptr::eq(*known, *rule)) {
                rules.push(rule);
            }
        }
    }
    map
});

/// The tables of calls that rules look for.
pub(crate) fn tool_tables() -> impl Iterator<Item = &'static ToolTable> {
    let watched = ALL.iter().filter_map(|rule| match rule.watch {
        RuleTrigger::Tools(table) => Some(table),
        _ => None,
    });
    watched.chain([&framework_db_reset::CODE, &package_purge::WHOLESALE])
}

/// Where each rule stands in the table.
static POSITIONS: LazyLock<HashMap<&'static str, usize>> =
    LazyLock::new(|| ALL.iter().enumerate().map(|(at, rule)| (rule.id, at)).collect());

/// The rule of that id.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.get(position(id)?).copied()
}

pub(crate) fn position(id: &str) -> Option<usize> {
    POSITIONS.get(id).copied()
}

/// The rules that have something to look at in a command.
pub(crate) fn watching<'s>(seen: &'s CommandFacts, command: &'s Command) -> impl Iterator<Item = &'static Rule> + 's {
    let by_name =
        seen.program.as_deref().and_then(|program| BY_PROGRAM.get(program)).map(Vec::as_slice).unwrap_or_default();
    let run = tools::run_by(seen, command).flat_map(|tool| BY_PROGRAM.get(tool)).flatten().copied();
    let run =
        run.filter(|rule| matches!(rule.watch, RuleTrigger::Tools(_)) && !by_name.iter().any(|own| own.id == rule.id));
    // Who only asks harms nothing; what concerns Taut itself is judged by its own rules.
    let judges = |rule: &&Rule| !seen.only_shows || rule.pack == Pack::SelfProtection;
    let deeds = ALL.iter().copied().filter(|_| !seen.acts.is_empty()).filter(|rule| match rule.watch {
        RuleTrigger::Deeds(kinds) => seen.acts.iter().any(|act| kinds.contains(&act.deed.kind())),
        _ => false,
    });
    let nameless = seen.program.is_none() && !command.words.is_empty();
    let nameless = ALL
        .iter()
        .copied()
        .filter(move |rule| nameless && matches!(rule.watch, RuleTrigger::Nameless | RuleTrigger::Running));
    by_name.iter().copied().chain(run).filter(judges).chain(deeds).chain(nameless)
}

/// Deeds that take something away.
const REMOVAL: &[PathActionKind] = &[PathActionKind::Remove, PathActionKind::Displace];

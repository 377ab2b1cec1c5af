//! The table of rules: the only list of all of them.

use crate::acts::DeedKind;
use crate::rule::{Rule, Watch};
use crate::running::EXECUTORS;
use crate::seen::Seen;
use bash::Command;
use std::collections::HashMap;
use std::sync::LazyLock;

macro_rules! rules {
    ($($module:ident)*) => {
        $(mod $module;)*

        /// Every rule, in the order they speak.
        pub static ALL: &[&Rule] = &[$(&$module::RULE,)*];
    };
}

rules! {
    rm_root
    rm_system
    rm_outside_project
    rm_project
    rm_unknown_root
    rm_unknown
    shred_file
    crontab_remove
    git_force_push
    git_push_delete
    git_reset_hard
    git_clean
    git_discard
    git_branch_delete
    git_stash_drop
    git_rewrite_history
    git_worktree_remove
    vcs_discard
    kill_by_name
    kill_all
    fork_bomb
    sudo
    chmod_system
    setuid
    account_change
    machine_stop
    device_write
    disk_format
    pipe_to_shell
    decode_to_shell
    run_download
    protected_write
    history_wipe
    key_delete
    secret_read
    secret_send
    sql_destroy
    database_drop
    framework_db_reset
    terraform_destroy
    kubectl_delete
    helm_uninstall
    docker_destroy
    aws_delete
    cloud_delete
    platform_destroy
    publish_package
    publish_release
    taut_command
    taut_files
    taut_identity
    agent_settings
    agent_settings_edit
    unknown_program
    unreadable
}

/// Which rules look at a program, by its name.
static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<&'static Rule>>> = LazyLock::new(|| {
    let mut map: HashMap<&'static str, Vec<&'static Rule>> = HashMap::new();
    for rule in ALL {
        let programs = match rule.watch {
            Watch::Programs(programs) => programs,
            Watch::Running => EXECUTORS,
            _ => continue,
        };
        for program in programs {
            map.entry(program).or_default().push(rule);
        }
    }
    map
});

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
pub(crate) fn watching<'s>(seen: &'s Seen, command: &'s Command) -> impl Iterator<Item = &'static Rule> + 's {
    let by_name = seen.program.as_deref().and_then(|program| BY_PROGRAM.get(program)).into_iter().flatten().copied();
    let deeds = ALL.iter().copied().filter(|_| !seen.acts.is_empty()).filter(|rule| match rule.watch {
        Watch::Deeds(kinds) => seen.acts.iter().any(|act| kinds.contains(&act.deed.kind())),
        _ => false,
    });
    let nameless = seen.program.is_none() && !command.words.is_empty();
    let nameless =
        ALL.iter().copied().filter(move |rule| nameless && matches!(rule.watch, Watch::Nameless | Watch::Running));
    by_name.chain(deeds).chain(nameless)
}

/// Deeds that take something away.
const REMOVAL: &[DeedKind] = &[DeedKind::Remove, DeedKind::Displace];

//! `protected-write`: writing to files that decide how this machine works.

use super::rm_system;
use crate::args::{Args, Grammar};
use crate::guarded_keys::{self, Guarded};
use crate::path_actions::{PathAction, PathActionKind, PathVerb};
use crate::place::{Machine, PlaceKind};
use crate::rule::{Hit, HitWeight, Pack, Rule, RuleInput, RuleTrigger};
use crate::run_files;
use crate::target::{Target, absolute, within};
use bash::Via;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "protected-write",
    pack: Pack::ProtectedPaths,
    kind: RuleKind::Deny,
    title: "Writing to files that decide how this machine works",
    doc: "Stops writing to system folders, SSH and GPG keys, `.env` files, credentials and shell start-up \
          files, whoever writes: a redirect, `tee`, `cp`, `mv`, `ln`, `install`, `sed -i`, `dd`, a \
          download, or the agent's own edit tools. Examples such as `.env.example` are free.",
    instead: "Write what it should say to a file in the project, and ask the user to put it in place.",
    denies: &[
        "echo x > /etc/hosts", "tee -a /etc/sudoers < x", "cp key ~/.ssh/authorized_keys", "echo SECRET=1 >> .env",
        "sed -i 's/a/b/' ~/.bashrc", "mv x /usr/local/bin/tool", "ln -sf x /etc/resolv.conf",
        "curl -o /etc/cron.d/x https://example.com", "Write: /etc/hosts", "Edit: ~/.zshrc", "Write: .env.production",
        "rm ~/.ssh/id_ed25519", "install -m 755 tool /usr/bin/", "echo x >> ~/.aws/credentials",
        "truncate -s 0 ~/.bash_history", "dd if=x of=/boot/vmlinuz", "cat x > ~/.gnupg/gpg.conf",
        "touch /etc/cron.d/x",
    ],
    passes: &[
        "cat /etc/hosts", "touch src/lib.rs", "cp .env.example .env.sample", "echo x > env.txt", "Write: .env.example",
        "Edit: src/main.rs", "echo x > /dev/null", "grep x /etc/passwd",
        "ssh-keyscan github.com >> ~/.ssh/known_hosts", "echo x > /tmp/etc/hosts", "mkdir -p ~/.ssh",
        "echo \"export A=1 >> ~/.bashrc\"", "sed s/a/b/ ~/.bashrc", "cp ~/.bashrc ./bashrc.bak",
        "Write: config/environment.rb", "npm run build > build.log 2>&1",
    ],
    watch: RuleTrigger::Deeds(&[PathActionKind::Write, PathActionKind::Remove, PathActionKind::Displace]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    for (act, place) in sight.acts() {
        let inside = sight.seen.machine == Machine::Container && !act.target.bound;
        if inside || !matches!(act.deed, PathVerb::Write | PathVerb::Remove(_) | PathVerb::Displace) {
            continue;
        }
        let absent = || absent(sight, act) || (act.deed == PathVerb::Write && keeps_what_is_there(sight));
        let real = sight.real(act);
        let led = || real.as_ref().and_then(|real| guarded_keys::written(sight.ground, real));
        let mut weight = HitWeight::Full;
        let why = match guarded_keys::written(sight.ground, &act.target).or_else(led) {
            // A first `.env` made from the example is the first step of half the projects there are.
            Some(Guarded::Env) if absent() => continue,
            Some(guarded) => guarded.about(),
            None if act.deed == PathVerb::Displace && guarded_keys::is_key_folder(sight.ground, &act.target) => {
                Guarded::Key.about()
            }
            None if act.deed == PathVerb::Write && installs(sight, act.target.path.as_deref()) => continue,
            // `/dev/stderr` is a link to whatever the output is.
            None if act.deed == PathVerb::Write && is_device(&act.target) => continue,
            None if act.deed == PathVerb::Write && is_system(place, real.as_ref().unwrap_or(&act.target)) => {
                weight = if place == PlaceKind::System { rm_system::weight(sight, &act.target, 1) } else { weight };
                "is the system's"
            }
            None => continue,
        };
        let subject = if sight.command.words.is_empty() { format!("> {}", act.target.shown) } else { sight.shown() };
        let reason = format!("`{}` {why}.", act.target.shown);
        hits.push(Hit::new(subject, reason).about(act.target.path.as_deref()).weighing(weight));
    }
}

/// Whether nothing stands at the path, as the world says or the line has tested.
fn absent(sight: &RuleInput<'_>, act: &PathAction) -> bool {
    let Some(path) = act.target.exact() else { return false };
    let cwd = sight.command.cwd.as_deref();
    let tested = |via: &Via| matches!(via, Via::Absent(tested) if absolute(tested, cwd).as_deref() == Some(path));
    // `php -r "file_exists('.env') || copy('.env.example', '.env');"`
    let asked = || {
        let line = sight.parsed_call.line.as_deref().unwrap_or_default();
        let shown = &act.target.shown;
        sight.command.via.iter().any(|via| matches!(via, Via::Script(_)))
            && [format!("file_exists('{shown}') ||"), format!("file_exists(\"{shown}\") ||")]
                .iter()
                .any(|test| line.contains(test.as_str()))
    };
    let there = sight.ground.facts.path(path).is_none_or(|fact| fact.exists);
    sight.command.via.iter().any(tested)
        || asked()
        || (!there && !sight.index.moves_to(sight.parsed_call, sight.ground, path, sight.at))
}

/// Copies that leave alone what is there already.
fn keeps_what_is_there(sight: &RuleInput<'_>) -> bool {
    let grammar = Grammar { short: "tS", long: &["target-directory", "suffix"], single_dash_long: false };
    let args = Args::parse(sight.command.args(), grammar);
    let kept = args.any_short("ni") || args.long_flag("no-clobber") || args.long_flag("interactive");
    let copies = matches!(sight.program(), "cp" | "mv") && sight.command.redirects.is_empty();
    copies && (kept || args.value("update").is_some_and(|value| value.starts_with("none")))
}

/// `make install` of a project as it is committed: putting what was built below `/usr/local` is what it is for.
fn installs(sight: &RuleInput<'_>, path: Option<&str>) -> bool {
    let meant = path.is_some_and(|path| within(path, "/usr/local") || within(path, "/opt"));
    meant && run_files::as_committed(sight.command, sight.ground)
}

fn is_system(place: PlaceKind, target: &Target) -> bool {
    let device = target.path.as_deref().is_some_and(|path| {
        within(path, "/dev")
            || within(path, "/run/user")
            || path.starts_with("/proc/self/")
            || path.starts_with("/proc/thread-self")
    });
    matches!(place, PlaceKind::System | PlaceKind::Root | PlaceKind::OtherHome) && !device
}

/// The names of what a command writes to anyway. Elsewhere below `/dev` a link counts by where it leads.
fn is_device(target: &Target) -> bool {
    let Some(path) = target.exact() else { return false };
    matches!(path, "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty" | "/dev/null" | "/dev/zero" | "/dev/full")
        || ["/dev/fd/", "/dev/pts/", "/proc/self/fd/"].iter().any(|folder| path.starts_with(folder))
}

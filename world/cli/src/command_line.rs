//! The one definition of the command line, with its groups and examples: parsing, help, completions, manual pages and
//! `docs/cli.md` are made from it.

use crate::args::Taut;
use clap::{ColorChoice, Command, CommandFactory};
use std::ffi::OsString;
use std::fmt::Write;

/// What belongs together, in the order in which people meet it: each command by its example.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    (
        "Start",
        &[
            ("init", "taut init"),
            ("doctor", "taut doctor"),
            ("demo", "taut demo"),
            ("uninstall", "taut uninstall --dry-run"),
            ("version", "taut version"),
            ("self", "taut self"),
            ("completions", "taut completions bash"),
            ("man", "taut man | man -l -"),
        ],
    ),
    (
        "Guard",
        &[
            ("explain", "taut explain rm -rf build"),
            ("guard", "echo 'rm -rf /' | taut guard"),
            ("scan", "taut scan deploy.sh"),
            ("policy", "taut policy list"),
            ("allow", "taut allow 7kf2"),
            ("pause", "taut pause 10m"),
            ("trust", "taut trust --show"),
            ("config", "taut config show"),
        ],
    ),
    (
        "Watch and answer agents",
        &[
            ("top", "taut top"),
            ("ui", "taut ui"),
            ("agents", "taut agents --watch"),
            ("agent", "taut agent name acme.2 reviewer"),
            ("answer", "taut answer"),
            ("say", "taut say api 'go on with the tests'"),
            ("send", "taut send api 'the schema has changed'"),
            ("inbox", "taut inbox --all"),
            ("notify", "taut notify on"),
            ("tmux", "taut tmux apply"),
            ("statusline", "taut statusline < status.json"),
            ("diff", "taut diff api --stat"),
        ],
    ),
    (
        "Look back",
        &[
            ("undo", "taut undo list"),
            ("events", "taut events --denied"),
            ("sessions", "taut sessions --all"),
            ("stats", "taut stats --by project"),
            ("replay", "taut replay 3f2a"),
            ("recall", "taut recall 'failing migration'"),
            ("metrics", "taut metrics"),
            ("telemetry", "taut telemetry status"),
        ],
    ),
    (
        "Remember",
        &[
            ("memory", "taut memory status"),
            ("remember", "taut remember 'tests need a database'"),
            ("forget", "taut forget 3"),
            ("facts", "taut facts"),
            ("continue", "taut continue"),
        ],
    ),
    (
        "Tasks, loops and runs",
        &[
            ("task", "taut task list"),
            ("loop", "taut loop build -n 5"),
            ("run", "taut run -- <agent>"),
            ("effort", "taut effort list"),
            ("session", "taut session status"),
            ("log", "taut log 'all tests pass'"),
            ("status", "taut status 'mending the tests'"),
            ("worker", "taut worker done --summary 'merged'"),
            ("shared", "taut shared status"),
        ],
    ),
    (
        "Inside",
        &[
            ("daemon", "taut daemon status"),
            ("db", "taut db check"),
            ("mcp", "taut mcp"),
            ("rpc", "taut rpc status --json"),
            ("hook", "taut hook --help"),
        ],
    ),
];

/// How wide the help of all commands is: what people show and record is not wider.
const WIDEST: usize = 100;
const EXAMPLE_WIDTH: usize = 42;

/// The whole command line.
pub fn cli_command() -> Command {
    let mut command = Taut::command();
    for (name, example) in GROUPS.iter().flat_map(|(_, commands)| *commands) {
        if command.find_subcommand(name).is_some() {
            command = command.mut_subcommand(name, |inner| inner.after_help(format!("Example: {example}")));
        }
    }
    let all = all_commands(&command);
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\nAlone, `taut` shows how things stand here.\n\n{all}Options:\n{{options}}\n\n\
         `taut help <command>` says more of one."
    ))
}

/// The groups: what to type, and what it does.
fn all_commands(command: &Command) -> String {
    let mut out = String::new();
    let about = |name: &str| Some(command.find_subcommand(name)?.get_about()?.to_string());
    let mut group = |name: &str, commands: &[(&str, &str)]| {
        let known: Vec<_> = commands.iter().filter_map(|(name, example)| Some((*example, about(name)?))).collect();
        if known.is_empty() {
            return;
        }
        let _ = writeln!(out, "{name}:");
        for (example, about) in known {
            let mut lines = wrapped(&about, WIDEST - EXAMPLE_WIDTH).into_iter();
            let _ = writeln!(out, "  {example:<width$}{}", lines.next().unwrap_or_default(), width = EXAMPLE_WIDTH - 2);
            for line in lines {
                let _ = writeln!(out, "{:EXAMPLE_WIDTH$}{line}", "");
            }
        }
        out.push('\n');
    };
    for (name, commands) in GROUPS {
        group(name, commands);
    }
    // What has no example yet is listed all the same.
    let rest: Vec<(&str, String)> = ungrouped(command).map(|name| (name, format!("taut {name}"))).collect();
    group("More", &rest.iter().map(|(name, example)| (*name, example.as_str())).collect::<Vec<_>>());
    out
}

fn ungrouped(command: &Command) -> impl Iterator<Item = &str> {
    let grouped = |name: &str| GROUPS.iter().flat_map(|(_, commands)| *commands).any(|(known, _)| *known == name);
    let listed = command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
    listed.map(Command::get_name).filter(move |name| !grouped(name))
}

/// Lines of at most so many columns; a word that is longer has one of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Whether there are to be colours, before anything else of the line is understood: its errors have colours too.
pub fn color(args: &[OsString]) -> ColorChoice {
    let own = || args.iter().skip(1).take_while(|word| *word != "--").map(|word| word.to_string_lossy());
    let behind = own().zip(own().skip(1)).find(|(name, _)| name == "--color").map(|(_, value)| value);
    let joined = own().find_map(|word| Some(word.strip_prefix("--color=")?.to_owned().into()));
    match behind.or(joined).as_deref() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i8_every_command_is_in_one_group_with_an_example_that_is_one() {
        let command = cli_command();
        assert_eq!(ungrouped(&command).collect::<Vec<_>>(), [""; 0], "give each a group and an example in GROUPS");
        let mut names: Vec<&str> = Vec::new();
        for (name, example) in GROUPS.iter().flat_map(|(_, commands)| *commands) {
            assert!(!names.contains(name), "{name} has two groups");
            names.push(name);
            let typed = example.split("taut ").nth(1).unwrap_or_default().split(" | ").next().unwrap_or_default();
            assert_eq!(typed.split(' ').next(), Some(*name).filter(|name| command.find_subcommand(name).is_some()));
            assert!(example.len() < EXAMPLE_WIDTH - 2, "{example}");
        }
    }

    #[test]
    fn i8_the_help_of_all_commands_fits_a_hundred_columns() {
        let help = cli_command().render_help().to_string();
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > WIDEST).collect();
        assert!(wide.is_empty() && help.contains("\nGuard:\n") && !help.contains("More:"), "{wide:#?}");
    }

    #[test]
    fn i8_colours_are_known_before_the_line_is_read() {
        let of = |line: &str| color(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("taut --color never agents"), ColorChoice::Never);
        assert_eq!(of("taut agents --color=always"), ColorChoice::Always);
        assert_eq!(of("taut run -- ls --color=always"), ColorChoice::Auto);
    }
}

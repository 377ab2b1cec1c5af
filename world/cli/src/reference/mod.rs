//! The command-line reference, made from the definitions users type against.

mod agents_page;

use crate::command_line::cli_command;
use clap::{Arg, Command};
use std::fmt::Write;

/// `docs/cli.md`.
pub fn page() -> String {
    let mut out = String::from(
        "# Command line\n\n\
         Made from the program itself; `UPDATE_DOCS=1 cargo test -p taut reference` writes it anew.\n\n\
         Exit codes: 0 ok, 1 failed, 2 not found, not eligible or wrong usage, 130 interrupted. \
         `taut hook` ends with 0 unless the agent's dialect asks for another. \
         `--json` works on every command that prints data: one object a line for lists, one object otherwise. \
         `--color auto|always|never` says when to use colours; `NO_COLOR` is heeded where it is left to auto.\n",
    );
    let mut root = cli_command();
    root.build();
    for command in root.get_subcommands().filter(|command| is_listed(command)) {
        section(&mut out, command, "taut");
    }
    out
}

fn section(out: &mut String, command: &Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(out, "\n## `{name}`\n\n{about}.\n");
    if let Some(example) = command.get_after_help().map(ToString::to_string) {
        let _ = write!(out, "\n{}`\n", example.replacen(": ", ": `", 1));
    }
    let shown: Vec<&Arg> = command.get_arguments().filter(|arg| is_shown(arg)).collect();
    if !shown.is_empty() {
        out.push_str("\n| | |\n|---|---|\n");
    }
    for arg in shown {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "| `{}` | {} |", usage(arg), help.replace('|', "\\|"));
    }
    for inner in command.get_subcommands().filter(|inner| is_listed(inner)) {
        section(out, inner, &name);
    }
}

/// `help` says what `--help` says, everywhere.
fn is_listed(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn is_shown(arg: &Arg) -> bool {
    !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version" | "json" | "color")
}

fn usage(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(|name| format!("<{}>", name.to_lowercase())).collect();
    let takes = arg.get_action().takes_values();
    let value = if takes && !values.is_empty() { format!(" {}", values.join(" ")) } else { String::new() };
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("--{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, None) => value.trim_start().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::command_line::cli_command;
    use clap::Command;
    use policy::taut_commands::is_declared;
    use std::path::Path;

    /// Every command that does something, by all its names, hidden ones too.
    fn commands(command: &Command, above: &[String], found: &mut Vec<Vec<String>>) {
        for inner in command.get_subcommands() {
            for name in std::iter::once(inner.get_name()).chain(inner.get_all_aliases()) {
                let path: Vec<String> = above.iter().cloned().chain([name.to_string()]).collect();
                commands(inner, &path, found);
                if !inner.is_subcommand_required_set() {
                    found.push(path);
                }
            }
        }
    }

    #[test]
    fn g8_every_command_is_declared_to_be_for_agents_or_for_people() {
        let mut found = Vec::new();
        commands(&cli_command(), &[], &mut found);
        assert!(found.len() > 60, "{}", found.len());
        let undeclared: Vec<String> = found
            .iter()
            .filter(|path| !is_declared(&path.iter().map(String::as_str).collect::<Vec<_>>()))
            .map(|path| path.join(" "))
            .collect();
        assert!(
            undeclared.is_empty(),
            "declare in core/policy/src/taut_commands.rs for whom these are: {undeclared:?}"
        );
    }

    #[test]
    fn the_reference_in_the_docs_is_the_one_the_program_makes() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&file, page()).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(kept == page(), "docs/cli.md is old: run `UPDATE_DOCS=1 cargo test -p taut reference`");
    }
}

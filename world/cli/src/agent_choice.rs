//! Which agents a command is about: those that were named, or those that are here.

use crate::args::InitArgs;
use crate::error::CliError;
use crate::printer::Printer;
use agents::Dialect;
use agents::dialect::Tried;
use host::install::program;
use host::paths::PathVariables;
use host::settings_file::SettingsLevel;

/// The agents of these names, each once.
pub fn named(names: &[String]) -> Result<Vec<&'static Dialect>, CliError> {
    let mut found: Vec<&'static Dialect> = Vec::new();
    // A list may be written with blanks as well; a name that has one itself is known whole.
    let parts = names.iter().flat_map(|name| {
        let whole = agents::ALL.find(name).map(|_| name.as_str());
        whole.into_iter().chain(name.split_whitespace().filter(move |_| whole.is_none()))
    });
    for name in parts {
        let dialect = agents::ALL.find(name).ok_or_else(|| unknown(name))?;
        if !found.iter().any(|known| known.id() == dialect.id()) {
            found.push(dialect);
        }
    }
    if found.is_empty() { Err(CliError::usage("`--agent` names no agent").hint(list())) } else { Ok(found) }
}

fn unknown(name: &str) -> CliError {
    let ids: Vec<&str> = agents::ALL.ids().collect();
    let error = CliError::not_found(format!("there is no agent `{name}`"));
    match policy::config::nearest(&name.to_ascii_lowercase(), &ids) {
        Some(near) => error.hint(format!("did you mean `{near}`? {}", list())),
        None => error.hint(list()),
    }
}

fn list() -> String {
    format!("known: {}", agents::ALL.ids().collect::<Vec<_>>().join(", "))
}

/// Those whose program or whose own folder is here.
pub fn here(places: &PathVariables) -> Vec<&'static Dialect> {
    let is_here = |dialect: &&Dialect| is_on_path(dialect) || places.agent_folder(dialect.profile).is_dir();
    agents::ALL.0.iter().copied().filter(|dialect| is_here(dialect)).collect()
}

/// Whether its program can be started by its name.
pub fn is_on_path(dialect: &Dialect) -> bool {
    let search = std::env::var_os("PATH").unwrap_or_default();
    program::is_on_search_path(dialect.settings.versions.program, &search)
}

pub fn is_untried(dialect: &Dialect) -> bool {
    dialect.tried == Tried::FromDocumentation
}

/// Those that `taut init` is to install for: the named ones, or those that are here. Where none is, the usual one.
pub fn for_init(args: &InitArgs, places: &PathVariables, printer: &Printer) -> Result<Vec<&'static Dialect>, CliError> {
    if !args.agent.is_empty() {
        let named = named(&args.agent)?;
        return match named.iter().find(|dialect| is_untried(dialect) && !args.experimental) {
            Some(dialect) => Err(untried(dialect)),
            None => Ok(named),
        };
    }
    let (untried, mut found): (Vec<_>, Vec<_>) =
        here(places).into_iter().partition(|dialect| is_untried(dialect) && !args.experimental);
    let other = if untried.is_empty() { "" } else { "other " };
    for dialect in untried {
        printer.note(format!(
            "{} is here too; what is known of it is from its documentation alone: `taut init --agent {} --experimental`",
            dialect.profile.name,
            dialect.id()
        ));
    }
    if found.is_empty() && args.all {
        return Err(CliError::not_found("no agent was found here, neither its program nor its folder")
            .hint(format!("name one: `taut init --agent <id>`; {}", list())));
    }
    if found.is_empty() {
        printer.note(format!(
            "no {other}agent was found here, neither its program nor its folder: this is for {}, `--agent` names another",
            agents::DEFAULT.profile.name
        ));
        found.push(agents::DEFAULT);
    }
    Ok(found)
}

fn untried(dialect: &Dialect) -> CliError {
    CliError::failed(format!(
        "{} is untried: what is known of it is from its documentation alone; nothing was changed",
        dialect.profile.name
    ))
    .hint(format!("taut init --agent {} --experimental", dialect.id()))
}

/// Those that have settings of that level. Others are left out and named; one that is alone is an error of its own.
pub fn with_settings(
    agents: Vec<&'static Dialect>,
    level: &SettingsLevel,
    places: &PathVariables,
    printer: &Printer,
) -> Vec<&'static Dialect> {
    if agents.len() < 2 {
        return agents;
    }
    let (with, without): (Vec<_>, Vec<_>) =
        agents.into_iter().partition(|dialect| level.path(places, dialect).is_some());
    for dialect in without {
        printer.note(format!(
            "{} has no {} settings that hold hooks; it is left out",
            dialect.profile.name,
            level.name()
        ));
    }
    with
}

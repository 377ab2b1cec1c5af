//! `taut remember`, `taut forget`, `taut facts`: what is to be known for longer than a session. What an agent notes is
//! carried out by its hook; a person's own notes need neither a hook nor the database.

use super::{effort, judge_here};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text};
use engine::Places;
use engine::memory::facts::{self, ScopedFact};
use engine::redact::text_without_secrets;
use grammar::{AgentArgs, AgentCommand, FactScope, WorkArgs};
use host::paths::PathVariables;
use model::Ms;
use model::fact::{Facts, TextFact};
use model::memory_file::{self, BY_PERSON, FactChange, LastingFact};
use pipeline::Judge;
use policy::Trust;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use store::Store;

pub fn run(args: WorkArgs, printer: &Printer) -> Result<Exit, CliError> {
    if matches!(args, WorkArgs::Facts) {
        return list(printer);
    }
    let line = effort::typed(&AgentArgs::Work(args));
    match &line.command {
        Some(Ok(command)) if person::outside_agents("remember").is_ok() => by_person(command, printer),
        wrong => {
            let wrong = matches!(wrong, Some(Err(_)));
            let carried = effort::carried(&line).map_err(|error| if wrong { error.of_usage() } else { error })?;
            // A fact that could not be written is none.
            match carried.troubles.first() {
                Some(trouble) => Err(CliError::failed(trouble.clone()).hint("taut doctor")),
                None => Ok(effort::say(carried, printer)),
            }
        }
    }
}

fn by_person(command: &AgentCommand, printer: &Printer) -> Result<Exit, CliError> {
    let here = FactFiles::of(None)?;
    match command {
        AgentCommand::Remember { text, scope } => here.remember(text, *scope, printer),
        AgentCommand::Forget { what } => here.forget(what, printer),
        _ => Err(CliError::usage("this is no command about facts").hint("taut remember --help")),
    }
}

/// The files of facts that count in this folder.
struct FactFiles {
    judge: Judge,
    places: Places,
    found: Facts,
}

impl FactFiles {
    /// Those of a project, or of the one that this folder is in.
    fn of(project: Option<&Path>) -> Result<Self, CliError> {
        let judge = judge_here(project)?;
        let variables = PathVariables::from_process();
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let project = &judge.project_policy().project;
        let places = Places {
            state: shown(&variables.state()),
            home: shown(&variables.home()),
            tree: project.work_tree.clone(),
            ..Places::default()
        };
        let probes = facts::probes(&places, &project.root, judge.project_policy().policy.trust);
        let found = host::probe::observe(&probes, &variables.home());
        Ok(Self { judge, places, found })
    }

    fn file(&self, scope: FactScope) -> String {
        facts::file(scope, &self.places, &self.judge.project_policy().project.root)
    }

    fn text(&self, scope: FactScope) -> Result<String, CliError> {
        let path = self.file(scope);
        facts::text(scope, &path, self.found.text(&path)).map_err(CliError::failed)
    }

    /// All that can be read, and why the rest cannot.
    fn all(&self) -> (Vec<ScopedFact>, Vec<CliError>) {
        self.each(|scope| self.text(scope))
    }

    fn each(&self, read: impl Fn(FactScope) -> Result<String, CliError>) -> (Vec<ScopedFact>, Vec<CliError>) {
        let (mut all, mut unread) = (Vec::new(), Vec::new());
        for scope in FactScope::ALL {
            match read(scope) {
                Ok(text) => {
                    let facts = facts::newest_first(memory_file::facts(&text));
                    all.extend(facts.into_iter().map(|fact| ScopedFact { scope, fact }));
                }
                Err(error) => unread.push(error),
            }
        }
        (all, unread)
    }

    fn remember(&self, said: &str, scope: FactScope, printer: &Printer) -> Result<Exit, CliError> {
        let enabled = self.judge.project_policy().policy.sections.memory.enabled;
        if enabled == Some(false) && scope != FactScope::Global {
            return Err(CliError::failed(facts::OFF).hint("taut memory status"));
        }
        // Others read a shared file, and to them `you` is somebody else.
        let by = if scope == FactScope::Shared { shared_name() } else { BY_PERSON.to_string() };
        let known = self.known_text(scope)?;
        let noted =
            facts::noted(&known, said, &by, host::clock::now()).map_err(|why| CliError::failed(why.to_string()))?;
        self.change(scope, &noted.change)?;
        say(
            &facts::said_of(&noted, scope),
            &json!({"id": noted.fact.id, "scope": scope.name(), "text": noted.fact.text, "known": noted.was_known}),
            printer,
        );
        if scope == FactScope::Shared && !self.is_trusted() {
            printer.note("note: the project is not trusted; it is told only after `taut trust`");
        }
        if enabled != Some(true) {
            printer.note("note: sessions are not told of facts yet: `taut memory on`");
        }
        Ok(Exit::Ok)
    }

    /// A team's file that is not trusted is not told to anybody, but its owner may add to it.
    fn known_text(&self, scope: FactScope) -> Result<String, CliError> {
        if scope != FactScope::Shared || self.is_trusted() {
            return self.text(scope);
        }
        let path = self.file(scope);
        let probes = facts::probes(&self.places, &self.judge.project_policy().project.root, Trust::Trusted);
        let found = host::probe::observe(&probes, Path::new(&self.places.home));
        facts::text(scope, &path, found.text(&path)).map_err(CliError::failed)
    }

    fn forget(&self, what: &str, printer: &Printer) -> Result<Exit, CliError> {
        // A person may take back what is told to nobody, too.
        let (all, unread) = self.each(|scope| self.known_text(scope));
        let meant = facts::meant(&all, what).map_err(|why| CliError::not_found(text_without_secrets(why.why())));
        let ScopedFact { scope, fact } = match (meant, unread.into_iter().next()) {
            (Ok(meant), _) => meant,
            // It may be in the file that was not read.
            (Err(_), Some(error)) if all.is_empty() => return Err(error),
            (Err(error), _) => return Err(error),
        };
        self.change(*scope, &FactChange::Forget { text: fact.text.clone(), by_agent: false })?;
        let said = format!("forgotten: {}", text_without_secrets(&fact.text));
        say(&said, &json!({"id": fact.id, "scope": scope.name(), "forgotten": true}), printer);
        Ok(Exit::Ok)
    }

    fn change(&self, scope: FactScope, change: &FactChange) -> Result<(), CliError> {
        let path = self.file(scope);
        let roots = [facts::root(scope, &self.places).to_string()];
        if scope == FactScope::Shared && self.found.text(&path).is_none_or(|found| *found == TextFact::Missing) {
            // A folder of the team's, not one of ours.
            std::fs::create_dir_all(Path::new(&self.places.tree).join(".taut"))?;
        }
        host::memory_file::change(Path::new(&path), change, &roots).map_err(|error| {
            CliError::failed(format!("cannot write {path}")).because(&error).hint(format!("ls -ld {path}"))
        })
    }

    fn is_trusted(&self) -> bool {
        self.judge.project_policy().policy.trust == Trust::Trusted
    }
}

fn list(printer: &Printer) -> Result<Exit, CliError> {
    let here = FactFiles::of(session_project().as_deref())?;
    let (all, unread) = here.all();
    let now = host::clock::now();
    if printer.json() {
        all.iter().for_each(|one| printer.object(&object(one, now)));
    } else if all.is_empty() && unread.is_empty() {
        printer.note("no facts are noted here; `taut remember \"…\"` notes one");
    } else if !all.is_empty() {
        let rows: Vec<Vec<Text>> = all.iter().map(|one| row(one, now)).collect();
        printer.table(&["ID", "SCOPE", "BY", "AGE", "FACT"], &rows);
    }
    for error in &unread {
        printer.note(format!("warning: {}", error.what()));
    }
    let shared = here.file(FactScope::Shared);
    if !here.is_trusted() && Path::new(&shared).exists() {
        printer.note(format!("note: {shared} is not read: the project is not trusted (`taut trust`)"));
    }
    if !all.is_empty() && here.judge.project_policy().policy.sections.memory.enabled != Some(true) && !printer.json() {
        printer.note("note: sessions are not told of them: `taut memory on`");
    }
    Ok(Exit::Ok)
}

/// An agent is shown the facts that it notes and forgets: those of its session's project.
fn session_project() -> Option<PathBuf> {
    person::outside_agents("facts").err()?;
    let places = PathVariables::from_process();
    let store = Store::open_existing_read_only(&places.state()).ok()?;
    effort::own_project(&store, &effort::who(&store, &places).ok()?).ok()?
}

fn row(ScopedFact { scope, fact }: &ScopedFact, now: Ms) -> Vec<Text> {
    vec![
        fact.id.clone().into(),
        scope.name().into(),
        by(fact).into(),
        facts::age(fact, now).unwrap_or_else(|| "-".to_string()).into(),
        text_without_secrets(&fact.text).into(),
    ]
}

fn object(ScopedFact { scope, fact }: &ScopedFact, now: Ms) -> Value {
    json!({
        "id": fact.id,
        "scope": scope.name(),
        "by": by(fact),
        "date": fact.date,
        "age": facts::age(fact, now),
        "text": text_without_secrets(&fact.text),
    })
}

/// Whoever reads it: to an agent `you` would be itself.
fn by(fact: &LastingFact) -> &str {
    match fact.by.as_deref() {
        Some(BY_PERSON) => "user",
        Some(name) => name,
        None => "by hand",
    }
}

/// One word, as it stands behind the fact.
fn shared_name() -> String {
    let name: String = person::name().chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    name.chars().take(40).collect()
}

fn say(said: &str, object: &Value, printer: &Printer) {
    if printer.json() {
        printer.object(object);
    } else {
        printer.line(Text::lines(said));
    }
}

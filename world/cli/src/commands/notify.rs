//! `taut notify`: switch notifications on and off, say what is on, try it out.

mod add;
mod switch;

pub(super) use switch::make as change_config;

use super::judge_here;
use crate::args::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text, text};
use clap::{Args, Subcommand, ValueEnum};
use engine::fleet::notify::Notice;
use host::notify::SendResult;
use host::paths::PathVariables;
use model::Ms;
use model::row::AgentStatus;
use pipeline::PipelineSetup;
use policy::Notify;
use policy::notify::{Offset, SentDetail, Webhook};
use serde_json::{Value, json};
use service::webhooks::{self, LastTry, WebhookLook};
use service::workers::notifier;

#[derive(Debug, Subcommand)]
pub enum NotifyVerb {
    /// Be told when an agent needs you, fails or is done (changes your own configuration; people only)
    On(OnArgs),
    /// Be told off this machine too, by a service of yours: ntfy, slack, discord, telegram, json (people only)
    Add(AddArgs),
    /// Be told no more
    Off(OffArgs),
    /// Say what is on here, and whether it can work
    Status,
    /// Send one through each way that is on, and say what happened (people only)
    Test,
    /// Tell what there is to tell, for hooks without a daemon
    #[command(hide = true)]
    Deliver(RunArgs),
}

#[derive(Debug, Args)]
pub struct OnArgs {
    /// The bell of the agent's own terminal, and its text where the terminal shows one
    #[arg(long)]
    pub terminal: bool,
    /// Notifications of the desktop
    #[arg(long)]
    pub desktop: bool,
    /// A program of yours, by its full path, with its arguments; it gets the event as JSON on stdin
    #[arg(long, value_name = "PROGRAM", num_args = 1.., allow_hyphen_values = true, value_terminator = ";")]
    pub command: Vec<String>,
    /// Which turns: attention, error, done (all, if you do not say)
    #[arg(long = "for", value_name = "KIND", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// A stretch of the day in which nothing is told: 22:00-07:00 (may be given again)
    #[arg(long, value_name = "FROM-TO")]
    pub quiet: Vec<String>,
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Answers nothing here: you are asked all the same
    #[arg(long, hide = true)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    pub service: ServiceName,
    /// ntfy: the server and your topic; json: where to send it. Slack's and Discord's are secret and asked for
    pub url: Option<String>,
    /// Telegram: the number or @name of the chat
    #[arg(long)]
    pub chat: Option<String>,
    /// ntfy, json: ask for an access token
    #[arg(long)]
    pub token: bool,
    /// A file of yours (mode 0600) that holds the secret already
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    pub secret_file: Option<String>,
    /// Which turns: attention, error, done (all that are on, if you do not say)
    #[arg(long = "for", value_name = "KIND", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// Send why, too: the tool, the command, the question
    #[arg(long)]
    pub reason: bool,
}

/// The services, as they are typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ServiceName {
    Ntfy,
    Slack,
    Discord,
    Telegram,
    Json,
}

#[derive(Debug, Args)]
pub struct OffArgs {
    /// Show the change and make none
    #[arg(long)]
    pub dry_run: bool,
    /// Answers nothing here: you are asked all the same
    #[arg(long, hide = true)]
    pub yes: bool,
}

/// One way, and what came of it.
struct Way {
    name: String,
    /// What happened, or what is missing.
    result: Result<String, String>,
}

pub fn run(verb: &NotifyVerb, printer: &Printer) -> Result<Exit, CliError> {
    match verb {
        NotifyVerb::On(args) => switch::on(args, printer),
        NotifyVerb::Add(args) => add::add(args, printer),
        NotifyVerb::Off(args) => switch::off(args, printer),
        NotifyVerb::Status => status(printer),
        NotifyVerb::Test => test(printer),
        NotifyVerb::Deliver(args) => {
            notifier::run_to_the_end(&args.over(service::setting(&host::origin::places())))?;
            Ok(Exit::Ok)
        }
    }
}

fn status(printer: &Printer) -> Result<Exit, CliError> {
    let judge = judge_here(None)?;
    let project_policy = judge.project_policy();
    let notify = &project_policy.policy.sections.notify;
    let now = host::clock::now();
    let offset = Offset { seconds: host::clock::utc_offset_s(now) };
    let look = WebhookLook::new(notifier::place(&setting()));
    let ways = ways(notify, looked, |name, hook| looked_at_webhook(&look, name, hook));
    if printer.json() {
        printer.object(&json!({
            "on": notify.on.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
            "ways": ways.iter().map(Way::object).collect::<Vec<_>>(),
            "debounce_ms": notify.debounce_ms,
            "quiet": notify.quiet.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "quiet_now": notify.is_quiet(now, offset),
            "mistakes": project_policy.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }));
        return Ok(Exit::Ok);
    }
    if notify.on.is_empty() || ways.is_empty() {
        printer.line("notifications are off");
        printer.note("hint: `taut notify on` switches them on");
    } else {
        let kinds: Vec<&str> = notify.on.iter().map(|kind| kind.name()).collect();
        printer.line(format!("on for    {}", kinds.join(", ")));
        ways.iter().for_each(|way| printer.line(way.line(printer)));
        for quiet in &notify.quiet {
            let until =
                if quiet.is_now(now, offset) { format!(" (now, until {})", quiet.end()) } else { String::new() };
            printer.line(format!("quiet     {quiet}{until}"));
        }
    }
    // Whatever is wrong is left out, and quiet hours that are left out ring at night.
    for mistake in &project_policy.diagnostics {
        printer.line(text!("{:<9} {}", "mistake", printer.red(mistake.to_string())));
    }
    if !project_policy.diagnostics.is_empty() {
        printer.note("hint: what is wrong does not hold; `taut policy check` looks the configuration over again");
    }
    Ok(Exit::Ok)
}

fn test(printer: &Printer) -> Result<Exit, CliError> {
    // It runs what a configuration names, and an agent could name another one.
    person::outside_agents("notify test")?;
    let judge = judge_here(None)?;
    let notify = &judge.project_policy().policy.sections.notify;
    let ways = ways(notify, tried, |_, hook| tried_webhook(notify.link.as_deref(), hook));
    if ways.is_empty() {
        return Err(CliError::failed("no way of telling you is on").hint("taut notify on"));
    }
    for way in &ways {
        if printer.json() {
            printer.object(&way.object());
        } else {
            printer.line(way.line(printer));
        }
    }
    if notify.on.is_empty() && !printer.json() {
        printer.note("this was a test: agents tell nothing until `taut notify on`");
    }
    Ok(if ways.iter().all(|way| way.result.is_ok()) { Exit::Ok } else { Exit::Failed })
}

fn ways(
    notify: &Notify,
    ask: impl Fn(&'static str, &Notify) -> Result<String, String>,
    ask_webhook: impl Fn(&str, &Webhook) -> Result<String, String>,
) -> Vec<Way> {
    let on = [("terminal", notify.terminal), ("desktop", notify.desktop), ("command", !notify.command.is_empty())];
    let on = on.into_iter().filter(|(_, on)| *on);
    let mut ways: Vec<Way> = on.map(|(name, _)| Way { name: name.to_string(), result: ask(name, notify) }).collect();
    for (name, hook) in webhooks::named(notify) {
        ways.push(Way { result: ask_webhook(&name, hook), name });
    }
    ways
}

/// Whether a service could be told, and what came of the last try.
fn looked_at_webhook(look: &WebhookLook, name: &str, hook: &Webhook) -> Result<String, String> {
    look.look(hook, &sample())?;
    let host = hook.url.as_deref().and_then(|url| url.split('/').nth(2)).unwrap_or("its address is a secret");
    let sends = if hook.send == SentDetail::Reason { "; why is sent too" } else { "" };
    match webhooks::last(&setting().state, name) {
        Some(LastTry { at, result: Err(why) }) => Err(format!("{why} ({})", age(at))),
        Some(LastTry { at, result: Ok(()) }) => Ok(format!("{host}; last sent {}{sends}", age(at))),
        None => Ok(format!("{host}{sends}")),
    }
}

fn age(at: Ms) -> String {
    super::ago(host::clock::now().since(at))
}

/// Sends one now.
fn tried_webhook(link: Option<&str>, hook: &Webhook) -> Result<String, String> {
    match webhooks::try_once(hook, link, &sample(), &notifier::place(&setting())) {
        SendResult::Sent => Ok("sent".to_string()),
        SendResult::Later { why, .. } | SendResult::Refused(why) => Err(why),
    }
}

/// Whether a way could work, as far as that shows without using it.
fn looked(way: &'static str, notify: &Notify) -> Result<String, String> {
    match way {
        "terminal" => Ok("the bell of the agent's own terminal".to_string()),
        "desktop" => {
            let found = host::notify::desktop_program(&notifier::place(&setting()));
            found.map(|path| path.display().to_string()).map_err(|trouble| trouble.to_string())
        }
        _ => {
            let program = notify.command.first().map(String::as_str).unwrap_or_default();
            let checked = host::notify::check_program(program, &notifier::place(&setting()));
            checked.map(|()| notify.command.join(" ")).map_err(|trouble| trouble.to_string())
        }
    }
}

/// Uses it.
fn tried(way: &'static str, notify: &Notify) -> Result<String, String> {
    let (notice, place) = (sample(), notifier::place(&setting()));
    let told = match way {
        "terminal" => return Ok(ring(&notice)),
        "desktop" => host::notify::desktop(&notifier::message(&notice), &place),
        _ => host::notify::program(&notify.command, &model::text::json(&notice.event), &place),
    };
    let causes = |trouble: host::notify::NotifyError| match std::error::Error::source(&trouble) {
        Some(cause) => format!("{trouble} ({cause})"),
        None => trouble.to_string(),
    };
    told.map(|()| "sent".to_string()).map_err(causes)
}

/// Rings this terminal as an agent's client would ring its own.
fn ring(notice: &Notice) -> String {
    if !Printer::has_reader() {
        return "not tried: this is no terminal; agents ring their own".to_string();
    }
    Printer::ring(notice.line());
    "rang; not every terminal shows the text".to_string()
}

fn sample() -> Notice {
    let (title, body) = ("taut-test needs you".to_string(), "this is only a test".to_string());
    let at = host::clock::now().rfc3339();
    let event = json!({
        "agent": "taut-test", "status": "attention", "from": "working", "project": null, "session": null, "task": null,
        "message": format!("{title}: {body}"), "at": at, "agents": ["taut-test"], "test": true,
    });
    Notice { status: AgentStatus::Attention, title, body, event, place: "#/".to_string() }
}

fn setting() -> PipelineSetup {
    service::setting(&PathVariables::from_process())
}

impl Way {
    fn line(&self, printer: &Printer) -> Text {
        let told = match &self.result {
            Ok(said) => said.into(),
            Err(trouble) => printer.red(trouble),
        };
        text!("{:<9} {}", self.name, told)
    }

    fn object(&self) -> Value {
        match &self.result {
            Ok(said) => json!({"way": self.name, "ok": true, "said": said}),
            Err(trouble) => json!({"way": self.name, "ok": false, "said": trouble}),
        }
    }
}

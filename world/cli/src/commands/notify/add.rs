//! `taut notify add`: one more service that tells its user off this machine. Its
//! secret goes into a file that only they can read, never into the configuration.

use super::switch::{begin_now, kinds, make};
use super::{AddArgs, ServiceName};
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::{Printer, Text};
use crate::user_config;
use host::paths::PathVariables;
use policy::config::types::WebAddress;
use policy::notify::WebhookService;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use toml_edit::{ArrayOfTables, Item, Table, value};

pub fn add(args: &AddArgs, printer: &Printer) -> Result<Exit, CliError> {
    person::required("notify add")?;
    let service = args.service.service();
    checked(args, service)?;
    let kinds = if args.kinds.is_empty() { Vec::new() } else { kinds(&args.kinds)? };
    let secret = match &args.secret_file {
        Some(file) => Some((PathBuf::from(file), None)),
        None => asked(service, args.token)?.map(|secret| (fresh_file(service), Some(secret))),
    };
    let change = user_config::plan(|config| {
        let section = user_config::section(config, "notify")?;
        if section.get("on").and_then(Item::as_array).is_none_or(toml_edit::Array::is_empty) {
            section.insert("on", value(super::switch::array(["attention", "error"].into_iter())));
        }
        let hooks = section.entry("webhook").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let hooks = hooks.as_array_of_tables_mut().ok_or_else(|| user_config::wrong_shape("notify.webhook"))?;
        let mut hook = Table::new();
        hook.insert("to", value(service.name()));
        let texts = [("url", &args.url), ("chat", &args.chat)];
        for (key, text) in texts.iter().filter_map(|(key, text)| Some((key, text.as_ref()?))) {
            hook.insert(key, value(text));
        }
        if let Some((file, _)) = &secret {
            hook.insert("secret_file", value(file.display().to_string()));
        }
        if !kinds.is_empty() {
            hook.insert("on", value(super::switch::array(kinds.iter().map(|kind| kind.name()))));
        }
        if args.reason {
            hook.insert("send", value("reason"));
        }
        hooks.push(hook);
        Ok(())
    })?;
    let write = || {
        if let Some((file, Some(secret))) = &secret {
            put(file, secret)
                .map_err(|error| CliError::failed(format!("cannot write {}", file.display())).because(&error))?;
        }
        begin_now()
    };
    let exit = make(&change, false, "it is so already; nothing to change", printer, write)?;
    if exit == Exit::Ok {
        printer.note("hint: `taut notify test` sends one through each way that is on");
    }
    Ok(exit)
}

/// What is given must be enough for the service, before anybody is asked for a secret.
fn checked(args: &AddArgs, service: WebhookService) -> Result<(), CliError> {
    if let Some(url) = args.url.as_deref().filter(|url| has_password(url)) {
        // It is not said back: a terminal keeps what it showed.
        let bare = url.rsplit_once('@').map_or("", |(_, bare)| bare);
        return Err(CliError::usage(
            "an address with a name or password in it is not taken: the configuration is no place for them",
        )
        .hint(format!(
            "taut notify add {} https://{bare} --token asks for a token and keeps it in a file of mode 0600",
            service.name()
        )));
    }
    if let Some(url) = args.url.as_deref().filter(|url| !WebAddress::accepts(url)) {
        return Err(CliError::usage(format!("`{url}` is no address that anything is sent to")).hint(
            "it begins with https:// (http:// only for 127.0.0.1), without blanks, quotation marks, `@` and `#`",
        ));
    }
    let wrong = match (service, &args.url, &args.chat) {
        (WebhookService::Ntfy, None, _) => Some("taut notify add ntfy https://ntfy.sh/your-topic"),
        (WebhookService::Json, None, _) => Some("taut notify add json https://example.org/hook"),
        (WebhookService::Telegram, _, None) => Some("taut notify add telegram --chat 123456789"),
        (WebhookService::Slack | WebhookService::Discord, Some(_), _) => {
            return Err(CliError::usage(format!(
                "the address of {} is a secret and not given as an argument",
                service.name()
            ))
            .hint(format!("taut notify add {} asks for it", service.name())));
        }
        _ => None,
    };
    match wrong {
        Some(hint) => Err(CliError::usage(format!("{} needs more than that", service.name())).hint(hint)),
        None => Ok(()),
    }
}

/// `https://user:password@host/…`; an `@` behind the host is of the path.
fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// The secret that a service cannot do without, or that the user says it has.
fn asked(service: WebhookService, token: bool) -> Result<Option<String>, CliError> {
    let what = match service {
        WebhookService::Slack | WebhookService::Discord => "The address of the webhook (not shown)",
        WebhookService::Telegram => "The token of the bot (not shown)",
        WebhookService::Ntfy | WebhookService::Json if token => "The access token (not shown)",
        WebhookService::Ntfy | WebhookService::Json => return Ok(None),
    };
    let secret = sys::terminal::read_hidden(|| Printer::ask(Text::lines(format!("{what}: "))))?.trim().to_owned();
    // The Enter was not shown either.
    Printer::ask(Text::lines("\n"))?;
    let is_address = matches!(service, WebhookService::Slack | WebhookService::Discord);
    if secret.is_empty() || is_address && !WebAddress::accepts(&secret) {
        let what = if is_address { "an address that begins with https://" } else { "a secret" };
        return Err(CliError::usage(format!("what was typed is not {what}; nothing was changed"))
            .hint(format!("taut notify add {} asks again", service.name())));
    }
    Ok(Some(secret))
}

/// Beside the user's configuration, under a name that is not taken.
fn fresh_file(service: WebhookService) -> PathBuf {
    let config = PathVariables::from_process().user_config();
    let folder = config.parent().unwrap_or(Path::new("/")).join("secrets");
    let name =
        |count: usize| if count == 1 { service.name().to_string() } else { format!("{}-{count}", service.name()) };
    (1..).map(|count| folder.join(name(count))).find(|path| path.symlink_metadata().is_err()).unwrap_or(folder)
}

fn put(file: &Path, secret: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    file.write_all(format!("{secret}\n").as_bytes())
}

impl ServiceName {
    fn service(self) -> WebhookService {
        match self {
            Self::Ntfy => WebhookService::Ntfy,
            Self::Slack => WebhookService::Slack,
            Self::Discord => WebhookService::Discord,
            Self::Telegram => WebhookService::Telegram,
            Self::Json => WebhookService::Json,
        }
    }
}

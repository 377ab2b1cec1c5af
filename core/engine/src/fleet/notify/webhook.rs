//! What is sent to a service that tells a person off this machine: the shape
//! each of them takes, and nothing in it that it would take for more than text.

use super::Notice;
use model::row::AgentStatus;
use policy::config::types::WebAddress;
use policy::notify::{SentDetail, Webhook, WebhookService};
use serde_json::{Value, json};

/// One request, always a POST of JSON.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookCall {
    pub url: String,
    /// For the header that lets it in.
    pub token: Option<String>,
    pub body: String,
}

const TELEGRAM: &str = "https://api.telegram.org";

/// Longer than any notice, shorter than what the strictest service takes (2,000 characters).
const MOST: usize = 1_000;

/// What is sent, or what is missing in the configuration. `secret` is what its file or program said; `link` is where the
/// user reaches the page.
pub fn call(hook: &Webhook, secret: Option<&str>, link: Option<&str>, notice: &Notice) -> Result<WebhookCall, String> {
    let link = link.map(|base| format!("{}/{}", base.trim_end_matches('/'), notice.place));
    let telling = Telling { text: text(hook, notice), link, notice };
    let missing = |what: &str| format!("{} needs {what}", hook.to.name());
    let url = || hook.url.clone().ok_or_else(|| missing("`url`"));
    let (url, token, body) = match hook.to {
        WebhookService::Ntfy => {
            let (server, body) = telling.ntfy(&url()?).ok_or_else(|| missing("the topic at the end of its `url`"))?;
            (server, secret, body)
        }
        WebhookService::Slack => (secret_url(hook, secret)?, None, telling.slack()),
        WebhookService::Discord => (secret_url(hook, secret)?, None, telling.discord()),
        WebhookService::Telegram => {
            let token = secret.ok_or_else(|| missing(BOT_TOKEN))?;
            if !is_token(token) {
                return Err(unlike(hook, "token of a bot (123456:ABC…)"));
            }
            let chat = hook.chat.as_deref().ok_or_else(|| missing("`chat`, the number or @name of a chat"))?;
            let server = hook.url.as_deref().unwrap_or(TELEGRAM).trim_end_matches('/');
            (format!("{server}/bot{token}/sendMessage"), None, telling.telegram(chat))
        }
        WebhookService::Json => (url()?, secret, telling.json()),
    };
    Ok(WebhookCall { url, token: token.map(str::to_owned), body: body.to_string() })
}

const SECRET_URL: &str =
    "its address, which is a secret: put it into a file of mode 0600 and name that as `secret_file`";
const BOT_TOKEN: &str = "the bot's token: put it into a file of mode 0600 and name that as `secret_file`";

fn secret_url(hook: &Webhook, secret: Option<&str>) -> Result<String, String> {
    let url = secret.ok_or_else(|| format!("{} needs {SECRET_URL}", hook.to.name()))?;
    if WebAddress::accepts(url) { Ok(url.to_owned()) } else { Err(unlike(hook, "address (https://…)")) }
}

/// A secret is there and is not what the service takes. It is not shown.
fn unlike(hook: &Webhook, what: &str) -> String {
    let from = hook.secret_file.as_deref().or(hook.secret_command.first().map(String::as_str)).unwrap_or_default();
    let name = hook.to.name();
    format!("what {from} holds is no {what}; put {name}'s there, `taut notify test` tries it again")
}

/// `123456:ABC-DEF_…`: it becomes part of an address.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_'))
}

struct Telling<'a> {
    text: String,
    link: Option<String>,
    notice: &'a Notice,
}

impl Telling<'_> {
    fn is_urgent(&self) -> bool {
        self.notice.status != AgentStatus::Done
    }

    fn with_link(&self, text: &str) -> String {
        self.link.as_ref().map_or_else(|| text.to_string(), |link| format!("{text}\n{link}"))
    }

    /// Published as JSON to the server itself; the topic is the last part of the address.
    fn ntfy(&self, url: &str) -> Option<(String, Value)> {
        let (server, topic) = url.trim_end_matches('/').rsplit_once('/')?;
        if topic.is_empty() || !server.contains("://") || server.ends_with('/') {
            return None;
        }
        let body = json!({
            "topic": topic, "title": "Taut", "message": self.text, "priority": if self.is_urgent() { 4 } else { 3 },
            "click": self.link,
        });
        Some((format!("{server}/"), body))
    }

    /// Three letters mean something to it; a mention is made of them.
    fn slack(&self) -> Value {
        let text = self.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        json!({"text": self.with_link(&text), "mrkdwn": false, "unfurl_links": false, "unfurl_media": false})
    }

    /// Marks are escaped, mentions have no effect, links are not unfolded.
    fn discord(&self) -> Value {
        let mut text = String::new();
        for c in self.text.chars() {
            if matches!(c, '\\' | '*' | '_' | '~' | '`' | '|' | '>' | '<' | '[' | ']' | '(' | ')' | '#' | '@' | '-') {
                text.push('\\');
            }
            text.push(c);
        }
        json!({"content": self.with_link(&text), "allowed_mentions": {"parse": []}, "flags": 4})
    }

    /// Without a mode of its own, text is text.
    fn telegram(&self, chat: &str) -> Value {
        json!({
            "chat_id": chat, "text": self.with_link(&self.text), "link_preview_options": {"is_disabled": true},
            "disable_notification": !self.is_urgent(),
        })
    }

    fn json(&self) -> Value {
        let of = |name: &str| self.notice.event.get(name).cloned().unwrap_or_default();
        let project = of("project").as_str().map(folder_name).unwrap_or_default();
        json!({
            "message": self.text, "status": self.notice.status.name(), "agent": of("agent"), "agents": of("agents"),
            "project": project, "at": of("at"), "link": self.link,
        })
    }
}

/// `refactor-auth needs you (shop)`, with why where the user chose to send it.
fn text(hook: &Webhook, notice: &Notice) -> String {
    let project = notice.event.get("project").and_then(Value::as_str).map(folder_name).filter(|name| !name.is_empty());
    let mut text = notice.title.clone();
    if let Some(project) = project {
        text = format!("{text} ({project})");
    }
    if hook.send == SentDetail::Reason && !notice.body.is_empty() {
        text = format!("{text}: {}", notice.body);
    }
    // Nothing an agent wrote becomes a link: it would stand beside our own.
    super::words::clean(&text.replace("://", ": //"), MOST)
}

fn folder_name(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_string()
}

#[cfg(test)]
#[path = "webhook_tests.rs"]
mod tests;

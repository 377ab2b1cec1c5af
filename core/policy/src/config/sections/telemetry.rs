//! `[telemetry]`: what only Taut can know of agents, sent to a collector of the user's own. Nobody else may say where
//! anything is sent, so a repository has no word here.

use super::SharedEvents;
use crate::config::declare::{ConfigType, ValueKind, table};
use crate::config::types::WebAddress;
use toml::Value;

/// A longer list of pairs is none.
const LONGEST_PAIRS: usize = 4_000;

table! {
    /// Logs for a collector, as OpenTelemetry's protocol has them (OTLP, JSON over HTTP).
    pub struct TelemetrySection {
        /// Whether anything is sent.
        otlp: bool = false,
        /// Where a collector is, as `OTEL_EXPORTER_OTLP_ENDPOINT` says it: `/v1/logs` is added. `https://`, or `http://` to
        /// this machine.
        endpoint: Option<WebAddress> = None,
        /// The whole address, as `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT` says it: nothing is added. It has the last word.
        logs_endpoint: Option<WebAddress> = None,
        /// A file of yours, mode 0600, with what is sent beside it, as `OTEL_EXPORTER_OTLP_HEADERS` has it: `name=value,…`.
        headers_file: Option<String> = None,
        /// Attributes of all that is sent, as `OTEL_RESOURCE_ATTRIBUTES` has them: `name=value,…`.
        resource: Option<AttributePairs> = None,
        /// What it is sent as, as `OTEL_SERVICE_NAME` says it.
        service: Option<String> = None,
        /// How much is sent: verdicts, rules and lengths, or reasons and details besides, redacted again.
        level: SharedEvents = SharedEvents::Summary,
    }
}

impl TelemetrySection {
    /// Where logs go; `None` where nothing is to be sent.
    pub fn address(&self) -> Option<String> {
        if !self.otlp || self.level == SharedEvents::None {
            return None;
        }
        let base = || self.endpoint.as_ref().map(|base| format!("{}/v1/logs", base.trim_end_matches('/')));
        self.logs_endpoint.clone().or_else(base)
    }
}

pub const EXAMPLE: &str = r#"[telemetry]
otlp = true
endpoint = "http://127.0.0.1:4318"
resource = "deployment.environment.name=dev"
level = "summary"
"#;

/// `name=value,name=value`.
#[derive(Debug)]
pub enum AttributePairs {}

impl AttributePairs {
    pub fn accepts(text: &str) -> bool {
        let pair = |pair: &str| pair.split_once('=').is_some_and(|(name, _)| !name.trim().is_empty());
        let parts = || text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
        text.len() <= LONGEST_PAIRS && !text.chars().any(char::is_control) && parts().all(pair)
    }
}

impl ConfigType for AttributePairs {
    type Value = String;
    const KIND: ValueKind =
        ValueKind::Spelled { what: "pairs such as \"team=shop,env=dev\"", accepts: AttributePairs::accepts };

    fn read(value: &Value) -> Option<String> {
        value.as_str().filter(|text| Self::accepts(text)).map(str::to_owned)
    }

    fn show(value: &String) -> Option<Value> {
        Some(Value::String(value.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_unless_it_is_switched_on_and_has_somewhere_to_go() {
        let base = TelemetrySection { endpoint: Some("http://127.0.0.1:4318/".into()), ..TelemetrySection::default() };
        assert_eq!((TelemetrySection::default().address(), base.address()), (None, None));
        let on = TelemetrySection { otlp: true, ..base };
        assert_eq!(on.address().as_deref(), Some("http://127.0.0.1:4318/v1/logs"));
        let whole = TelemetrySection { logs_endpoint: Some("https://c.example/x".into()), ..on.clone() };
        assert_eq!(whole.address().as_deref(), Some("https://c.example/x"));
        assert_eq!(TelemetrySection { level: SharedEvents::None, ..on }.address(), None);
        assert!(AttributePairs::accepts("a=b, c=d,") && AttributePairs::accepts(""));
        assert!(!AttributePairs::accepts("a") && !AttributePairs::accepts("=b") && !AttributePairs::accepts("a=\n"));
    }
}

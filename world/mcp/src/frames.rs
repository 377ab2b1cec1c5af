//! Messages as they come and go: one line each, none longer than it may be, and an answer to each that asks for one.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use std::io::{self, BufRead, Read, Write};
use tokio::sync::mpsc;

/// No message is longer: what the tools take is far shorter.
const MOST_BYTES: u64 = 1024 * 1024;
/// So many wait to be read before the client has to.
const MOST_WAITING: usize = 16;

/// The standard streams. Reading and writing are done by threads that the end of the process does not wait for.
pub struct StdioTransport {
    lines: mpsc::Receiver<Line>,
    /// Only requests count before one of them has opened the connection.
    opened: bool,
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

impl StdioTransport {
    pub fn open() -> Self {
        let (send, lines) = mpsc::channel(MOST_WAITING);
        std::thread::spawn(move || {
            let mut input = io::stdin().lock();
            while let Ok(Some(line)) = next(&mut input) {
                if send.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Self { lines, opened: false }
    }

    /// What is to be served, or what is to be answered at once.
    fn take(&mut self, line: Line) -> Result<Option<ClientJsonRpcMessage>, Box<ServerJsonRpcMessage>> {
        let Line::Whole(bytes) = line else {
            return Err(refusal(
                ErrorData::invalid_request(format!("a message has at most {MOST_BYTES} bytes"), None),
                None,
            ));
        };
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes).trim_ascii();
        if bytes.is_empty() {
            return Ok(None);
        }
        let message = match serde_json::from_slice::<ClientJsonRpcMessage>(bytes) {
            Ok(message) => message,
            Err(_) => return unread(bytes).map_or(Ok(None), Err),
        };
        self.opened |= opens(&message);
        Ok(Some(message).filter(|message| self.opened || matches!(message, JsonRpcMessage::Request(_))))
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let written = tokio::task::spawn_blocking(move || write(&item));
        async move { written.await.map_err(io::Error::other)? }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let line = self.lines.recv().await?;
            match self.take(line) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(answer) => self.send(*answer).await.ok()?,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The next line, with or without its end; a longer one than is allowed is read to its end and thrown away.
fn next(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    input.by_ref().take(MOST_BYTES).read_until(b'\n', &mut bytes)?;
    if (bytes.len() as u64) < MOST_BYTES || bytes.ends_with(b"\n") {
        return Ok((!bytes.is_empty()).then_some(Line::Whole(bytes)));
    }
    input.skip_until(b'\n')?;
    Ok(Some(Line::TooLong))
}

fn write(message: &ServerJsonRpcMessage) -> io::Result<()> {
    let mut value = serde_json::to_value(message)?;
    // An error whose request could not be read says so with an id of null.
    if let Some(fields) = value.as_object_mut().filter(|fields| fields.contains_key("error")) {
        fields.entry("id").or_insert(Value::Null);
    }
    let mut bytes = serde_json::to_vec(&value)?;
    bytes.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&bytes)?;
    out.flush()
}

/// The answer to what is no message; a notification gets none.
fn unread(bytes: &[u8]) -> Option<Box<ServerJsonRpcMessage>> {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return Some(refusal(ErrorData::parse_error("this line is no JSON; send one message a line", None), None));
    };
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    if id.is_none() && value.get("method").is_some() {
        return None;
    }
    Some(refusal(ErrorData::invalid_request("this is no JSON-RPC 2.0 message of the protocol", None), id))
}

fn refusal(error: ErrorData, id: Option<RequestId>) -> Box<ServerJsonRpcMessage> {
    Box::new(ServerJsonRpcMessage::error(error, id))
}

/// Whether the protocol takes other messages than requests from this one on.
fn opens(message: &ClientJsonRpcMessage) -> bool {
    use rmcp::model::{ClientRequest, GetMeta};
    match message {
        JsonRpcMessage::Request(sent) => match &sent.request {
            ClientRequest::InitializeRequest(_) => true,
            ClientRequest::DiscoverRequest(_) => false,
            other => other.get_meta().protocol_version().is_some(),
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let mut input = io::BufReader::with_capacity(7, text.as_bytes());
        let shown = |line| match line {
            Line::Whole(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Line::TooLong => "too long".to_string(),
        };
        std::iter::from_fn(|| next(&mut input).unwrap()).map(shown).collect()
    }

    #[test]
    fn m5_a_line_that_is_too_long_is_left_out_and_the_next_one_read() {
        let most = usize::try_from(MOST_BYTES).unwrap();
        assert_eq!(lines("a\n\nlast"), ["a\n", "\n", "last"]);
        assert_eq!(lines(&format!("{}\nb\n", "x".repeat(most))), ["too long", "b\n"]);
        assert_eq!(lines(&format!("{}\n", "x".repeat(most - 1))).len(), 1);
        assert_eq!(lines(&"x".repeat(3 * most)), ["too long"]);
    }
}

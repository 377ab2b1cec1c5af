//! `taut rpc <method>`: a method by hand, through the daemon's socket where there is one, else in process.

use crate::args::RpcArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::stdin;
use daemon::Client;
use host::paths::PathVariables;
use model::Environment;
use pipeline::{Pipeline, RpcCaller, RpcError};
use serde_json::{Value, json};
use std::time::Duration;

/// What a call may take that nobody's tool waits for.
const PATIENCE: Duration = Duration::from_secs(1);

pub fn run(args: &RpcArgs, printer: &Printer) -> Result<Exit, CliError> {
    let bytes = stdin::read().bytes;
    let params: Value = if bytes.iter().all(u8::is_ascii_whitespace) {
        json!({})
    } else {
        serde_json::from_slice(&bytes).map_err(|error| {
            CliError::failed("stdin is not JSON")
                .because(&error)
                .hint(format!("echo '{{}}' | taut rpc {}", args.method))
        })?
    };
    let places = PathVariables::from_process();
    let env = sys::environment::text_variables().filter(|(name, _)| agents::is_allowed(name)).collect();
    let caller = RpcCaller {
        cwd: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        env: Environment(env),
        parent: Some(std::os::unix::process::parent_id()),
    };
    let params = pipeline::with_caller(&args.method, params, caller).map_err(refused)?;
    let (mut result, via) = match by_daemon(&args.method, &params, &places) {
        Some(result) => (result, "daemon"),
        None => (in_process(&args.method, params, &places)?, "process"),
    };
    if printer.json() {
        result["via"] = json!(via);
    }
    printer.object(&result);
    Ok(Exit::Ok)
}

/// Whatever keeps a daemon from answering, the work is done without it, as one call with one id.
fn by_daemon(method: &str, params: &Value, places: &PathVariables) -> Option<Value> {
    if service::without_daemon() {
        return None;
    }
    Client::new(&places.state(), PATIENCE).rpc(method, params).ok()?.ok()
}

fn in_process(method: &str, params: Value, places: &PathVariables) -> Result<Value, CliError> {
    let mut pipeline = Pipeline::new(service::setting(places));
    pipeline::rpc(&mut pipeline, method, params, RpcCaller::default()).map_err(refused)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
fn refused(error: RpcError) -> CliError {
    CliError::not_found(error.to_string()).hint("taut rpc hooks.preToolUse < call.json")
}

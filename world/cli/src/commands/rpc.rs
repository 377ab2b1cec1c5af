//! `taut rpc <method>`: a method by hand, over the daemon or without it.

use crate::args::RpcArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::stdin;
use host::paths::PathVariables;
use model::Environment;
use pipeline::{Pipeline, RpcCaller};
use serde_json::{Value, json};

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
    let env = std::env::vars().filter(|(name, _)| agents::is_allowed(name)).collect();
    let caller = RpcCaller {
        cwd: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
        env: Environment(env),
        parent: Some(std::os::unix::process::parent_id()),
    };
    let mut pipeline = Pipeline::new(service::setting(&places));
    let result = pipeline::rpc(&mut pipeline, &args.method, params, caller)
        .map_err(|error| CliError::not_found(error.to_string()).hint("taut rpc hooks.preToolUse < call.json"))?;
    printer.object(&result);
    Ok(Exit::Ok)
}

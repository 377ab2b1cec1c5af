//! `taut ui`: the fleet as a page in the browser, from this machine only.

use super::stored;
use crate::error::CliError;
use crate::exit::Exit;
use crate::person;
use crate::printer::Printer;
use actions::{FleetPlace, Person};
use clap::Args;
use dash::web::{PagePerson, ServedNumbers, ServingEnd, Site, WebOptions};
use host::paths::PathVariables;
use model::card::ActionPlace;
use serde_json::json;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use store::recall::RecallIndex;
use store::{Store, StoreHandle};

#[derive(Debug, Args)]
pub struct UiArgs {
    /// The port to listen on; a free one where none is said
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Only print the address
    #[arg(long)]
    pub no_open: bool,
    /// Only show: nothing can be answered, said or stopped from the page
    #[arg(long)]
    pub read_only: bool,
    /// Also serve the fleet's numbers at /metrics, as Prometheus reads them, to who has the secret of the address
    #[arg(long)]
    pub metrics: bool,
    /// The address to listen on: 127.0.0.1 and no other
    #[arg(long, default_value = "127.0.0.1", hide_default_value = true, value_name = "ADDRESS")]
    pub listen: String,
}

pub fn run(args: &UiArgs, printer: &Printer) -> Result<Exit, CliError> {
    on_loopback(args)?;
    // Brings an older database up to date, which the page, that reads first of all, could not.
    drop(stored()?);
    let paths = PathVariables::from_process();
    let folder = paths.state();
    let (person, why_not) = who_acts(args, &paths);
    let failed = |error: dash::web::WebError| CliError::failed("the page cannot be served").because(&error);
    let numbers = if args.metrics { ServedNumbers::Yes } else { ServedNumbers::No };
    let options = WebOptions { folder: folder.clone(), port: args.port, person, numbers };
    let site = Site::open(options).map_err(failed)?;
    let metrics = site.metrics_url();
    let (url, code) = (site.url(), site.code().map(str::to_owned));
    keep_index_up(&folder);
    service::follow_clients(&PathVariables::from_process());
    // A browser that goes away in the middle of an answer is an error of that
    // answer, and not the end of the program as it is for a listing.
    sys::signals::ignore(libc::SIGPIPE);
    let announce = || {
        if printer.json() {
            let mut told = json!({"url": url});
            if let Some(code) = &code {
                told["code"] = json!(code);
            }
            if let Some(metrics) = &metrics {
                told["metrics"] = json!(metrics);
            }
            printer.object(&told);
        } else {
            printer.line(&url);
            if let Some(metrics) = &metrics {
                printer.note(format!("numbers at {metrics}, with the secret: `Authorization: Bearer …` or `?token=…`"));
            }
            printer.note("the address holds a secret: whoever has it can read along. Ctrl+C ends it");
            match &code {
                Some(code) => printer.note(format!(
                    "code {code}: the page asks for it before it acts for you, and again after ten minutes without an act"
                )),
                None => printer.note(format!("this page only shows: {why_not}")),
            }
        }
        (!args.no_open && !printer.json() && has_display()).then(|| Opener::open(&folder, &url))
    };
    Ok(match site.run(announce).map_err(failed)? {
        ServingEnd::Interrupted => Exit::Interrupted,
        ServingEnd::Terminated => Exit::Ok,
    })
}

/// Who acts on the page is whoever started it, if that is a person: an agent could start one for itself.
fn who_acts(args: &UiArgs, paths: &PathVariables) -> (Option<PagePerson>, &'static str) {
    if args.read_only {
        return (None, "--read-only says so");
    }
    if person::required("ui").is_err() {
        return (None, "it was not started by a person at a terminal, outside any agent");
    }
    let who = Person { user: person::name(), place: ActionPlace::Page };
    let place = FleetPlace { state: paths.state(), home: paths.home() };
    (Some(PagePerson { person: who, place, config: paths.user_config(), visitor: person::at_the_other_end }), "")
}

/// Whoever reaches the port is one secret away from answering for you, and plain HTTP would tell that to the network.
fn on_loopback(args: &UiArgs) -> Result<(), CliError> {
    if matches!(args.listen.as_str(), "127.0.0.1" | "localhost") {
        return Ok(());
    }
    let port = if args.port == 0 { 43121 } else { args.port };
    let what = format!("`taut ui` listens on 127.0.0.1 only, not on {}: it has neither TLS nor a login", args.listen);
    Err(CliError::usage(what).hint(format!(
        "here `taut ui --no-open --port {port}`, and where you are `ssh -L {port}:127.0.0.1:{port} <this machine>`"
    )))
}

/// The page only reads. Without a daemon nobody else would enter what happens while it is open.
fn keep_index_up(folder: &Path) {
    const EVERY: Duration = Duration::from_secs(2);
    let (folder, setting) = (folder.to_path_buf(), service::setting(&PathVariables::from_process()));
    std::thread::spawn(move || {
        let mut seen = StoreHandle::default();
        let mut switches = pipeline::MemorySwitches::new(&setting);
        loop {
            // What cannot be read now may be in a moment, and the page says what the store cannot.
            if folder.join(store::DATABASE).exists()
                && let Ok(store) = seen.get(|| Store::open_existing_read_only(&folder))
                && let Ok(mut index) = RecallIndex::open(&folder)
            {
                let _ = pipeline::catch_up(&mut index, store, &mut switches, EVERY);
            }
            std::thread::sleep(EVERY);
        }
    });
}

/// A person sits at this very machine, in front of something that shows windows.
fn has_display() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let windows = cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY");
    windows && !set("SSH_CONNECTION") && Printer::has_reader()
}

/// A private file that leads the browser to the page. Every user of a machine
/// can read the arguments of every process: the secret must not be in them.
struct Opener(PathBuf);

impl Opener {
    /// A browser that cannot be opened is no harm: the address is on the screen.
    fn open(folder: &Path, url: &str) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let opener = Self(folder.join(format!("ui-{}.html", std::process::id())));
        // One that a killed process with our number left behind.
        let _ = fs::remove_file(&opener.0);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&opener.0)?;
        write!(file, "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={url}\"><title>taut</title>")?;
        let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut command = Command::new(program);
        command.arg(&opener.0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        // Waited for by nobody else; some browsers stay in the foreground.
        std::thread::spawn(move || child.wait());
        Ok(opener)
    }
}

impl Drop for Opener {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

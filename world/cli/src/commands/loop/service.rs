//! A unit that goes on with the loop after a reboot: for systemd, or for launchd.

use super::{LoopArgs, ServiceArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::printer::{Printer, Text, text};
use host::paths::PathVariables;
use model::run::Permissions;
use serde_json::json;
use std::path::Path;

/// How a loop ends that a restart would not make better: nothing to go on with, a limit, nothing left to do, a hook's or a
/// person's word.
const OVER: [u8; 8] = [2, 10, 11, 12, 13, 14, 21, 130];

/// What a service starts, and where.
struct LoopService {
    name: String,
    folder: String,
    line: Vec<String>,
    /// Without these the agent is not found, or another record is written.
    environment: Vec<(&'static str, String)>,
}

pub(super) fn run(args: &ServiceArgs, printer: &Printer) -> Result<Exit, CliError> {
    let service = LoopService::here(&args.of_loop)?;
    let launchd = args.launchd || cfg!(target_os = "macos");
    let (file, lines) = if launchd { service.launchd() } else { service.systemd() };
    if printer.json() {
        printer.object(&json!({"file": file, "text": lines.join("\n") + "\n"}));
    } else {
        // What a shell or a unit would take for more than a letter is quoted already; a control is in none of it.
        lines.iter().for_each(|line| printer.line(text!("{}", Text::lines(line))));
    }
    Ok(Exit::Ok)
}

impl LoopService {
    fn here(args: &LoopArgs) -> Result<Self, CliError> {
        let places = PathVariables::from_process();
        let folder = host::probe::project(&std::env::current_dir()?, &places.home()).work_tree;
        let program = std::env::current_exe()?.to_str().map(String::from);
        let program = program.ok_or_else(|| CliError::failed("the path of this program is no text"))?;
        let mut line = vec![program, "loop".to_string(), "build".to_string(), "--resume".to_string()];
        line.extend(flags(args)?);
        let environment = ["PATH", "TAUT_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"];
        let environment: Vec<(&str, String)> =
            environment.into_iter().filter_map(|name| Some((name, std::env::var(name).ok()?))).collect();
        let service = Self { name: name(&folder), folder, line, environment };
        service.readable()?;
        Ok(service)
    }

    /// A line that ends early would make one of its own of the rest.
    fn readable(&self) -> Result<(), CliError> {
        let values = self.environment.iter().map(|(_, value)| value);
        if let Some(word) =
            self.line.iter().chain(values).chain([&self.folder]).find(|word| word.contains(char::is_control))
        {
            return Err(CliError::failed(format!("a unit cannot hold a line break or another control: {word}"))
                .hint("rename the folder, or leave the option out"));
        }
        if self.folder.ends_with('\\') || self.folder.ends_with(char::is_whitespace) {
            let what = format!("a unit cannot name a folder that ends in a space or a backslash: {}", self.folder);
            return Err(CliError::failed(what).hint("rename the folder"));
        }
        Ok(())
    }

    /// The options once more, as a shell takes them.
    fn typed(&self) -> String {
        let flags = self.line.iter().skip(4);
        flags.map(|flag| format!(" '{}'", flag.replace('\'', "'\\''"))).collect()
    }

    fn systemd(&self) -> (String, Vec<String>) {
        let file = format!("{}.service", self.name);
        let codes = |codes: &[u8]| codes.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
        let words = self.line.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let mut lines = vec![
            "# Goes on with the loop after a reboot; not after it is complete or a limit holds. To install it:"
                .to_string(),
            "#   mkdir -p ~/.config/systemd/user".to_string(),
            format!("#   taut loop service{} > ~/.config/systemd/user/{file}", self.typed()),
            format!("#   systemctl --user daemon-reload && systemctl --user enable --now {file}"),
            "#   loginctl enable-linger    (once, so that it runs before you log in)".to_string(),
            "[Unit]".to_string(),
            format!("Description=taut loop in {}", self.folder.replace('%', "%%")),
            "StartLimitIntervalSec=1h".to_string(),
            "StartLimitBurst=5".to_string(),
            String::new(),
            "[Service]".to_string(),
            format!("WorkingDirectory={}", self.folder.replace('%', "%%")),
        ];
        let set = |(name, value): &(&str, String)| format!("Environment={}", quoted(&format!("{name}={value}")));
        lines.extend(self.environment.iter().map(set));
        lines.extend([
            // The colon: no variable of systemd's is put into it.
            format!("ExecStart=:{words}"),
            "Restart=on-failure".to_string(),
            "RestartSec=60".to_string(),
            format!("SuccessExitStatus={}", codes(&OVER)),
            format!("RestartPreventExitStatus={}", codes(&OVER)),
            "KillMode=mixed".to_string(),
            "TimeoutStopSec=60".to_string(),
            String::new(),
            "[Install]".to_string(),
            "WantedBy=default.target".to_string(),
        ]);
        (file, lines)
    }

    /// launchd knows of one way to end well, so a shell makes one of them all.
    fn launchd(&self) -> (String, Vec<String>) {
        let file = format!("{}.plist", self.name);
        let over = OVER.map(|code| code.to_string()).join("|");
        let script = format!("\"$@\"; code=$?; case $code in {over}) exit 0;; esac; exit $code");
        let shell = ["/bin/sh", "-c", &script, "taut-loop"];
        let words = shell.into_iter().chain(self.line.iter().map(String::as_str));
        let mut lines = vec![
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>".to_string(),
            format!("<!-- mkdir -p ~/Library/LaunchAgents; save this there as {file}, then: -->"),
            format!("<!-- launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{file} -->"),
            "<plist version=\"1.0\">".to_string(),
            "<dict>".to_string(),
            format!("  <key>Label</key><string>{}</string>", xml(&self.name)),
            format!("  <key>WorkingDirectory</key><string>{}</string>", xml(&self.folder)),
            "  <key>ProgramArguments</key>".to_string(),
            "  <array>".to_string(),
        ];
        lines.extend(words.map(|word| format!("    <string>{}</string>", xml(word))));
        lines.extend(["  </array>", "  <key>EnvironmentVariables</key>", "  <dict>"].map(String::from));
        let set = |(name, value): &(&str, String)| format!("    <key>{name}</key><string>{}</string>", xml(value));
        lines.extend(self.environment.iter().map(set));
        lines.extend(
            [
                "  </dict>",
                "  <key>RunAtLoad</key><true/>",
                "  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>",
                "  <key>ThrottleInterval</key><integer>60</integer>",
                "</dict>",
                "</plist>",
            ]
            .map(String::from),
        );
        (file, lines)
    }
}

/// One unit for one work tree, with a name that any file may have.
fn name(folder: &str) -> String {
    let last = Path::new(folder).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String = last.chars().filter(char::is_ascii_alphanumeric).take(30).collect();
    let digest: String = pipeline::sha256(folder).chars().take(8).collect();
    if plain.is_empty() { format!("taut-loop-{digest}") } else { format!("taut-loop-{plain}-{digest}") }
}

/// As systemd reads a word.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

fn xml(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', "&apos;")
}

/// What was asked for, as the loop takes it: each in one word, so that no value is taken for an option.
fn flags(args: &LoopArgs) -> Result<Vec<String>, CliError> {
    let prompt = args.prompt.as_ref().map(std::path::absolute).transpose()?;
    let seconds = |ms: i64| format!("{}s", ms / 1000);
    let permissions = args.danger.then_some(Permissions::Skipped).or(args.permissions);
    let said = [
        ("agent", args.agent.clone()),
        ("model", args.model.clone()),
        ("prompt", prompt.map(|path| path.to_string_lossy().into_owned())),
        ("max-iterations", args.max_iterations.map(|count| count.to_string())),
        ("max-time", args.max_time.map(seconds)),
        ("max-cost", args.max_cost.map(|dollars| dollars.to_string())),
        ("max-failures", args.max_failures.map(|count| count.to_string())),
        ("idle-iterations", args.idle_iterations.map(|count| count.to_string())),
        ("source", args.source.map(|source| source.name().to_string())),
        ("permissions", permissions.map(|mode| permission_word(mode).to_string())),
        ("verify", args.verify.clone()),
        ("max-silence", args.max_silence.map(seconds)),
        ("max-iteration-time", args.max_iteration_time.map(seconds)),
        ("workers", args.workers.map(|count| count.to_string())),
        ("push", args.push.clone()),
    ];
    let mut flags: Vec<String> =
        said.into_iter().filter_map(|(name, value)| value.map(|value| format!("--{name}={value}"))).collect();
    flags.extend(args.agent_arg.iter().map(|arg| format!("--agent-arg={arg}")));
    flags.extend(args.no_ceiling.then(|| "--no-ceiling".to_string()));
    Ok(flags)
}

fn permission_word(mode: Permissions) -> &'static str {
    match mode {
        Permissions::Asked => "ask",
        Permissions::Edits => "edits",
        Permissions::Skipped => "all",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(folder: &str) -> LoopService {
        LoopService {
            name: name(folder),
            folder: folder.into(),
            line: vec!["/opt/ta ut/ta$ut".into(), "loop".into(), "--verify=a \"b\" 50% \\ $x".into()],
            environment: vec![("PATH", "/bin:/a b".into())],
        }
    }

    #[test]
    fn l13_whatever_is_in_a_path_or_an_option_is_quoted_as_its_reader_takes_it() {
        let (file, unit) = service("/home/a b/50%\"ü").systemd();
        assert!(unit.contains(&"WorkingDirectory=/home/a b/50%%\"ü".to_string()), "{unit:#?}");
        assert!(unit.contains(&"Environment=\"PATH=/bin:/a b\"".to_string()), "{unit:#?}");
        let line = r#"ExecStart=:"/opt/ta ut/ta$ut" "loop" "--verify=a \"b\" 50%% \\ $x""#;
        assert!(unit.contains(&line.to_string()), "{unit:#?}");
        assert!(file.starts_with("taut-loop-50-") && file.ends_with(".service"), "{file}");
        let (_, plist) = service("/home/<a> & 'b'").launchd();
        let folder = "  <key>WorkingDirectory</key><string>/home/&lt;a&gt; &amp; &apos;b&apos;</string>";
        assert!(plist.contains(&folder.to_string()), "{plist:#?}");
    }

    #[test]
    fn l13_a_path_that_would_make_a_line_of_its_own_is_refused() {
        for folder in ["/a\nExecStart=/bin/rm", "/a\r", "/a\u{1b}[2J", "/a\\", "/a "] {
            assert!(service(folder).readable().is_err(), "{folder:?}");
        }
        assert!(service("/a b/ü%").readable().is_ok());
    }
}

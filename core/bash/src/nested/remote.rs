//! Commands for another machine: nothing known here holds there.

use super::{joined, options, shell_text};
use crate::reading::{StdinSource, Via, Word};
use crate::walk::{Place, Walker};

const SSH: &[&str] = &[
    "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-P", "-p", "-Q", "-R",
    "-S", "-W", "-w", "--ssh", "--port",
];
/// Programs that give a command to other machines: the words before it, and options that take a value.
const MACHINES: &[(&str, &[&str], usize, &[&str])] = &[
    ("adb", &["shell"], 0, &["-s", "-t", "-P", "-H"]),
    ("lima", &[], 0, &[]),
    ("limactl", &["shell"], 1, &["--workdir"]),
    ("multipass", &["exec"], 1, &["-d"]),
    ("pdsh", &[], 0, &["-w", "-x", "-g", "-f", "-u", "-l", "-t", "-R"]),
    ("clush", &[], 0, &["-w", "-x", "-g", "-X", "-f", "-l", "-o"]),
    ("pssh", &[], 0, &["-h", "-H", "-l", "-p", "-t", "-o", "-e", "-O"]),
    ("parallel-ssh", &[], 0, &["-h", "-H", "-l", "-p", "-t", "-o", "-e", "-O"]),
    ("salt", &[], 2, &["-t", "-b"]),
    ("knife", &["ssh"], 1, &["-x", "-i", "-a"]),
];
/// The same in an option.
const GIVEN: &[&str] = &["-C", "--command", "--scripts", "--ssh-command"];

/// Settings whose value is run.
const RUN: &[&str] = &["proxycommand", "localcommand", "knownhostscommand", "permitlocalcommand"];
const SSHPASS: &[&str] = &["-p", "-f", "-d", "-P"];

impl Walker {
    pub(super) fn open_remote(&mut self, program: &str, args: &[Word], place: &Place) {
        if program == "sshpass" {
            let (_, operands) = options::split(args, SSHPASS);
            self.inner(operands, Vec::new(), Via::Wrapper(program.to_string()), place);
            return;
        }
        if matches!(program, "vagrant" | "gcloud" | "ansible") {
            self.open_given(program, args, place);
            return;
        }
        let (before, operands) = options::split(args, SSH);
        // Options may follow the host as well.
        let (behind, words) = options::split(operands.get(1..).unwrap_or_default(), SSH);
        self.run_by_options(program, before.iter().chain(&behind), place);
        if matches!(program, "scp" | "sftp") {
            return;
        }
        let via = Via::Wrapper("ssh".to_string());
        match words {
            [] => {
                if let (Some(_), Some(text)) = (operands.first(), place.draft.clone()) {
                    self.elsewhere_text(&text, via, place);
                }
            }
            words => self.elsewhere_text(&joined(words), via, place),
        }
    }

    /// `-o ProxyCommand=TEXT` and its kind run on this machine; `scp -S PROGRAM` as well.
    fn run_by_options<'o>(
        &mut self,
        program: &str,
        options: impl Iterator<Item = &'o (String, Option<Word>)>,
        place: &Place,
    ) {
        for (name, value) in options {
            let Some(text) = value.as_ref().map(shell_text) else { continue };
            let text = match name.as_str() {
                "-o" => match text.split_once(['=', ' ']) {
                    Some((key, text)) if RUN.contains(&key.trim().to_ascii_lowercase().as_str()) => text.to_string(),
                    _ => continue,
                },
                "-S" if matches!(program, "scp" | "sftp") => text,
                _ => continue,
            };
            // Not named after the program: what that runs is elsewhere.
            self.inner_text(text.trim_matches(['"', '\'']), Via::Wrapper("proxy".to_string()), place);
        }
    }

    /// `nc -e PROGRAM`, `ncat -c TEXT`, `socat … EXEC:PROGRAM`: a program that another machine talks to.
    pub(super) fn open_connection(&mut self, args: &[Word], place: &Place) {
        let at = self.reading.commands.len().saturating_sub(1);
        let here = place.fed(StdinSource::Pipe([at].into()), None);
        let via = Via::Wrapper("nc".to_string());
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let shown = word.shown();
            let runs = matches!(shown.as_str(), "-e" | "-c" | "--exec" | "--sh-exec");
            let named = ["EXEC:", "SYSTEM:", "exec:", "system:"].iter().find_map(|mark| shown.strip_prefix(mark));
            let text = if runs { words.next().map(shell_text) } else { named.map(first_option) };
            if let Some(text) = text {
                self.inner_text(&text, via.clone(), &here);
            }
        }
    }

    /// `vagrant ssh -c TEXT`, `gcloud compute ssh HOST --command=TEXT`, `ansible HOSTS -m shell -a TEXT`.
    fn open_given(&mut self, program: &str, args: &[Word], place: &Place) {
        let words: Vec<String> = args.iter().map(Word::shown).collect();
        let names: &[&str] = if program == "ansible" { &["-a", "--args"] } else { &["-c", "--command"] };
        let modules = ["ssh", "shell", "command", "raw"];
        let module = words.iter().any(|word| matches!(word.as_str(), "-m" | "--module-name"));
        // Without a module `ansible` runs a command.
        if (module || program != "ansible") && !words.iter().any(|word| modules.contains(&word.as_str())) {
            return;
        }
        let at = words.iter().position(|word| names.contains(&word.as_str()));
        let attached = words.iter().find_map(|word| word.strip_prefix("--command=")).map(str::to_string);
        let next = at.and_then(|at| args.get(at + 1)).map(shell_text);
        if let Some(text) = next.or(attached) {
            self.elsewhere_text(&text, Via::Wrapper("ssh".to_string()), place);
        }
    }

    /// `adb shell TEXT`, `pdsh -w hosts TEXT`, `fly ssh console -C TEXT`.
    pub(super) fn open_machine(&mut self, program: &str, args: &[Word], place: &Place) {
        let via = Via::Wrapper("ssh".to_string());
        let Some((_, subs, skip, valued)) = MACHINES.iter().find(|(name, ..)| *name == program) else {
            let texts: Vec<Word> = args
                .windows(2)
                .filter_map(|pair| match pair {
                    [option, text] if GIVEN.contains(&option.shown().as_str()) => Some(text.clone()),
                    _ => None,
                })
                .collect();
            texts.iter().for_each(|text| self.elsewhere_text(&shell_text(text), via.clone(), place));
            return;
        };
        let (_, mut operands) = options::split(args, valued);
        for sub in *subs {
            match operands.split_first() {
                Some((first, rest)) if first.shown() == *sub => operands = options::split(rest, valued).1,
                _ => return,
            }
        }
        let words = options::split(operands.get(*skip..).unwrap_or_default(), valued).1;
        self.elsewhere_text(&joined(words), via, place);
    }

    /// Reads text that another machine's shell would run.
    pub(super) fn elsewhere_text(&mut self, text: &str, via: Via, place: &Place) {
        let there = self.scope.elsewhere();
        let kept = std::mem::replace(&mut self.scope, there);
        self.read_text(text, &place.under(via));
        self.scope = kept;
    }

    /// Runs words that another machine would run.
    pub(super) fn elsewhere(&mut self, words: &[Word], via: Via, place: &Place) {
        let there = self.scope.elsewhere();
        let kept = std::mem::replace(&mut self.scope, there);
        self.inner(words, Vec::new(), via, place);
        self.scope = kept;
    }
}

/// An address of `socat` without its options: `EXEC:'sh -i',pty`.
fn first_option(address: &str) -> String {
    address.split(',').next().unwrap_or(address).trim_matches(['\'', '"']).to_string()
}

//! Sending: programs that carry a file's content off this machine.

use super::{ActedBy, PathAction, PathVerb};
use crate::args::{Args, Grammar, text};
use bash::StdinSource;

const SCP: Grammar = Grammar { short: "cFiJloPSDX", long: &[], single_dash_long: false };
const CURL: Grammar = Grammar {
    short: "oHdFXuAebTKmrwxyYzCDPtEQ",
    long: &[
        "output", "header", "data", "data-binary", "data-raw", "data-urlencode", "data-ascii", "json", "form",
        "form-string", "request", "user", "upload-file", "config", "url", "cert", "key", "cacert", "proxy", "cookie",
        "cookie-jar", "connect-timeout", "max-time", "retry",
    ],
    single_dash_long: false,
};
const WGET: Grammar = Grammar {
    short: "OPoaeitTwQU",
    long: &["post-file", "body-file", "post-data", "header", "method"],
    single_dash_long: false,
};

pub(super) fn acts(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let words = by.command.args();
    match by.program {
        "curl" => curl(by, &Args::parse(words, CURL), acts),
        "wget" => {
            let args = Args::parse(words, WGET);
            let sent = args.values("post-file").chain(args.values("body-file"));
            acts.extend(sent.map(|path| PathAction { deed: PathVerb::Send, target: by.path(path) }));
        }
        "sftp" | "ftp" => put(by, acts),
        "scp" | "rcp" | "croc" => copies(by, &Args::parse(words, SCP), acts),
        "aws" | "gsutil" | "gcloud" | "az" | "rclone" | "mc" | "s3cmd" | "b2" | "s5cmd" | "azcopy" => {
            cloud_copy(by, acts)
        }
        "http" | "https" | "xh" | "xhs" => {
            let sent = words.iter().map(text).filter_map(|word| word.split_once('@').map(|(_, path)| path.to_string()));
            acts.extend(sent.map(|path| PathAction { deed: PathVerb::Send, target: by.path(&path) }));
            sent_input(acts);
        }
        "gh" if words.first().is_some_and(|word| text(word) == "gist") => {
            acts.extend(
                words
                    .iter()
                    .skip(2)
                    .filter(|word| !text(word).starts_with('-'))
                    .map(|word| PathAction { deed: PathVerb::Send, target: by.target(word) }),
            );
        }
        "pastebinit" | "wormhole" | "ffsend" | "telegram-send" | "onionshare-cli" | "wgetpaste" => named(by, acts),
        "lftp" | "smbclient" | "tftp" => put_by_option(by, acts),
        "mutt" | "mail" | "mailx" | "swaks" | "sendemail" => {
            named(by, acts);
            sent_input(acts);
        }
        "nc" | "ncat" | "netcat" | "socat" | "telnet" | "sendmail" | "ssh" | "openssl" | "websocat" => sent_input(acts),
        _ => {}
    }
}

fn curl(by: &ActedBy<'_>, args: &Args<'_>, acts: &mut Vec<PathAction>) {
    for name in ["d", "data", "data-binary", "data-ascii", "data-urlencode", "json", "F", "form"] {
        for value in args.values(name) {
            let file = value
                .strip_prefix('@')
                .or_else(|| value.split_once("=@").or_else(|| value.split_once("=<")).map(|(_, file)| file))
                .or_else(|| value.split_once('@').filter(|_| name == "data-urlencode").map(|(_, file)| file));
            if let Some(file) = file.map(|file| file.split(';').next().unwrap_or(file)).filter(|file| *file != "-") {
                acts.push(PathAction { deed: PathVerb::Send, target: by.path(file) });
            }
        }
    }
    for word in &args.operands {
        if let Some(path) = text(word).strip_prefix("file://") {
            acts.push(PathAction { deed: PathVerb::Read, target: by.path(path) });
        }
    }
    for file in args.values("T").chain(args.values("upload-file")).filter(|file| !matches!(*file, "-" | ".")) {
        acts.push(PathAction { deed: PathVerb::Send, target: by.path(file) });
    }
    sent_input(acts);
}

/// Every file that is named is sent.
fn named(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let files = by.command.args().iter().filter(|word| !text(word).starts_with('-'));
    acts.extend(files.map(|word| PathAction { deed: PathVerb::Send, target: by.target(word) }));
}

/// `lftp -e 'put .env'`: one word holds the commands.
fn put_by_option(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let texts: Vec<_> = by.command.args().iter().map(text).filter(|word| word.contains("put ")).collect();
    for command in texts.iter().flat_map(|text| text.split([';', '\n'])) {
        let mut words = command.split_whitespace();
        if words.next().is_some_and(|verb| matches!(verb, "put" | "mput" | "mirror")) {
            let paths = words.filter(|word| !word.starts_with('-'));
            acts.extend(paths.map(|path| PathAction { deed: PathVerb::Send, target: by.path(path) }));
        }
    }
}

/// `sftp host <<< 'put .env'`: commands on the standard input name what is sent.
fn put(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    copies(by, &Args::parse(by.command.args(), SCP), acts);
    let StdinSource::Text(text) = &by.command.feed else { return };
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if words.next().is_some_and(|verb| matches!(verb, "put" | "mput" | "reput" | "send")) {
            let paths = words.filter(|word| !word.starts_with('-'));
            acts.extend(paths.map(|path| PathAction { deed: PathVerb::Send, target: by.path(path) }));
        }
    }
}

/// What a network program reads on its standard input leaves the machine.
fn sent_input(acts: &mut Vec<PathAction>) {
    let read: Vec<PathAction> = acts
        .iter()
        .filter(|act| act.deed == PathVerb::Read)
        .map(|act| PathAction { deed: PathVerb::Send, target: act.target.clone() })
        .collect();
    acts.extend(read);
}

fn copies(by: &ActedBy<'_>, args: &Args<'_>, acts: &mut Vec<PathAction>) {
    let Some((last, sources)) = args.operands.split_last() else { return };
    let remote = |shown: &str| shown.split('/').next().unwrap_or_default().contains(':');
    if remote(&last.shown()) {
        acts.extend(
            sources
                .iter()
                .filter(|word| !remote(&word.shown()))
                .map(|word| PathAction { deed: PathVerb::Send, target: by.target(word) }),
        );
    } else {
        acts.push(PathAction { deed: PathVerb::Write, target: by.target(last) });
    }
}

/// `aws s3 cp file s3://…` and its kin.
fn cloud_copy(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    const VERBS: &[&str] = &["cp", "mv", "sync", "copy", "put", "copyto", "mirror", "move"];
    let words: Vec<_> = by.command.args().iter().filter(|word| !text(word).starts_with('-')).collect();
    let verb = |wanted: &dyn Fn(&str) -> bool| words.iter().take(4).any(|word| wanted(&text(word)));
    // What is uploaded by these is named by an option, or stands between the bucket and its name there.
    let uploads = verb(&|word| word.starts_with("upload"))
        || by.program == "mc" && verb(&|word| matches!(word, "cp" | "mirror" | "put"));
    if !uploads && !verb(&|word| VERBS.contains(&word)) {
        return;
    }
    let Some((last, rest)) = words.split_last() else { return };
    if uploads || text(last).contains(':') {
        let files = rest.iter().skip(1).chain(uploads.then_some(last)).filter(|word| !text(word).contains(':'));
        acts.extend(files.map(|word| PathAction { deed: PathVerb::Send, target: by.target(word) }));
    }
}

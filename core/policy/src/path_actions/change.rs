//! Writing: programs that write, replace or move files, and those that change modes and owners.

use super::{ActedBy, PathAction, PathVerb, Reach, folder};
use crate::args::{Args, Grammar, text};
use crate::target::within;
use bash::{Command, StdinSource, Word};
use model::patch::{PatchVerb, patched_file};
use std::sync::Arc;

const COPY: Grammar = Grammar {
    short: "tSgmo",
    long: &["target-directory", "suffix", "mode", "owner", "group"],
    single_dash_long: false,
};
const TOUCH: Grammar = Grammar { short: "drt", long: &["date", "reference", "time"], single_dash_long: false };
const TEE: Grammar = Grammar { short: "", long: &[], single_dash_long: false };
const SED: Grammar = Grammar { short: "efl", long: &["expression", "file", "line-length"], single_dash_long: false };
const TRUNCATE: Grammar = Grammar { short: "sr", long: &["size", "reference"], single_dash_long: false };
const CURL: Grammar = Grammar {
    short: "oHdFXuAebTKmrwxyYzCDPtEQ",
    long: &[
        "output", "header", "data", "data-binary", "data-raw", "data-urlencode", "form", "request", "user",
        "upload-file", "output-dir", "config", "url",
    ],
    single_dash_long: false,
};
const WGET: Grammar =
    Grammar { short: "OPoaeitTwQU", long: &["output-document", "directory-prefix"], single_dash_long: false };
const CHANGE_MODE: Grammar = Grammar { short: "", long: &["reference", "from"], single_dash_long: false };
const ACL: Grammar = Grammar { short: "mMxX", long: &["modify", "remove", "set"], single_dash_long: false };
const RSYNC: Grammar = Grammar {
    short: "efBTM",
    long: &["exclude", "include", "filter", "rsh", "files-from", "exclude-from"],
    single_dash_long: false,
};
const TAR: Grammar =
    Grammar { short: "fCTXHIKLNVgb", long: &["file", "directory", "exclude", "files-from"], single_dash_long: false };
const SORT: Grammar = Grammar { short: "oktST", long: &["output"], single_dash_long: false };
const PATCH: Grammar = Grammar { short: "pdiorBDFVYz", long: &["input", "directory"], single_dash_long: false };
const ZIP: Grammar = Grammar { short: "bnPstixZ", long: &["exclude", "include", "temp-path"], single_dash_long: false };
const VIM: Grammar = Grammar { short: "cSuiTwWpt", long: &["cmd"], single_dash_long: false };
const UNZIP: Grammar = Grammar { short: "dxP", long: &[], single_dash_long: false };

pub(super) fn acts(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let words = by.command.args();
    match by.program {
        "mv" | "cp" | "install" | "ln" | "link" | "gcp" | "ditto" => place(by, &Args::parse(words, COPY), acts),
        // Touching a file changes nothing in it, but a new one in these folders is read by the system.
        "touch" => {
            let args = Args::parse(words, TOUCH);
            let system = |act: &PathAction| {
                act.target.path.as_deref().is_some_and(|path| within(path, "/etc") || within(path, "/usr"))
            };
            let targets =
                args.operands.iter().map(|word| PathAction { deed: PathVerb::Write, target: by.target(word) });
            acts.extend(targets.filter(system));
        }
        "tee" | "sponge" => all(by, &Args::parse(words, TEE), PathVerb::Write, acts),
        "truncate" => all(by, &Args::parse(words, TRUNCATE), PathVerb::Write, acts),
        "dd" => dd(by, acts),
        "sed" | "perl" | "ruby" => in_place(by, acts),
        "yq" | "sd" | "awk" | "gawk" => rewritten(by, acts),
        "curl" => curl(by, &Args::parse(words, CURL), acts),
        "wget" | "wget2" | "aria2c" | "axel" => wget(by, &Args::parse(words, WGET), acts),
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => permit(by, acts),
        "rsync" => rsync(by, &Args::parse(words, RSYNC), acts),
        "tar" | "bsdtar" => tar(by, words, acts),
        "unzip" => {
            let args = Args::parse(words, UNZIP);
            output(by, &args, &["d"], acts);
            folder::fill(by, args.value("d"), acts);
        }
        "7z" | "7za" | "7zz" | "7zr" => seven_zip(by, acts),
        "jq" | "jaq" | "gojq" | "json" | "dasel" | "rename" | "prename" => edited(by, acts),
        "sort" => output(by, &Args::parse(words, SORT), &["o", "output"], acts),
        "patch" => {
            let args = Args::parse(words, PATCH);
            all(by, &args, PathVerb::Write, acts);
            folder::fill(by, args.value("d").or(args.value("directory")), acts);
        }
        "apply_patch" | "applypatch" => patched(by, acts),
        "zip" => zip(by, &Args::parse(words, ZIP), acts),
        "vim" | "nvim" | "vi" => edits(by, &Args::parse(words, VIM), acts),
        "ed" | "ex" => all(by, &Args::parse(words, TEE), PathVerb::Write, acts),
        _ => {}
    }
}

/// The files that a patch names itself, which it is given as a word or on its standard input.
fn patched(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let given = by.command.args().first().and_then(Word::known);
    let text = match (&given, &by.command.feed) {
        (Some(text), _) => text.as_ref(),
        // Whoever reads it first leaves nothing of it to the next.
        (None, StdinSource::Text(text)) if is_first_to_read(by, text) => text.as_ref(),
        _ => return,
    };
    let files = text.lines().filter_map(patched_file);
    acts.extend(files.map(|(verb, path)| PathAction {
        deed: match verb {
            PatchVerb::Write => PathVerb::Write,
            PatchVerb::Remove => PathVerb::Remove(Reach::One),
        },
        target: by.path(path),
    }));
}

fn is_first_to_read(by: &ActedBy<'_>, text: &Arc<str>) -> bool {
    let reads = |command: &&Command| match &command.feed {
        StdinSource::Text(other) => Arc::ptr_eq(other, text) && command.words.first() == by.command.words.first(),
        _ => false,
    };
    by.listed.reading.commands.iter().find(reads).is_none_or(|first| std::ptr::eq(first, by.command))
}

fn all(by: &ActedBy<'_>, args: &Args<'_>, deed: PathVerb, acts: &mut Vec<PathAction>) {
    acts.extend(args.operands.iter().map(|word| PathAction { deed, target: by.target(word) }));
}

fn output(by: &ActedBy<'_>, args: &Args<'_>, names: &[&str], acts: &mut Vec<PathAction>) {
    for name in names {
        acts.extend(
            args.values(name)
                .filter(|path| *path != "-")
                .map(|path| PathAction { deed: PathVerb::Write, target: by.path(path) }),
        );
    }
}

fn curl(by: &ActedBy<'_>, args: &Args<'_>, acts: &mut Vec<PathAction>) {
    output(by, args, &["o", "output"], acts);
    if args.short('O') || args.long_flag("remote-name") || args.long_flag("remote-name-all") {
        downloads(by, args, args.value("output-dir"), acts);
    }
}

fn wget(by: &ActedBy<'_>, args: &Args<'_>, acts: &mut Vec<PathAction>) {
    output(by, args, &["O", "output-document", "P", "directory-prefix"], acts);
    if args.value("O").or(args.value("output-document")).is_none() {
        downloads(by, args, args.value("P").or(args.value("directory-prefix")), acts);
    }
}

/// A download without a name of its own gets the last part of its address.
fn downloads(by: &ActedBy<'_>, args: &Args<'_>, folder: Option<&str>, acts: &mut Vec<PathAction>) {
    for word in &args.operands {
        let name = name_of(word);
        let name = name.split(['?', '#']).next().unwrap_or_default();
        if !name.is_empty() && word.shown().contains('/') {
            let path = folder.map_or_else(|| name.to_string(), |folder| format!("{folder}/{name}"));
            acts.push(PathAction { deed: PathVerb::Write, target: by.path(&path) });
        }
    }
}

/// Copies, moves and links: sources and where they go.
fn place(by: &ActedBy<'_>, args: &Args<'_>, acts: &mut Vec<PathAction>) {
    if by.program == "install" && (args.short('d') || args.long_flag("directory")) {
        return;
    }
    let folder = args.value("t").or(args.value("target-directory"));
    let (sources, last): (&[&Word], Option<&&Word>) = match (folder, args.operands.split_last()) {
        (Some(_), _) => (&args.operands, None),
        (None, Some((last, sources))) => (sources, Some(last)),
        (None, None) => return,
    };
    let to_nowhere = last.is_some_and(|word| word.shown() == "/dev/null");
    for source in sources {
        let deed = match by.program {
            "mv" if to_nowhere => PathVerb::Remove(Reach::Tree),
            "mv" => PathVerb::Displace,
            "ln" | "link" => continue,
            _ => PathVerb::Read,
        };
        acts.push(PathAction { deed, target: by.target(source) });
        // A copy into a folder keeps its name there: `cp x ~/.ssh/` writes `~/.ssh/x`.
        if let Some(folder) = folder {
            folder::put(by, &format!("{folder}/"), source, false, acts);
        }
    }
    if let Some(last) = last.filter(|_| !sources.is_empty() && !to_nowhere) {
        acts.push(PathAction { deed: PathVerb::Write, target: by.target(last) });
        // `cp -T a ~/.claude`: the folder itself becomes the other.
        let whole = args.short('T') || args.abbreviated("no-target-directory", 4);
        for source in sources.iter().filter(|_| !last.has_unknown()) {
            folder::put(by, &last.shown(), source, whole, acts);
        }
    }
}

pub(super) fn name_of(word: &Word) -> String {
    let shown = word.shown();
    shown.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_string()
}

fn dd(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    for word in by.command.args() {
        let shown = word.shown();
        if let Some(path) = shown.strip_prefix("of=") {
            acts.push(PathAction { deed: PathVerb::Write, target: by.path(path) });
        } else if let Some(path) = shown.strip_prefix("if=") {
            acts.push(PathAction { deed: PathVerb::Read, target: by.path(path) });
        }
    }
}

/// `sed -i`, `perl -i`, `ruby -i` write what they read.
fn in_place(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let grammar =
        if by.program == "sed" { SED } else { Grammar { short: "eEIMm", long: &[], single_dash_long: false } };
    let args = Args::parse(by.command.args(), grammar);
    let writes = args.short('i') || args.abbreviated("in-place", 2);
    let scripted = !args.any_short("ef") && !args.long_flag("expression") && !args.long_flag("file");
    let skip = usize::from(by.program == "sed" && scripted);
    // `perl -ne` and `-pe` go through the files they are given.
    if by.program != "sed" && !writes && !args.any_short("np") {
        return;
    }
    if super::shows_names_only(by.command, by.program) {
        return;
    }
    let deed = if writes { PathVerb::Write } else { PathVerb::Read };
    acts.extend(args.operands.iter().skip(skip).map(|word| PathAction { deed, target: by.target(word) }));
}

/// `yq -i`, `sd` and `awk -i inplace` write what they read.
fn rewritten(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let args = Args::parse(by.command.args(), Grammar { short: "fvFpoe", long: &[], single_dash_long: false });
    let (writes, skip) = match by.program {
        "yq" => {
            let sub = args.operand(0).is_some_and(|word| matches!(word.as_ref(), "e" | "ea" | "eval" | "eval-all"));
            (args.short('i') || args.abbreviated("inplace", 3) || args.long_flag("in-place"), 1 + usize::from(sub))
        }
        "sd" => (!args.short('p') && !args.long_flag("preview"), 2),
        // The library is the operand behind its option.
        _ => (args.short('i') && args.operand(0).is_some_and(|word| word == "inplace"), 2),
    };
    let files = args.operands.iter().skip(skip).filter(|_| writes);
    acts.extend(files.map(|word| PathAction { deed: PathVerb::Write, target: by.target(word) }));
}

fn permit(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let grammar = if by.program == "setfacl" { ACL } else { CHANGE_MODE };
    let args = Args::parse(by.command.args(), grammar);
    let reach = if args.short('R') || args.abbreviated("recursive", 3) { Reach::Tree } else { Reach::One };
    // The rules of `setfacl` stand behind its options.
    let skip = usize::from(!args.long_flag("reference") && by.program != "setfacl");
    // `chmod -x file` and `chmod u-w file`: a mode that looks like an option is no operand.
    let flags = if by.program == "chattr" { "aAcCdDeijPsStTu" } else { "xwst" };
    let mode_as_flag = args.flags.iter().any(|flag| !flag.long && flags.contains(flag.name.as_ref()));
    let skip = if mode_as_flag { 0 } else { skip };
    acts.extend(
        args.operands
            .iter()
            .skip(skip)
            .map(|word| PathAction { deed: PathVerb::Permit(reach), target: by.target(word) }),
    );
}

fn rsync(by: &ActedBy<'_>, args: &Args<'_>, acts: &mut Vec<PathAction>) {
    let Some((last, sources)) = args.operands.split_last() else { return };
    if args.short('n') || args.long_flag("dry-run") {
        return;
    }
    let remote = |word: &Word| word.shown().contains(':');
    let deletes = args.flags.iter().any(|flag| flag.long && flag.name.starts_with("del"));
    // Everything on another machine, or a whole tree of its system: what a deployment writes to is deeper.
    if let Some((_, path)) = last.shown().rsplit_once(':').filter(|_| deletes)
        && path.trim_matches('/').split('/').count() <= 1
        && (path.starts_with('/') || path.is_empty() || path.starts_with('~'))
    {
        let whole = Word::text(if path.starts_with('/') { path } else { "/" });
        acts.push(PathAction { deed: PathVerb::Remove(Reach::Tree), target: by.target(&whole) });
    }
    if !remote(last) {
        acts.push(PathAction { deed: PathVerb::Write, target: by.target(last) });
        for source in sources.iter().filter(|_| !last.has_unknown()) {
            folder::put(by, &last.shown(), source, source.shown().ends_with('/'), acts);
        }
        if deletes {
            // What the source does not have is removed; on another disk that is a backup.
            let target = by.target(last);
            let backup = target
                .path
                .as_deref()
                .is_some_and(|path| ["/mnt/", "/media/", "/Volumes/"].iter().any(|disk| path.starts_with(disk)));
            let deed = if backup { PathVerb::Displace } else { PathVerb::Remove(Reach::Tree) };
            acts.push(PathAction { deed, target });
        }
    }
    if args.long_flag("remove-source-files") || args.long_flag("remove-sent-files") {
        // What has gone to another machine is gone from here.
        let deed = if remote(last) { PathVerb::Remove(Reach::Tree) } else { PathVerb::Displace };
        let local = sources.iter().filter(|word| !remote(word));
        acts.extend(local.map(|word| PathAction { deed, target: by.target(word) }));
    }
    let deed = if remote(last) { PathVerb::Send } else { PathVerb::Read };
    acts.extend(sources.iter().filter(|word| !remote(word)).map(|word| PathAction { deed, target: by.target(word) }));
}

fn tar(by: &ActedBy<'_>, words: &[Word], acts: &mut Vec<PathAction>) {
    // The first word may be a bundle of options without a dash: `tar xzf a.tgz`.
    let bundle = words.first().map(Word::shown).filter(|word| !word.starts_with('-')).unwrap_or_default();
    let args = Args::parse(words, TAR);
    let extracts = bundle.contains('x') || args.short('x') || args.long_flag("extract");
    let creates = bundle.contains('c') || args.short('c') || args.long_flag("create");
    if extracts {
        output(by, &args, &["C", "directory"], acts);
        let folder = args.value("C").or(args.value("directory"));
        // Members that are named are all that is taken out.
        let skip = if bundle.is_empty() { 0 } else { 1 + usize::from(bundle.contains('f')) };
        let members = args.operands.get(skip..).unwrap_or_default();
        if members.is_empty() {
            folder::fill(by, folder, acts);
        }
        for (folder, member) in members.iter().filter_map(|member| Some((folder?, member))) {
            let path = format!("{folder}/{}", member.shown());
            acts.push(PathAction { deed: PathVerb::Write, target: by.path(&path) });
        }
    } else if creates {
        output(by, &args, &["f", "file"], acts);
        // `tar czf a.tgz src`: the archive is the first word behind the bundle.
        let archive = args.operands.get(1).filter(|word| bundle.contains('f') && word.shown() != "-");
        acts.extend(archive.map(|word| PathAction { deed: PathVerb::Write, target: by.target(word) }));
        let skip = if bundle.is_empty() { 0 } else { 1 + usize::from(bundle.contains('f')) };
        let packed = if args.long_flag("remove-files") { PathVerb::Remove(Reach::Tree) } else { PathVerb::Read };
        acts.extend(args.operands.iter().skip(skip).map(|word| PathAction { deed: packed, target: by.target(word) }));
    }
}

/// `7z a -sdel` moves what it packs, `7z x -o` unpacks into a folder.
fn seven_zip(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let words: Vec<_> = by.command.args().iter().map(text).collect();
    if words.iter().any(|word| word == "-sdel") {
        let operands = by.command.args().iter().filter(|word| !text(word).starts_with('-')).skip(2);
        acts.extend(operands.map(|word| PathAction { deed: PathVerb::Remove(Reach::Tree), target: by.target(word) }));
    }
    let unpacks = words.first().is_some_and(|word| matches!(word.as_ref(), "x" | "e"));
    let folder = words.iter().find_map(|word| word.strip_prefix("-o")).filter(|_| unpacks);
    if let Some(folder) = folder {
        acts.push(PathAction { deed: PathVerb::Write, target: by.path(folder) });
    }
    folder::fill(by, folder, acts);
}

/// Tools for data that can write what they read, and those that give files other names.
fn edited(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let short = if matches!(by.program, "json" | "dasel") { "frwovts" } else { "fL" };
    let args = Args::parse(by.command.args(), Grammar { short, long: &["file", "out"], single_dash_long: false });
    let files = args.operands.iter().skip(1).map(|word| by.target(word));
    match by.program {
        "rename" | "prename" if !args.short('n') => {
            acts.extend(files.map(|target| PathAction { deed: PathVerb::Displace, target }));
        }
        "jq" | "jaq" | "gojq" if args.short('i') || args.long_flag("in-place") => {
            acts.extend(files.map(|target| PathAction { deed: PathVerb::Write, target }));
        }
        "json" if args.short('I') => output(by, &args, &["f"], acts),
        "dasel" if args.operand(0).is_some_and(|sub| matches!(sub.as_ref(), "put" | "delete")) => {
            let elsewhere = args.value("o").or(args.value("out")).is_some();
            let names: &[&str] = if elsewhere { &["o", "out"] } else { &["f", "file"] };
            output(by, &args, names, acts);
        }
        _ => {}
    }
}

/// `zip -m` moves what it packs into the archive.
fn zip(by: &ActedBy<'_>, args: &Args<'_>, acts: &mut Vec<PathAction>) {
    let Some((archive, files)) = args.operands.split_first() else { return };
    acts.push(PathAction { deed: PathVerb::Write, target: by.target(archive) });
    let moves = args.short('m') || args.long_flag("move");
    let reach = if args.short('r') { Reach::Tree } else { Reach::One };
    let deed = if moves { PathVerb::Remove(reach) } else { PathVerb::Read };
    acts.extend(files.iter().map(|word| PathAction { deed, target: by.target(word) }));
}

/// `vim -c '…' -c wq FILE` without a person in front of it writes the file.
fn edits(by: &ActedBy<'_>, args: &Args<'_>, acts: &mut Vec<PathAction>) {
    let saves = |command: &str| {
        let last = command.rsplit([':', '|']).next().unwrap_or(command).trim();
        matches!(last, "w" | "wq" | "x" | "w!" | "wq!" | "x!" | "wa" | "wqa" | "xa" | "up" | "update" | "ZZ")
    };
    if args.values("c").any(saves) || args.values("cmd").any(saves) {
        all(by, args, PathVerb::Write, acts);
    }
}

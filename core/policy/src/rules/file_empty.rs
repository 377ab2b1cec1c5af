//! `file-empty`: emptying a file of the project.

use crate::args::{Args, Grammar, text};
use crate::made;
use crate::names;
use crate::path_actions::{PathAction, PathActionKind, PathVerb};
use crate::place::{Machine, PlaceKind};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::target::{Target, TargetTail};
use bash::{RedirectKind, StdinSource, Via, Word};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "file-empty",
    pack: Pack::Filesystem,
    kind: RuleKind::Strike,
    title: "Emptying a file of the project",
    doc: "Stops, once, taking everything out of a file of the project that is there and has something in it: `> file`, \
          `: > file`, `truncate -s 0`, `cp /dev/null`, `sed -i d`. Writing another content over it is everyday work and \
          passes, and so do logs, build output, temporary files, what git is told to leave alone, and files that \
          do not exist yet.",
    instead: "Change what is in it, or put it aside first: `cp src/main.rs /tmp/main.rs.bak`.",
    denies: &[
        "> src/main.rs", ": > src/lib.rs", "truncate -s 0 README.md", "cp /dev/null src/app.py",
        "cat /dev/null > src/index.ts", "echo -n > src/main.go", "printf '' > schema.sql",
        "dd if=/dev/null of=src/a.rs", "tee src/main.rs < /dev/null", "sed -i d src/main.rs", "true > Cargo.toml",
        "sed -i '1,$d' docs/guide.md", "sort src/a.py > src/a.py",
    ],
    passes: &[
        "cargo build > out.txt", "cat > src/x.rs <<'EOF'\nfn main() {}\nEOF", ": > app.log", "truncate -s 0 *.log",
        "> /tmp/x", "echo x > src/main.rs", "truncate -s 10M disk.img", ": > build/out.txt", "touch src/new.rs",
        ": >> src/main.rs", "sed -i '/^$/d' src/main.rs", "tee src/main.rs < new.rs", "cat a > b.txt",
        "touch src/n.rs && : > src/n.rs", "sort src/a.py > src/b.py",
    ],
    watch: RuleTrigger::Deeds(&[PathActionKind::Write]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    // What an inline script writes is content, as far as it can be told.
    let script = sight.command.via.iter().any(|via| matches!(via, Via::Script(_)));
    if sight.seen.machine != Machine::This || sight.parsed_call.edit.is_some() || script {
        return;
    }
    let emptied = emptied(sight);
    for (act, place) in sight.acts().filter(|(act, _)| act.deed == PathVerb::Write) {
        let kept = matches!(place, PlaceKind::Work | PlaceKind::Elsewhere);
        let many = place == PlaceKind::Work && matches!(act.target.tail, TargetTail::Everything);
        if !kept || !emptied.contains(&act.target) || !(many || has_content(sight, act)) {
            continue;
        }
        let Some(path) = act.target.path.as_deref() else { continue };
        let reason = format!("This takes everything out of `{}`.", act.target.shown);
        let subject = if sight.command.words.is_empty() { format!("> {}", act.target.shown) } else { sight.shown() };
        hits.push(Hit::new(subject, reason).about(Some(path)).meaning("remove", path));
    }
}

/// Whether there is something to lose, as the world says. Where it was not asked, what is named like a source has.
fn has_content(sight: &RuleInput<'_>, act: &PathAction) -> bool {
    let Some(path) = act.target.exact() else { return false };
    if made::touched(sight, path) {
        return false;
    }
    match sight.ground.facts.path(path) {
        Some(fact) => fact.exists && fact.size.is_some_and(|size| size > 0),
        None => {
            let name = act.target.name();
            let outside = sight.ground.place(&act.target, Machine::This) == PlaceKind::Elsewhere;
            names::file_name(name) && (outside || !name.ends_with(".txt")) && !name.ends_with(".log")
        }
    }
}

/// Programs that print what they make of the files they are given.
const FILTERS: &[&str] = &[
    "sort", "uniq", "grep", "egrep", "fgrep", "sed", "awk", "gawk", "cut", "head", "tail", "jq", "yq", "cat", "tac",
    "nl", "fold", "fmt", "expand", "rev", "column", "xmllint", "envsubst", "iconv",
];

/// The files a command writes nothing into.
fn emptied(sight: &RuleInput<'_>) -> Vec<Target> {
    let cwd = sight.command.cwd.as_deref();
    let args = sight.command.args();
    let at = |word: &Word| Target::of(word, cwd);
    let nothing_in = from_nothing(sight);
    let mut found = Vec::new();
    if prints_nothing(sight) {
        let written = sight.command.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Write);
        found.extend(written.map(|redirect| at(&redirect.target)));
    }
    if FILTERS.contains(&sight.program()) {
        // `sort a > a`: the shell empties the file before it is read.
        let written = sight.command.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Write);
        let read: Vec<Target> = args.iter().map(at).collect();
        let same = |target: &Target| target.exact().is_some() && read.iter().any(|other| other.path == target.path);
        found.extend(written.map(|redirect| at(&redirect.target)).filter(same));
    }
    match sight.program() {
        "tee" if nothing_in && !args.iter().any(|word| matches!(text(word).as_ref(), "-a" | "--append")) => {
            found.extend(args.iter().map(at));
        }
        "truncate" => {
            let args =
                Args::parse(args, Grammar { short: "sr", long: &["size", "reference"], single_dash_long: false });
            let none = |size: &str| size.trim_end_matches(|c: char| c.is_ascii_alphabetic()) == "0";
            if args.value("s").or(args.value("size")).is_some_and(none) {
                found.extend(args.operands.iter().map(|word| at(word)));
            }
        }
        "cp" | "install" if args.iter().any(|word| text(word) == "/dev/null") => found.extend(args.last().map(at)),
        "dd" if args.iter().any(|word| matches!(text(word).as_ref(), "if=/dev/null" | "count=0")) => {
            let kept = args.iter().any(|word| text(word).contains("notrunc"));
            let of = args.iter().map(text).find_map(|word| word.strip_prefix("of=").map(str::to_string));
            found.extend(of.filter(|_| !kept).map(|path| Target::path(&path, cwd)));
        }
        "sed" if args.iter().any(|word| matches!(text(word).as_ref(), "d" | "1,$d" | "/./,$d" | "Q" | "1Q")) => {
            found.extend(args.last().map(at));
        }
        _ => {}
    }
    found
}

/// Whether what a command prints is nothing, or one empty line.
fn prints_nothing(sight: &RuleInput<'_>) -> bool {
    let args = sight.command.args();
    let blank = |word: &Word| word.known().is_some_and(|text| text.trim().is_empty() || matches!(text.as_str(), "\\n"));
    match sight.program() {
        "" => {
            sight.command.words.is_empty()
                && matches!(sight.command.feed, StdinSource::Inherited | StdinSource::File(_))
        }
        ":" | "true" | "false" => true,
        "echo" => args.iter().all(|word| blank(word) || matches!(text(word).as_ref(), "-n" | "-e" | "-ne")),
        "printf" => !args.is_empty() && args.iter().all(blank),
        "cat" if args.is_empty() => from_nothing(sight),
        "cat" => args.iter().all(|word| text(word) == "/dev/null"),
        _ => false,
    }
}

fn from_nothing(sight: &RuleInput<'_>) -> bool {
    match &sight.command.feed {
        StdinSource::File(file) => text(file) == "/dev/null",
        StdinSource::Text(text) => text.trim().is_empty(),
        _ => sight
            .command
            .redirects
            .iter()
            .any(|redirect| redirect.kind == RedirectKind::Read && text(&redirect.target) == "/dev/null"),
    }
}

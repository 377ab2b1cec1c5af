//! What `find` and its kin reach: their roots and the names they are narrowed to.

use super::{ActedBy, ListedPaths, PathAction, PathVerb, Reach};
use crate::args::{Args, Grammar, text};
use crate::target::{Target, TargetTail};
use bash::{Command, Word};

const REMOVERS: &[&str] = &["rm", "unlink", "shred", "srm", "rimraf"];

/// The paths a `find` reaches: its roots, narrowed by name where it is.
struct Reached<'a> {
    roots: Vec<&'a Word>,
    names: Vec<String>,
    /// Narrowed to what no one keeps: empty folders and files, broken links.
    nothing: bool,
    shallow: bool,
    /// Narrowed by something other than a name.
    narrowed: bool,
    removes: Option<Reach>,
    /// What is found is changed where it stands.
    writes: bool,
}

/// What `find … -delete` or `find … -exec rm` removes.
pub(super) fn acts(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let reached = reach(by.command);
    let removes = reached.removes.map(PathVerb::Remove);
    let Some(deed) = removes.or(reached.writes.then_some(PathVerb::Write)) else { return };
    targets(&reached, by.command, deed, by.listed, acts);
}

/// What `find …` or another lister upstream names for `xargs` to act on.
pub(super) fn listed(source: &Command, deed: PathVerb, listed: &ListedPaths<'_>, acts: &mut Vec<PathAction>) {
    let program = source.program();
    let program = program.as_deref();
    if matches!(program, Some("find" | "fd" | "fdfind" | "bfs" | "ls" | "git")) && !listed.take(source.words.len()) {
        acts.push(PathAction { deed: tree(deed), target: Target::anything("what comes down the pipe") });
        return;
    }
    match program {
        Some("find" | "fd" | "fdfind" | "bfs") => targets(&reach(source), source, deed, listed, acts),
        Some("ls") => {
            let operands = source.args().iter().filter(|word| !text(word).starts_with('-'));
            let mut any = false;
            for word in operands {
                any = true;
                let mut target = Target::of(word, source.cwd.as_deref());
                if target.tail == TargetTail::None {
                    target.tail = TargetTail::Everything;
                }
                acts.push(PathAction { deed, target });
            }
            if !any {
                let target = Target { tail: TargetTail::Everything, ..Target::path(".", source.cwd.as_deref()) };
                acts.push(PathAction { deed: tree(deed), target });
            }
        }
        // The files that hold a text, in the folders that are searched.
        Some("grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack") if deed == PathVerb::Write => {
            let args = Args::parse(source.args(), Grammar { short: "efmABCgt", ..Grammar::default() });
            let skip = usize::from(!args.any_short("ef"));
            for root in args.operands.iter().skip(skip) {
                let root = Target::of(root, source.cwd.as_deref());
                let tail = if root.tail == TargetTail::None { TargetTail::Everything } else { root.tail.clone() };
                acts.push(PathAction { deed, target: Target { tail, ..root } });
            }
        }
        // Every tracked file, unless only those that are gone already are listed.
        Some("git") => {
            let words: Vec<_> = source.args().iter().map(text).collect();
            let lists = words.iter().any(|word| word == "ls-files");
            if lists && !words.iter().any(|word| matches!(word.as_ref(), "-d" | "--deleted")) {
                let root = Target::path(".", source.cwd.as_deref());
                // Patterns narrow it: `git ls-files --others -- '*.tmp'`.
                let behind = words.iter().skip_while(|word| *word != "ls-files").skip(1);
                let patterns: Vec<_> = behind.filter(|word| !word.starts_with('-')).collect();
                let narrowed = !patterns.is_empty() && patterns.iter().all(|word| word.starts_with("*."));
                let tails = patterns.iter().filter(|_| narrowed).map(|word| TargetTail::Some(word.to_string()));
                let tails: Vec<_> = tails.chain((!narrowed).then_some(TargetTail::Everything)).collect();
                acts.extend(tails.into_iter().map(|tail| PathAction { deed, target: Target { tail, ..root.clone() } }));
            }
        }
        _ => {}
    }
}

fn targets(
    reached: &Reached<'_>,
    command: &Command,
    deed: PathVerb,
    listed: &ListedPaths<'_>,
    acts: &mut Vec<PathAction>,
) {
    if reached.nothing {
        return;
    }
    let cwd = command.cwd.as_deref();
    let dot = Word::text(".");
    let roots: Vec<&Word> = if reached.roots.is_empty() { vec![&dot] } else { reached.roots.clone() };
    // Each name in each root is one act; where that is too many, the roots are taken as a whole.
    let many = reached.names.len() > 1 && !listed.take(roots.len().saturating_mul(reached.names.len()));
    for root in roots {
        let root = Target::of(root, cwd);
        if reached.names.is_empty() || many {
            // A search that narrows takes what is below, not the folder itself.
            let below = (reached.narrowed || many || deed == PathVerb::Write) && root.tail == TargetTail::None;
            let tail = if below { TargetTail::Everything } else { root.tail.clone() };
            acts.push(PathAction { deed: tree(deed), target: Target { tail, ..root } });
            continue;
        }
        for name in &reached.names {
            let tail = match &root.tail {
                TargetTail::Unknown(end) => TargetTail::Unknown(format!("{}/{name}", end.trim_end_matches('/'))),
                _ => TargetTail::Some(name.clone()),
            };
            // Even one name is looked for in the whole tree, unless the search stays shallow.
            let deed = if reached.shallow { deed } else { tree(deed) };
            acts.push(PathAction { deed, target: Target { tail, ..root.clone() } });
        }
    }
}

fn tree(deed: PathVerb) -> PathVerb {
    match deed {
        PathVerb::Remove(_) => PathVerb::Remove(Reach::Tree),
        PathVerb::Permit(_) => PathVerb::Permit(Reach::Tree),
        deed => deed,
    }
}

fn reach(command: &Command) -> Reached<'_> {
    if matches!(command.program().as_deref(), Some("fd" | "fdfind")) {
        return fd(command);
    }
    let mut reached = Reached {
        roots: Vec::new(),
        names: Vec::new(),
        nothing: false,
        shallow: false,
        narrowed: false,
        removes: None,
        writes: false,
    };
    let mut words = command.args().iter();
    let (mut expression, mut negated) = (false, false);
    while let Some(word) = words.next() {
        let shown = text(word);
        match shown.as_ref() {
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex" => {
                expression = true;
                // What is left out says nothing about what is taken.
                if std::mem::take(&mut negated) {
                    reached.narrowed = true;
                    words.next();
                } else if let Some(name) = words.next() {
                    let name = text(name);
                    let name = if shown.starts_with("-i") { name.to_lowercase().into() } else { name };
                    reached.names.push(last_part(&name));
                }
            }
            "-maxdepth" => {
                expression = true;
                reached.shallow = words.next().is_some_and(|depth| matches!(text(depth).as_ref(), "0" | "1"));
            }
            "-type" | "-xtype" | "-mindepth" | "-mtime" | "-mmin" | "-newer" | "-size" | "-user" | "-group"
            | "-perm" | "-atime" | "-ctime" => {
                expression = true;
                reached.narrowed = true;
                let negated = std::mem::take(&mut negated);
                let value = words.next().map(text).unwrap_or_default();
                // Empty files and broken links are nothing anyone keeps.
                reached.nothing |=
                    matches!((shown.as_ref(), value.as_ref()), ("-size", "0") | ("-xtype", "l")) && !negated;
            }
            "-empty" if !negated => reached.nothing = true,
            // `-name x -prune -o …` leaves out what it names; `-prune -exec …` does not.
            "-prune" if words.clone().take(2).any(|next| matches!(text(next).as_ref(), "-o" | "-or")) => {
                reached.names.pop();
                reached.narrowed = true;
            }
            "-delete" => reached.removes = Some(Reach::Tree),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch" => {
                expression = true;
                let ends = |word: &&Word| matches!(text(word).as_ref(), ";" | "+" | "\\;");
                let inner: Vec<&Word> = words.by_ref().take_while(|word| !ends(word)).collect();
                if inner.first().is_some_and(|word| removes(word)) || removes_by_text(&inner) || empties(&inner) {
                    reached.removes = Some(Reach::Tree);
                }
                reached.writes |= writes_in_place(inner.iter().copied());
            }
            "!" | "-not" => {
                expression = true;
                negated = true;
            }
            "-o" | "-or" | "-a" | "-and" | "(" | ")" => expression = true,
            option if option.starts_with('-') => expression = true,
            _ if !expression => reached.roots.push(word),
            _ => {}
        }
    }
    reached
}

const FD: Grammar = Grammar {
    short: "eEtdjScoB",
    long: &["extension", "exclude", "type", "max-depth", "threads", "size", "base-directory"],
    single_dash_long: false,
};

/// `fd PATTERN ROOTS -e EXT -x CMD`: the pattern or the endings narrow it.
fn fd(command: &Command) -> Reached<'_> {
    let words = command.args();
    let runs = |word: &Word| matches!(text(word).as_ref(), "-x" | "-X" | "--exec" | "--exec-batch");
    let at = words.iter().position(runs).unwrap_or(words.len());
    let (own, inner) = words.split_at_checked(at).unwrap_or((words, &[]));
    let args = Args::parse(own, FD);
    let mut names: Vec<String> =
        args.values("e").chain(args.values("extension")).map(|ending| format!("*.{ending}")).collect();
    if let Some(pattern) = args.operand(0).filter(|pattern| pattern != "." && !pattern.is_empty()) {
        names.push(pattern.replace(['^', '$', '\\'], ""));
    }
    let removes = inner.get(1).is_some_and(removes).then_some(Reach::Tree);
    Reached {
        roots: args.operands.into_iter().skip(1).collect(),
        names,
        nothing: false,
        shallow: false,
        narrowed: false,
        removes,
        writes: inner.split_first().is_some_and(|(_, inner)| writes_in_place(inner.iter())),
    }
}

/// `sed -i` and its kin: the files they are given are changed.
pub(super) fn writes_in_place<'w>(words: impl Iterator<Item = &'w Word>) -> bool {
    let mut words = words.map(text);
    let Some(program) = words.next() else { return false };
    match program.rsplit('/').next().unwrap_or(&program) {
        "sed" | "gsed" | "perl" | "ruby" | "yq" | "jq" | "jaq" => words.any(|word| {
            let cluster = word.starts_with('-') && !word.starts_with("--") && word.len() < 8 && word.contains('i');
            cluster || word.starts_with("-i") || word.starts_with("--in")
        }),
        "truncate" | "tee" | "sponge" | "sd" => true,
        _ => false,
    }
}

fn removes(word: &Word) -> bool {
    let name = text(word);
    REMOVERS.contains(&name.rsplit('/').next().unwrap_or(&name))
}

/// `-exec truncate -s 0 {} +`: of what was found nothing is left.
fn empties(inner: &[&Word]) -> bool {
    let mut words = inner.iter().map(|word| text(word));
    words.next().is_some_and(|program| program == "truncate")
        && words.any(|word| matches!(word.as_ref(), "0" | "-s0" | "--size=0"))
}

/// `-exec sh -c 'rm "$1"' _ {}`: what was found is removed by the text of a shell.
fn removes_by_text(inner: &[&Word]) -> bool {
    let [shell, option, code, ..] = inner else { return false };
    if !text(shell).ends_with("sh") || !text(option).ends_with('c') {
        return false;
    }
    let reading = bash::read(&text(code), &bash::Surroundings::default());
    let found =
        |command: &Command| command.words.first().is_some_and(removes) && command.args().iter().any(Word::has_unknown);
    reading.commands.iter().any(found)
}

fn last_part(pattern: &str) -> String {
    let trimmed = pattern.trim_end_matches(['/', '*']);
    let trimmed = if trimmed.is_empty() { pattern } else { trimmed };
    if pattern.contains('/') { trimmed.rsplit('/').next().unwrap_or(trimmed).to_string() } else { pattern.to_string() }
}

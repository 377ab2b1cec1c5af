//! Reading: programs that show or copy the content of the files they are given.

use super::{ActedBy, PathAction, PathVerb, shows_names_only};
use crate::args::{Args, Grammar, text};

const PLAIN: Grammar = Grammar { short: "", long: &[], single_dash_long: false };
const LINES: Grammar = Grammar { short: "ncs", long: &["lines", "bytes"], single_dash_long: false };
const GREP: Grammar = Grammar {
    short: "efmABCd",
    long: &["regexp", "file", "max-count", "context", "include", "exclude", "glob", "type", "exclude-dir"],
    single_dash_long: false,
};
const AWK: Grammar = Grammar { short: "Fvf", long: &[], single_dash_long: false };
const CUT: Grammar = Grammar { short: "dfcbksto", long: &["delimiter", "fields"], single_dash_long: false };

pub(super) fn acts(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    if by.program == "git" {
        return git_show(by, acts);
    }
    let (grammar, first_is_script) = match by.program {
        "cat" | "less" | "more" | "bat" | "batcat" | "tac" | "nl" | "strings" | "xxd" | "od" | "hexdump" | "base64"
        | "base32" | "rev" | "view" | "most" | "type" | "gzip" | "zcat" | "zip" | "7z" | "diff" | "cmp" | "comm"
        | "paste" | "column" | "pbcopy" | "xclip" => (PLAIN, false),
        "head" | "tail" => (LINES, false),
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" => (GREP, true),
        "awk" | "gawk" | "mawk" | "jq" | "yq" => (AWK, true),
        "cut" | "sort" | "uniq" | "fold" | "fmt" => (CUT, false),
        _ => return,
    };
    let args = Args::parse(by.command.args(), grammar);
    let given = args.any_short("ef") && by.program.contains("grep") || args.short('f') && by.program.contains("awk");
    let names_only = by.program.contains("grep") && args.any_short("qlLc");
    let skip = usize::from(first_is_script && !given);
    if names_only || shows_names_only(by.command, by.program) {
        return;
    }
    acts.extend(
        args.operands.iter().skip(skip).map(|word| PathAction { deed: PathVerb::Read, target: by.target(word) }),
    );
}

/// `git show HEAD:path` prints a file as it was.
fn git_show(by: &ActedBy<'_>, acts: &mut Vec<PathAction>) {
    let words: Vec<_> = by.command.args().iter().map(text).collect();
    if !words.iter().any(|word| matches!(word.as_ref(), "show" | "cat-file" | "blame" | "annotate")) {
        return;
    }
    let paths = words.iter().map(|word| word.rsplit_once(':').map_or(word.as_ref(), |(_, path)| path));
    acts.extend(
        paths.filter(|path| path.contains('.')).map(|path| PathAction { deed: PathVerb::Read, target: by.path(path) }),
    );
}

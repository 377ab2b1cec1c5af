//! Programs that turn known text into known text.

use super::codes;

/// What the program prints; `None` when that is not certain.
pub(super) fn named(program: &str, args: &[String], input: Option<&str>) -> Option<String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    // What follows `--` is an operand, whatever it begins with.
    let args = match args.as_slice() {
        ["--", rest @ ..] if matches!(program, "dirname" | "basename") => rest,
        all => all,
    };
    match (program, args) {
        ("cat" | "tac" | "sort" | "tee" | "head" | "tail" | "uniq", [] | ["-"]) => {
            input.map(str::to_string).filter(|_| program == "cat" || program == "tee")
        }
        ("tee", _) => input.map(str::to_string),
        ("rev", []) => Some(lines(input?, |line| line.chars().rev().collect())),
        ("tr", args) => translate(args, input?),
        ("base64" | "base32", args) => decode(program, args, input?),
        ("openssl", ["base64" | "enc", args @ ..])
            if args.contains(&"-d") && !args.iter().any(|arg| arg.starts_with("-aes") || *arg == "-in") =>
        {
            text(codes::base64(input?)?)
        }
        ("xxd", args) if args.iter().any(|arg| arg.contains('r')) && args.iter().any(|arg| arg.contains('p')) => {
            text(codes::hex(input?)?)
        }
        ("which" | "whereis", [name]) if !name.starts_with('-') => Some(format!("{name}\n")),
        ("command", ["-v" | "-V", name]) | ("type", ["-p" | "-P", name]) => Some(format!("{name}\n")),
        ("basename", [path, suffix]) if !path.starts_with('-') => {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
            Some(format!("{}\n", name.strip_suffix(suffix).unwrap_or(name)))
        }
        ("basename", [path]) => Some(format!("{}\n", path.trim_end_matches('/').rsplit('/').next().unwrap_or(path))),
        ("dirname", [path]) => Some(format!("{}\n", parent(path))),
        ("seq", [last]) => last
            .parse::<u32>()
            .ok()
            .filter(|last| *last <= 256)
            .map(|last| (1..=last).map(|n| format!("{n}\n")).collect()),
        _ => None,
    }
}

fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

fn decode(program: &str, args: &[&str], input: &str) -> Option<String> {
    // Only plain decoding of the standard input; a file operand is not known.
    let decoding = args.iter().any(|arg| matches!(*arg, "-d" | "-D" | "--decode" | "-di" | "-id"));
    let others = args
        .iter()
        .any(|arg| !matches!(*arg, "-d" | "-D" | "--decode" | "-di" | "-id" | "-i" | "--ignore-garbage" | "-"));
    if !decoding || others {
        return None;
    }
    text(if program == "base64" { codes::base64(input)? } else { codes::base32(input)? })
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

fn lines(input: &str, change: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for line in input.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        out.push_str(&change(bare));
        if bare.len() < line.len() {
            out.push('\n');
        }
    }
    out
}

fn translate(args: &[&str], input: &str) -> Option<String> {
    match args {
        ["-d", set] => {
            let set = members(set)?;
            Some(input.chars().filter(|c| !set.contains(c)).collect())
        }
        [from, to] if !from.starts_with('-') => {
            let (from, to) = (members(from)?, members(to)?);
            let last = *to.last()?;
            let change = |c: char| match from.iter().rposition(|f| *f == c) {
                Some(at) => to.get(at).copied().unwrap_or(last),
                None => c,
            };
            Some(input.chars().map(change).collect())
        }
        _ => None,
    }
}

/// The characters of a `tr` set, ranges spelled out.
fn members(set: &str) -> Option<Vec<char>> {
    let decoded = match set {
        "[:lower:]" => "a-z".to_string(),
        "[:upper:]" => "A-Z".to_string(),
        "[:space:]" => " \t\n\r".to_string(),
        other if other.contains("[:") => return None,
        other => String::from_utf8(crate::words::quoting::printf_escapes(other)).ok()?,
    };
    let chars: Vec<char> = decoded.chars().collect();
    let mut out = Vec::new();
    let mut rest = chars.as_slice();
    loop {
        rest = match rest {
            [low, '-', high, tail @ ..] if low <= high && (*high as u32 - *low as u32) < 512 && out.len() < 512 => {
                out.extend(*low..=*high);
                tail
            }
            [one, tail @ ..] => {
                out.push(*one);
                tail
            }
            [] => return (out.len() <= 512).then_some(out),
        };
    }
}

//! `echo` and `printf`.

use super::Output;
use crate::reading::Word;
use crate::words::quoting;

pub(super) fn echo(args: &[Word]) -> Output {
    let mut newline = true;
    let mut escapes = false;
    let mut rest = args;
    while let [first, tail @ ..] = rest {
        let Some(flags) = first.known() else { break };
        let Some(letters) = flags.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
        if !letters.chars().all(|c| matches!(c, 'n' | 'e' | 'E')) {
            break;
        }
        newline &= !letters.contains('n');
        escapes |= letters.contains('e');
        rest = tail;
    }
    let mut text = rest.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
    if escapes {
        text = String::from_utf8_lossy(&quoting::printf_escapes(&text)).into_owned();
    }
    if newline {
        text.push('\n');
    }
    if rest.iter().all(|word| word.known().is_some()) { Output::Certain(text) } else { Output::Draft(text) }
}

/// Unknown words in a `printf`: the words as they stand are what a shell would be given.
pub(super) fn draft(args: &[Word]) -> Output {
    let shown: Vec<String> = args.iter().map(Word::shown).collect();
    match printf(&shown) {
        Output::Certain(text) => Output::Draft(text),
        other => other,
    }
}

pub(super) fn printf(args: &[String]) -> Output {
    let args = match args {
        [first, rest @ ..] if first == "--" => rest,
        [first, ..] if first == "-v" => return Output::nothing(),
        all => all,
    };
    let [format, operands @ ..] = args else { return Output::nothing() };
    let mut out = Vec::new();
    let mut operands = operands.iter();
    loop {
        let before = operands.len();
        if !one_round(format, &mut operands, &mut out) {
            return Output::Unknown;
        }
        // The format is used again as long as it takes operands and some are left.
        if operands.len() == 0 || operands.len() == before || out.len() > crate::limits::TEXT {
            break;
        }
    }
    Output::Certain(String::from_utf8_lossy(&out).into_owned())
}

/// Writes the format once; `false` on a directive whose text is not worth knowing.
fn one_round<'o>(format: &str, operands: &mut impl Iterator<Item = &'o String>, out: &mut Vec<u8>) -> bool {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.extend(quoting::printf_escapes(before));
        let width =
            from.get(1..).unwrap_or_default().find(|c: char| c.is_ascii_alphabetic() || c == '%').map(|end| end + 2);
        let Some((directive, after)) = width.and_then(|width| from.split_at_checked(width)) else { return false };
        match directive {
            "%%" => out.push(b'%'),
            "%s" | "%d" | "%i" => out.extend(operands.next().map(String::as_str).unwrap_or_default().bytes()),
            "%b" => out.extend(quoting::printf_escapes(operands.next().map(String::as_str).unwrap_or_default())),
            "%c" => out.extend(
                operands.next().and_then(|text| text.chars().next()).map(String::from).unwrap_or_default().bytes(),
            ),
            _ => return false,
        }
        rest = after;
    }
    out.extend(quoting::printf_escapes(rest));
    true
}

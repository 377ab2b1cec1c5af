//! PowerShell: its commands are words as in other shells; encoded ones are decoded.

use super::joined;
use crate::output::codes;
use crate::reading::{StdinSource, Via, Word};
use crate::walk::{Place, Walker};

impl Walker {
    pub(super) fn open_powershell(&mut self, args: &[Word], place: &Place) {
        let via = Via::Shell("pwsh".to_string());
        let mut rest = args;
        while let [first, tail @ ..] = rest {
            let option = first.shown().to_ascii_lowercase();
            match option.strip_prefix('-') {
                Some(name) if !name.is_empty() && "command".starts_with(name) => {
                    self.inner_text(&shell(&joined(tail)), via, place);
                    return;
                }
                Some(name) if name == "ec" || (!name.is_empty() && "encodedcommand".starts_with(name)) => {
                    self.encoded(tail.first(), via, place);
                    return;
                }
                Some("file" | "f") => {
                    if let Some(file) = tail.first().and_then(|file| self.file_named(file)) {
                        self.in_code_file(&file, place, |walker, code, here| {
                            walker.inner_text(&shell(code), via, here);
                        });
                    }
                    return;
                }
                Some("executionpolicy" | "ep" | "ex" | "workingdirectory" | "wd" | "outputformat" | "windowstyle") => {
                    rest = tail.get(1..).unwrap_or_default();
                }
                Some(_) => rest = tail,
                None => {
                    self.inner_text(&shell(&joined(rest)), via, place);
                    return;
                }
            }
        }
        self.run_input(via, place);
    }

    /// `-EncodedCommand`: base64 of two-byte letters. That it is decoded is reported as the pipeline it is.
    fn encoded(&mut self, text: Option<&Word>, via: Via, place: &Place) {
        let maker = self.command(vec![Word::text("base64"), Word::text("-d")], place);
        let at = self.report(maker);
        let mut runner = self.command(vec![Word::text("pwsh")], place);
        runner.feed = StdinSource::Pipe([at].into());
        self.report(runner);
        let Some(bytes) = text.and_then(Word::known).and_then(|text| codes::base64(&text)) else { return };
        let letters = bytes.chunks(2).map(|pair| match pair {
            [low, high] => u16::from_le_bytes([*low, *high]),
            _ => 0,
        });
        let decoded: String = char::decode_utf16(letters).filter_map(Result::ok).collect();
        self.inner_text(&shell(&decoded), via, place);
    }
}

/// PowerShell text as a shell would have to write it: `iex (iwr x)` is `iex $(iwr x)`, a backslash stands for itself,
/// a block is its commands, and a condition what it looks at.
pub(super) fn shell(text: &str) -> String {
    let mut text = text.replace('`', "").replace('\\', "/").replace("$env:USERPROFILE", "$HOME");
    for name in ["$env:HOME", "$env:HOMEPATH", "$env:userprofile", "$Env:USERPROFILE"] {
        text = text.replace(name, "$HOME");
    }
    text = text.replace("$env:TEMP", "$TMPDIR").replace("$env:TMP", "$TMPDIR");
    if text.contains('{') {
        text = unblocked(&text);
    }
    for name in ["iex(", "IEX(", "Iex(", "Invoke-Expression("] {
        text = text.replace(name, &format!("{} (", name.trim_end_matches('(')));
    }
    for name in ["IEX ", "IWR ", "IRM "] {
        text = text.replace(name, &name.to_ascii_lowercase());
    }
    // `((New-Object …).DownloadString('…'))`: what is called is text to a shell.
    if let Some((head, tail)) = text.split_once(".Download") {
        let head = head.replace(['(', ')'], " ");
        let tail = tail.replace(['(', ')'], " ");
        text = format!("{head}.Download{tail}");
    }
    let text = drives(&text).replace("; & ", "; ").replace(" (", " $(").replace("&(", "$(");
    text.trim_start().trim_start_matches("& ").to_string()
}

/// `C:/x` as the path it has below a mounted disk.
fn drives(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        let starts = !before.is_ascii_alphanumeric() && before != '$';
        if letter.is_ascii_alphabetic() && starts && rest.peek() == Some(&':') {
            let mut ahead = rest.clone();
            ahead.next();
            if ahead.peek().is_none_or(|next| matches!(next, '/' | ' ' | '"' | '\'' | ';' | '\n')) {
                rest = ahead;
                out.push_str("/mnt/");
                out.push(letter.to_ascii_lowercase());
                before = ':';
                continue;
            }
        }
        out.push(letter);
        before = letter;
    }
    out
}

/// The commands of blocks, one behind the other.
fn unblocked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '(']) {
        let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let mark = tail.chars().next().unwrap_or_default();
        rest = tail.get(1..).unwrap_or_default();
        let word = head.trim_end().rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let keyword =
            ["if", "elseif", "while", "foreach", "for", "switch", "until", "catch", "else", "try", "finally", "do"]
                .iter()
                .any(|name| name.eq_ignore_ascii_case(word));
        let kept = if keyword { head.trim_end().strip_suffix(word).unwrap_or(head) } else { head };
        // `${x}` and `@{…}` are values.
        let value = head.ends_with(['$', '@']);
        out.push_str(kept);
        match mark {
            '(' if keyword => {
                // What a condition looks at is not run for its sake: `(Test-Path x)`, `($f in $all)`.
                rest = rest.split_once(')').map_or("", |(_, after)| after);
            }
            '(' => out.push('('),
            mark if value => out.push(mark),
            _ => out.push_str(" ; "),
        }
    }
    out.push_str(rest);
    let statements = out.split(';').map(|part| part.trim().trim_start_matches("& ").trim());
    statements.filter(|part| !part.is_empty() && *part != "&").collect::<Vec<_>>().join("\n")
}

//! Windows below another shell: `cmd /c`, `wsl`. The words of `cmd` are given as the shell would write them.

use super::joined;
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

impl Walker {
    /// `cmd /c TEXT`, `cmd.exe /s /c "TEXT"`.
    pub(super) fn open_cmd(&mut self, args: &[Word], place: &Place) {
        let mode = |word: &str| matches!(word, "/c" | "/k" | "/r" | "-c" | "//c");
        let is_mode = |word: &Word| mode(&word.shown().to_ascii_lowercase());
        let Some(at) = args.iter().position(is_mode) else { return };
        let text = joined(args.get(at + 1..).unwrap_or_default());
        for part in text.split("&&").flat_map(|part| part.split(['&', '|', '\n'])) {
            self.inner_text(&translated(part), Via::Shell("cmd".to_string()), place);
        }
    }

    /// `wsl [options] [--] cmd`, `wsl -e cmd`: the shell of the subsystem.
    pub(super) fn open_wsl(&mut self, args: &[Word], place: &Place) {
        let mut rest = args;
        while let [first, tail @ ..] = rest {
            rest = match first.shown().as_str() {
                "--" | "-e" | "--exec" => {
                    rest = tail;
                    break;
                }
                "-d" | "--distribution" | "-u" | "--user" | "--cd" | "--shell-type" => {
                    tail.get(1..).unwrap_or_default()
                }
                option if option.starts_with('-') => tail,
                _ => break,
            };
        }
        let via = Via::Wrapper("wsl".to_string());
        match rest {
            [] => {}
            [only] if only.quoted => {
                self.inner_text(&only.shown(), via, place);
            }
            words => {
                self.inner(words, Vec::new(), via, place);
            }
        }
    }
}

/// Cmdlets whose line is PowerShell's and nobody else's.
const CMDLETS: &[&str] = &[
    "remove-item", "clear-content", "move-item", "rename-item", "set-content", "add-content", "stop-process",
    "invoke-expression", "get-childitem", "get-content",
];

impl Walker {
    /// Lines of PowerShell and `cmd` where a shell's is expected; `false` when the shell's reading is still to be done.
    pub(crate) fn read_foreign(&mut self, line: &str, place: &Place) -> bool {
        let mut powershell = false;
        let mut only = false;
        for (at, part) in line.split([';', '|', '&', '\n']).map(str::trim_start).enumerate() {
            let end = part.find([' ', '(', '\t']).unwrap_or(part.len());
            let (first, rest) = part.split_at_checked(end).unwrap_or((part, ""));
            let name = first.to_ascii_lowercase();
            let runs = matches!(name.as_str(), "iex" | "invoke-expression") && rest.trim_start().starts_with('(');
            let removes = name == "ri" && rest.contains(":\\");
            powershell |= runs || removes || CMDLETS.contains(&name.as_str());
            only |= at == 0 && CMDLETS.contains(&name.as_str()) && !runs;
            let switched = || rest.to_ascii_lowercase().split_whitespace().any(|word| word == "/s");
            if matches!(name.as_str(), "rd" | "rmdir") && switched() {
                self.inner_text(&translated(part), Via::Shell("cmd".to_string()), place);
            }
        }
        if powershell {
            self.inner_text(&super::powershell::shell(line), Via::Shell("pwsh".to_string()), place);
        }
        // What a shell would run for its words is still looked at.
        only && !line.contains('`') && !line.contains("$(")
    }
}

/// One command of `cmd` as the shell that does the same: `rd /s /q x` is `rm -rf x`.
fn translated(text: &str) -> String {
    let text = text.trim().trim_matches('"').trim_start_matches('@');
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default().to_ascii_lowercase();
    let bare = name.trim_end_matches(".exe");
    // Below another shell a switch is written with two slashes.
    let words = words.map(|word| if word.starts_with("//") { word.get(1..).unwrap_or_default() } else { word });
    let (switches, operands): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('/') && word.len() <= 3);
    let has = |letter: &str| switches.iter().any(|switch| switch.eq_ignore_ascii_case(letter));
    let program = match bare {
        "rd" | "rmdir" if has("/s") => "rm -rf",
        "rd" | "rmdir" => "rmdir",
        "del" | "erase" if has("/s") => "rm -rf",
        "del" | "erase" => "rm -f",
        "format" | "diskpart" => "mkfs /dev/disk",
        "copy" | "xcopy" => "cp",
        "move" | "ren" => "mv",
        "type" => "cat",
        // Given on as it is: the switches say what it does.
        _ => return text.replace('\\', "/"),
    };
    let paths: Vec<String> = operands.iter().map(|path| unix(path)).collect();
    format!("{program} {}", paths.join(" "))
}

/// `C:\Users\x` as the path it has below other shells.
fn unix(path: &str) -> String {
    let path = path.trim_matches('"').replace('\\', "/");
    let upper = path.to_ascii_uppercase();
    for (name, home) in
        [("%USERPROFILE%", "~"), ("%HOMEPATH%", "~"), ("%APPDATA%", "~/AppData"), ("%TEMP%", "/tmp"), ("%TMP%", "/tmp")]
    {
        if upper.starts_with(name) {
            return format!("{home}{}", path.get(name.len()..).unwrap_or_default());
        }
    }
    if ["%SYSTEMDRIVE%", "%SYSTEMROOT%", "%WINDIR%"].iter().any(|name| upper.starts_with(name)) {
        return "/".to_string();
    }
    match path.split_once(':') {
        // A whole drive is what `/` is elsewhere.
        Some((drive, rest)) if drive.len() == 1 => match rest.trim_matches(['/', '*', '.']) {
            "" => "/".to_string(),
            below => format!("/mnt/{}/{below}", drive.to_ascii_lowercase()),
        },
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cmd_removes_is_given_as_the_shell_would_write_it() {
        assert_eq!(translated("rd /s /q C:\\"), "rm -rf /");
        assert_eq!(translated("del /f /s /q C:\\*.*"), "rm -rf /");
        assert_eq!(translated("rmdir /S /Q node_modules"), "rm -rf node_modules");
        assert_eq!(translated("rd /s /q %USERPROFILE%\\Documents"), "rm -rf ~/Documents");
        assert_eq!(translated("del C:\\x\\a.txt"), "rm -f /mnt/c/x/a.txt");
        assert_eq!(translated("npm run build"), "npm run build");
    }
}

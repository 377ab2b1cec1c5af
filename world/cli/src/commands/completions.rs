//! `taut completions`: the script that makes a shell complete our words. It asks `taut complete` at each key, so that
//! rules, agents, tasks and sessions are those of this machine.

use crate::exit::Exit;
use crate::printer::Printer;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell that is to complete
    pub shell: CompletionShell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    /// source <(taut completions bash), in ~/.bashrc
    Bash,
    /// taut completions zsh > ~/.zfunc/_taut, with ~/.zfunc in fpath
    Zsh,
    /// taut completions fish > ~/.config/fish/completions/taut.fish
    Fish,
}

pub fn run(args: &CompletionsArgs, printer: &Printer) -> Exit {
    printer.document(match args.shell {
        CompletionShell::Bash => BASH,
        CompletionShell::Zsh => ZSH,
        CompletionShell::Fish => FISH,
    });
    Exit::Ok
}

/// Where we know nothing, the shell completes files.
const BASH: &str = r#"# Completions of taut for bash: source <(taut completions bash)
_taut() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line%%[[:space:]]*}")
    done < <(command taut complete -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
}
complete -o default -F _taut taut
"#;

const ZSH: &str = r#"#compdef taut
# Completions of taut for zsh: taut completions zsh > a folder of fpath/_taut
_taut() {
    local line
    local -a values
    while IFS= read -r line; do
        values+=("${${line%%[[:space:]]*}//:/\\:}:${line#*[[:space:]]}")
    done < <(command taut complete -- "${(@)words[1,CURRENT]}" 2>/dev/null)
    if (( $#values )); then
        _describe -V taut values
    else
        _files
    fi
}
if [[ "${funcstack[1]}" == _taut ]]; then
    _taut "$@"
else
    compdef _taut taut
fi
"#;

const FISH: &str = r#"# Completions of taut for fish: taut completions fish > ~/.config/fish/completions/taut.fish
function __taut_complete
    set -l word (commandline -ct)
    set -l found (command taut complete -- (commandline -opc) "$word" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found | string replace -r '\s+' \t
    else
        __fish_complete_path "$word"
    end
end
complete -c taut -f -a '(__taut_complete)'
"#;

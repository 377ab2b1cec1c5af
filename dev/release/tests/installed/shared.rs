//! What an installed package shows to `man` and to real shells, which are told nothing but where the program is.

use std::path::{Path, PathBuf};

use testkit::need;

use crate::installation::Installation;

/// Which completions a package puts into place itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Completions {
    /// For every shell, with zsh's in this folder of `share`.
    InPlace(&'static str),
    /// The package manager has no place for them.
    Nowhere,
}

impl Installation {
    /// `man` finds the pages beside the program, and every shell completes by the script that lies there.
    pub fn is_documented(&self, program: &Path, completions: Completions) {
        let bin = program.parent().unwrap();
        let share = bin.parent().unwrap().join("share");
        if !need::is_missing("man") {
            for page in ["taut", "taut-policy-allow"] {
                let found = PathBuf::from(self.run_beside(bin, "man", &["-w", page]).trim());
                let found = found.canonicalize().unwrap();
                let name = found.file_name().unwrap().to_str().unwrap().trim_end_matches(".gz");
                assert!(found.starts_with(self.root()) && name == format!("{page}.1"), "{page}: {}", found.display());
            }
        }
        let Completions::InPlace(zsh) = completions else { return };
        let script = share.join("bash-completion/completions/taut");
        let line = format!(
            "source {}; COMP_WORDS=(taut policy show git-force-pu); COMP_CWORD=3; _taut; echo ${{COMPREPLY[*]}}",
            script.display()
        );
        assert_eq!(self.run_beside(bin, "bash", &["--norc", "-c", &line]), "git-force-push\n");
        if !need::is_missing("zsh") {
            // The folder is one of zsh's own in the system's prefix, and of `fpath` elsewhere. The real completion system
            // says which function it would call for `taut`.
            let line = format!(
                "fpath=({} $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[taut]; whence -v _taut",
                share.join(zsh).display()
            );
            let said = self.run_beside(bin, "zsh", &["-f", "-c", &line]);
            assert!(said.starts_with("_taut\n_taut is an autoload shell function"), "{said}");
        }
        if !need::is_missing("fish") {
            let said = self.run_beside(bin, "fish", &["-c", "complete -C 'taut pol'"]);
            assert_eq!(said, "policy\tThe rules of the guard\n");
        }
    }
}

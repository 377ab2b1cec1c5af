//! Commands for another machine: nothing known here holds there.

use super::{joined, options};
use crate::reading::{Via, Word};
use crate::walk::{Place, Walker};

const SSH: &[&str] = &[
    "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-P", "-p", "-Q", "-R",
    "-S", "-W", "-w", "--ssh", "--port",
];
const SSHPASS: &[&str] = &["-p", "-f", "-d", "-P"];

impl Walker {
    pub(super) fn open_remote(&mut self, program: &str, args: &[Word], place: &Place) {
        if program == "sshpass" {
            let (_, operands) = options::split(args, SSHPASS);
            self.inner(operands, Vec::new(), Via::Wrapper(program.to_string()), place);
            return;
        }
        let (_, operands) = options::split(args, SSH);
        // Options may follow the host as well.
        let (_, words) = options::split(operands.get(1..).unwrap_or_default(), SSH);
        let via = Via::Wrapper("ssh".to_string());
        match words {
            [] => {
                if let (Some(_), Some(text)) = (operands.first(), place.draft.clone()) {
                    self.elsewhere_text(&text, via, place);
                }
            }
            words => self.elsewhere_text(&joined(words), via, place),
        }
    }

    /// Reads text that another machine's shell would run.
    pub(super) fn elsewhere_text(&mut self, text: &str, via: Via, place: &Place) {
        let there = self.scope.elsewhere();
        let kept = std::mem::replace(&mut self.scope, there);
        self.read_text(text, &place.under(via));
        self.scope = kept;
    }

    /// Runs words that another machine would run.
    pub(super) fn elsewhere(&mut self, words: &[Word], via: Via, place: &Place) {
        let there = self.scope.elsewhere();
        let kept = std::mem::replace(&mut self.scope, there);
        self.inner(words, Vec::new(), via, place);
        self.scope = kept;
    }
}

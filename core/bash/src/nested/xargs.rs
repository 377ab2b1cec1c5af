//! `xargs` and `parallel`: the inner command with the items of the standard input.

use std::sync::Arc;

use super::find::{below, find_starts};
use super::{joined, options};
use crate::limits;
use crate::reading::{StdinSource, Via, Word, WordPiece};
use crate::walk::{Place, Walker};

const XARGS: &[&str] = &[
    "-I", "-J", "-R", "-S", "-a", "-d", "-E", "-L", "-n", "-P", "-s", "--arg-file", "--delimiter", "--max-lines",
    "--max-args", "--max-procs", "--max-chars", "--process-slot-var",
];
/// `parallel` and its kin: the words are joined and given to a shell.
const JOINING: &[&str] = &["parallel", "rush", "env_parallel"];
const PARALLEL: &[&str] = &[
    "-j", "-I", "-a", "-S", "-n", "-N", "-d", "-C", "--jobs", "--arg-file", "--sshlogin", "--colsep", "--delay",
    "--timeout", "--joblog", "--results", "--tmpdir", "--retries", "--load", "--memfree",
];

impl Walker {
    pub(super) fn open_xargs(&mut self, program: &str, args: &[Word], place: &Place) {
        let joins = JOINING.contains(&program);
        let (options, operands) = options::split(args, if joins { PARALLEL } else { XARGS });
        if joins && options::given(&options, &["--dry-run", "--dryrun"]) {
            return;
        }
        // Its input goes to the command, not into its words.
        if joins && options::given(&options, &["--pipe", "--spreadstdin", "--pipepart", "--pipe-part"]) {
            self.inner(operands, Vec::new(), Via::Wrapper(program.to_string()), place);
            return;
        }
        let file = options::value(&options, &["-a", "--arg-file"]).map(|file| Place {
            file: file.known().and_then(|file| self.scope.resolve(&file)).map(Arc::from),
            ..place.fed(StdinSource::File(Arc::new(file.clone())), None)
        });
        let place = file.as_ref().unwrap_or(place);
        let marks = options::value(&options, &["-I", "-J", "--replace"]).and_then(Word::known);
        // The old `-iMARK` takes its mark in the same word or not at all.
        let attached = || args.iter().find_map(|word| word.known()?.strip_prefix("-i").map(str::to_string));
        let mark = marks.or_else(attached).filter(|mark| !mark.is_empty()).unwrap_or_else(|| "{}".to_string());
        let replacing = joins || options::given(&options, &["-I", "-i", "-J", "--replace"]);
        let via = Via::Wrapper(program.to_string());
        let literal = operands.iter().position(|word| matches!(word.known().as_deref(), Some(":::" | ":::+")));
        let (inner, items) = match literal.and_then(|at| operands.split_at_checked(at)) {
            Some((inner, items)) => (
                inner,
                items.iter().filter(|word| !matches!(word.known().as_deref(), Some(":::" | ":::+"))).cloned().collect(),
            ),
            None => (operands, self.items(&options, replacing, place)),
        };
        let mut words = if replacing { self.put_in(inner, &mark, &items) } else { inner.to_vec() };
        if !replacing || (joins && words == inner) {
            words.extend(items.iter().cloned());
        }
        if joins && inner.is_empty() && literal.is_none() {
            self.run_input(via.clone(), place);
        }
        if joins {
            // Without a command every item is one.
            let text = if inner.is_empty() {
                items.iter().map(super::shell_text).collect::<Vec<_>>().join("\n")
            } else {
                joined(&words)
            };
            self.inner_text(&text, via, place);
        } else {
            self.inner(&words, Vec::new(), via, place);
        }
    }

    /// What stands on the standard input, as arguments.
    fn items(&mut self, options: &[(String, Option<Word>)], lines: bool, place: &Place) -> Vec<Word> {
        let unknown = || vec![Word { pieces: vec![WordPiece::Unknown("{}".to_string())], quoted: true }];
        match &place.feed {
            StdinSource::Text(text) if place.sure => {
                let nul = text.contains('\0') || options::given(options, &["-0", "--null"]);
                let parts: Vec<&str> = if nul {
                    text.split('\0').collect()
                } else if lines || options::given(options, &["-d", "--delimiter", "-L"]) {
                    text.lines().collect()
                } else {
                    text.split_whitespace().collect()
                };
                let items: Vec<Word> = parts
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .take(limits::SPREAD)
                    .map(|part| Word { quoted: true, ..Word::text(part.trim_matches(['"', '\''])) })
                    .collect();
                if items.is_empty() { unknown() } else { items }
            }
            StdinSource::Pipe(writers) => self.found_by(writers).unwrap_or_else(unknown),
            _ => unknown(),
        }
    }

    /// Items that a `find` or `ls` upstream would give: something below its start paths.
    pub(super) fn found_by(&mut self, writers: &[usize]) -> Option<Vec<Word>> {
        let writer = self.reading.commands.get(*writers.last()?)?;
        if writer.program().as_deref() == Some("ls") {
            // A file is listed by its own name, a folder by what is in it.
            let files = |word: &&Word| word.known().is_some_and(|name| name.ends_with(".sh") || name.ends_with(".py"));
            let named: Vec<Word> = writer.args().iter().filter(files).cloned().collect();
            return (!named.is_empty()).then_some(named);
        }
        if writer.program().as_deref() != Some("find") {
            return None;
        }
        if !self.allowance.spend(limits::weight(&writer.words)) {
            return None;
        }
        let (starts, _) = find_starts(writer.args());
        Some(starts.iter().map(below).collect())
    }
}

//! Redirects: what a command reads and which files it writes.

use std::rc::Rc;
use std::sync::Arc;

use shuck_ast::{Redirect as Syntax, RedirectKind as Kind, RedirectTarget};

use super::{Place, Walker};
use crate::output::Output;
use crate::reading::{Redirect, RedirectKind, StdinSource, Word};
use crate::syntax::slice;
use crate::words::Mode;

/// What the redirects of one command come to.
#[derive(Default)]
pub(crate) struct Redirected {
    pub(super) redirects: Vec<Redirect>,
    /// The standard input, when a redirect sets it, with its text.
    pub(crate) input: Option<Input>,
    /// Whether the standard output goes elsewhere.
    pub(super) away: bool,
}

/// A standard input set by a redirect.
pub(crate) struct Input {
    pub(super) feed: StdinSource,
    draft: Option<Arc<str>>,
    sure: bool,
    file: Option<Arc<str>>,
}

impl Input {
    /// Text from the line itself, which may have unknown parts.
    fn text(text: String, sure: bool) -> Self {
        let text: Arc<str> = text.into();
        Self { feed: StdinSource::Text(text.clone()), draft: Some(text), sure, file: None }
    }

    /// What is read, where no part of it is unknown.
    pub(crate) fn certain(self) -> Option<StdinSource> {
        self.sure.then_some(self.feed)
    }

    /// The same place with this input.
    pub(super) fn in_place(&self, place: &Place) -> Place {
        let mut here = place.fed(self.feed.clone(), self.draft.clone());
        here.sure = self.sure;
        here.file.clone_from(&self.file);
        here
    }
}

impl Walker {
    pub(crate) fn redirects(&mut self, redirects: &[Syntax], source: &Rc<str>, place: &Place) -> Redirected {
        let mut out = Redirected::default();
        for redirect in redirects {
            self.redirect(redirect, source, place, &mut out);
        }
        out
    }

    fn redirect(&mut self, redirect: &Syntax, source: &Rc<str>, place: &Place, out: &mut Redirected) {
        match &redirect.target {
            RedirectTarget::Heredoc(here) => {
                let text = here_text(here, source);
                // The parser takes the delimiters after the first for quoted; their source tells.
                let quoted = slice(source, here.delimiter.span).contains(['"', '\'', '\\']);
                let word = if quoted { Word::text(text) } else { self.text(&text, Mode::Here, place) };
                if redirect.fd.unwrap_or(0) == 0 {
                    out.input = Some(Input::text(word.shown(), !word.has_unknown()));
                }
            }
            RedirectTarget::Word(word) => self.redirect_word(redirect, slice(source, word.span), place, out),
        }
    }

    fn redirect_word(&mut self, redirect: &Syntax, raw: &str, place: &Place, out: &mut Redirected) {
        if redirect.kind == Kind::HereString {
            let word = self.value(raw, place);
            out.input = Some(Input::text(word.shown() + "\n", !word.has_unknown()));
            return;
        }
        let first = self.reading.commands.len();
        let printed = self.process_output(raw, place);
        let target = self.fields_or_value(raw, place, printed.is_some());
        let (kind, writes) = match redirect.kind {
            Kind::Output | Kind::Clobber | Kind::OutputBoth | Kind::ReadWrite => (RedirectKind::Write, true),
            Kind::Append => (RedirectKind::Append, true),
            Kind::DupOutput if !descriptor(raw) => (RedirectKind::Write, true),
            Kind::Input => (RedirectKind::Read, false),
            _ => return,
        };
        if writes {
            out.away |= redirect.kind == Kind::OutputBoth || redirect.fd.unwrap_or(1) == 1;
        } else if redirect.fd.unwrap_or(0) == 0 {
            let draft = printed.as_ref().and_then(|output| output.draft()).map(Arc::from);
            let feed = match printed {
                Some(Output::Certain(text)) => StdinSource::Text(text.into()),
                Some(_) => StdinSource::Pipe((first..self.reading.commands.len()).collect()),
                None => StdinSource::File(Arc::new(target.clone())),
            };
            // Seen from here: what reads it may run in another folder, or on another machine.
            let path = target.known().filter(|_| matches!(feed, StdinSource::File(_)));
            let file = path.and_then(|path| self.scope.resolve(&path)).map(Arc::from);
            out.input = Some(Input { sure: matches!(feed, StdinSource::Text(_)), feed, draft, file });
        }
        let errors = writes && redirect.kind != Kind::OutputBoth && redirect.fd == Some(2);
        out.redirects.push(Redirect { kind, target, errors });
    }

    /// Walks redirects around a compound command, reporting them as a bare command.
    /// The place it runs in comes back, and the files its output goes to.
    pub(super) fn compound_redirects(
        &mut self,
        redirects: &[Syntax],
        source: &Rc<str>,
        place: &Place,
    ) -> (Place, Vec<Redirect>) {
        if redirects.is_empty() {
            return (place.clone(), Vec::new());
        }
        let found = self.redirects(redirects, source, place);
        let here = match found.input {
            Some(input) => input.in_place(place),
            None => place.clone(),
        };
        let writes = |redirect: &&Redirect| found.away && redirect.kind != RedirectKind::Read;
        let written = found.redirects.iter().filter(writes).cloned().collect();
        if !found.redirects.is_empty() {
            let mut command = self.command(Vec::new(), place);
            command.redirects = found.redirects;
            // What the body prints is written: it is no `> file` that only empties.
            command.feed = StdinSource::Unknown;
            self.report(command);
        }
        (here, written)
    }
}

/// `>&2` and `>&-` name a descriptor, not a file.
fn descriptor(raw: &str) -> bool {
    let bare = raw.trim_end_matches('-');
    bare.chars().all(|c| c.is_ascii_digit())
}

/// The body as written, the tabs that `<<-` drops dropped.
fn here_text(here: &shuck_ast::Heredoc, source: &str) -> String {
    let raw = slice(source, here.body.span);
    if !here.delimiter.strip_tabs {
        return raw.to_string();
    }
    raw.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
}

//! Code that a script brings from elsewhere and runs: decoded text, and text from the network.

use super::lexer::Token;
use super::tables::{Effect, Language};
use super::values::Argument;
use crate::reading::{StdinSource, Via, Word, WordPiece};
use crate::walk::{Place, Walker};

/// Calls that decode, by the last part of their name.
const DECODERS: &[&str] = &[
    "b64decode", "urlsafe_b64decode", "b32decode", "b16decode", "a85decode", "b85decode", "decodebytes", "unhexlify",
    "fromhex", "decompress", "inflateSync", "gunzipSync", "atob", "decode_base64", "decode64", "strict_decode64",
    "urlsafe_decode64", "base64_decode", "gzinflate", "gzuncompress", "gzdecode", "str_rot13", "hex2bin",
    "convert_uudecode",
];

/// Calls that bring text from another machine.
const FETCHERS: &[&str] = &[
    "urlopen", "requests.get", "requests.post", "httpx.get", "fetch", "https.get", "http.get", "URI.open", "LWP.get",
    "file_get_contents",
];

/// Calls that make a temporary folder or file, or name where those stand.
pub(super) fn temporary(name: &str) -> bool {
    matches!(
        name,
        "tempfile.mkdtemp"
            | "tempfile.mkstemp"
            | "tempfile.mktemp"
            | "tempfile.gettempdir"
            | "mkdtemp"
            | "fs.mkdtempSync"
            | "mkdtempSync"
            | "os.tmpdir"
            | "tmpdir"
            | "Dir.mktmpdir"
            | "Dir.tmpdir"
            | "File.tempdir"
            | "tempdir"
            | "sys_get_temp_dir"
    )
}

/// Calls whose argument is base64.
pub(super) fn base64(name: &str) -> bool {
    let last = last(name);
    last.ends_with("b64decode")
        || matches!(last, "atob" | "decode_base64" | "decode64" | "strict_decode64" | "base64_decode")
}

impl Walker {
    /// A loop that forks without end, as the shell's function that starts itself twice.
    pub(crate) fn forking(&mut self, place: &Place) {
        let body = place.under(Via::Body("fork".to_string()));
        for _ in 0..2 {
            let command = self.command(vec![Word::text("fork")], &body);
            self.report(command);
        }
    }

    /// Reports what the code is made by, as the pipeline that would do the same: `base64 -d | python`.
    pub(super) fn foreign_code(
        &mut self,
        language: &'static Language,
        effect: Effect,
        given: &[Argument],
        parts: &[&[Token]],
        place: &Place,
    ) {
        let first = parts.first().copied().unwrap_or_default();
        let source: &[&str] = if made_by(given, first, fetches) {
            &["curl"]
        } else if made_by(given, first, decodes) || buffer(first) {
            &["base64", "-d"]
        } else {
            return;
        };
        let maker = self.command(source.iter().copied().map(Word::text).collect(), place);
        let at = self.report(maker);
        let runner = if effect == Effect::Shell { "sh" } else { language.name };
        let mut command = self.command(vec![Word::text(runner)], place);
        command.feed = StdinSource::Pipe([at].into());
        self.report(command);
    }
}

/// `fork while fork`, `while True: os.fork()`, `loop { fork }`.
pub(super) fn forks_on(tokens: &[Token]) -> bool {
    let forks = |token: &Token| matches!(token, Token::Name(name) if matches!(name.as_str(), "fork" | "pcntl_fork"));
    let endless = |pair: &[Token]| match pair {
        [Token::Name(word), next] if word == "while" => match next {
            Token::Name(test) => matches!(test.as_str(), "fork" | "True" | "true"),
            Token::Number(_) | Token::Mark('(') => true,
            _ => false,
        },
        [Token::Name(word), Token::Mark('{') | Token::Name(_)] => word == "loop",
        // `for _ in iter(int, 1)`, `itertools.count()`
        [Token::Name(word), Token::Mark('(')] => matches!(word.as_str(), "iter" | "count"),
        _ => false,
    };
    // `for (;;)`
    let ends = |token: &Token| matches!(token, Token::Mark(';') | Token::End);
    let open = |marks: &[Token]| match marks {
        [Token::Name(word), Token::Mark('('), first, second] => word == "for" && ends(first) && ends(second),
        _ => false,
    };
    tokens.iter().any(forks) && (tokens.windows(2).any(endless) || tokens.windows(4).any(open))
}

/// Whether a name in the first argument, or one its value came from, is such a call.
fn made_by(given: &[Argument], tokens: &[Token], is: fn(&str) -> bool) -> bool {
    let words: &[Word] = match given.first() {
        Some(Argument::One(word)) => std::slice::from_ref(word),
        Some(Argument::List(words)) => words,
        None => &[],
    };
    let sources = words.iter().flat_map(|word| &word.pieces).any(|piece| match piece {
        WordPiece::Unknown(source) => is(source),
        _ => false,
    });
    let named = (0..tokens.len()).any(|at| {
        let rest = tokens.get(at..).unwrap_or_default();
        let (path, width) = super::values::dotted(rest);
        let called = matches!(rest.get(width), Some(Token::Mark('(') | Token::Text(_)));
        called && (is(&path) || is(last(&path)))
    });
    sources || named
}

/// `Buffer.from(text, 'base64')`.
fn buffer(tokens: &[Token]) -> bool {
    let from = tokens.iter().any(|token| matches!(token, Token::Name(name) if name == "Buffer"));
    let code = |token: &Token| matches!(token, Token::Text(text) if matches!(text.shown().as_str(), "base64" | "hex"));
    from && tokens.iter().any(code)
}

fn decodes(name: &str) -> bool {
    DECODERS.contains(&last(name))
}

fn fetches(name: &str) -> bool {
    FETCHERS.iter().any(|fetcher| name == *fetcher || last(name) == *fetcher)
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

//! The screens of the real client, each named by what it shows.

use agents::CapturedScreen;
use agents::dialect::ScreenDialect;
use model::fleet::Prompt;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const SCREEN: Option<&ScreenDialect> = agents::claude_code::DIALECT.screen.as_ref();

fn prompt(screen: CapturedScreen<'_>) -> Prompt {
    (SCREEN.unwrap().prompt)(screen)
}

fn typed(screen: CapturedScreen<'_>) -> Option<String> {
    (SCREEN.unwrap().typed)(screen)
}

/// First line: column and row of the cursor. Then what tmux captured.
fn parse(text: &str) -> Option<CapturedScreen<'_>> {
    let (head, text) = text.split_once('\n')?;
    let mut numbers = head.split(' ').filter_map(|number| number.parse().ok());
    Some(CapturedScreen { text, cursor: (numbers.next()?, numbers.next()?) })
}

fn corpus() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/claude-code/screens");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn f3_every_captured_screen_is_read_as_its_name_says() {
    let corpus = corpus();
    for kind in ["empty.", "typed.", "dialog.", "unknown."] {
        assert!(corpus.iter().filter(|(name, _)| name.starts_with(kind)).count() >= 3, "too few of {kind}");
    }
    for (name, text) in corpus {
        let wanted = match name.split('.').next() {
            Some("empty") => Prompt::Empty,
            Some("typed") => Prompt::Typed,
            Some("dialog") => Prompt::Dialog,
            _ => Prompt::Unknown,
        };
        assert_eq!(prompt(parse(&text).unwrap()), wanted, "{name}");
    }
}

#[test]
fn f3_what_stands_in_the_input_line_can_be_read_wherever_it_is_wrapped() {
    let corpus = corpus();
    let read = |wanted: &str| {
        let (_, text) = corpus.iter().find(|(name, _)| name == wanted).unwrap();
        typed(parse(text).unwrap())
    };
    assert_eq!(read("typed.half_a_line.txt").as_deref(), Some("halfaline"));
    assert_eq!(read("typed.two_lines.txt").as_deref(), Some("halfalinesecondline"));
    let wrapped = "alonglinethatiswrappedbecausetheterminalisnarrow,verynarrowindeed";
    assert_eq!(read("typed.wrapped.txt").as_deref(), Some(wrapped));
    assert_eq!(read("empty.start.txt").as_deref(), Some(""));
    assert_eq!(read("dialog.question.txt"), None);
}

#[test]
fn f3_what_is_no_screen_of_the_client_is_never_an_empty_prompt() {
    for text in ["", "$ ", "❯ ", "❯\u{a0}", "\n\n──────────────\n❯ \n──────────────\n"]
    {
        assert_ne!(prompt(CapturedScreen { text, cursor: (2, 0) }), Prompt::Empty, "{text:?}");
        assert_ne!(prompt(CapturedScreen { text, cursor: (2, 3) }), Prompt::Empty, "{text:?}");
    }
}

proptest! {
    /// F3: a screen of which anything that matters was lost is not taken for an empty prompt.
    #[test]
    fn f3_a_letter_more_on_the_input_line_is_never_overlooked(letter in "[a-zA-Z0-9/!?@]", which in 0_usize..64) {
        let corpus: Vec<_> = corpus().into_iter().filter(|(name, _)| name.starts_with("empty.")).collect();
        let (name, text) = &corpus[which % corpus.len()];
        let screen = parse(text).unwrap();
        let (before, after) = screen.text.rsplit_once("❯\u{a0}").unwrap();
        let typed = format!("{before}❯\u{a0}{letter}{after}");
        let moved = CapturedScreen { text: &typed, cursor: (screen.cursor.0 + 1, screen.cursor.1) };
        prop_assert_eq!(prompt(moved), Prompt::Typed, "{}", name);
        prop_assert_ne!(prompt(CapturedScreen { text: &typed, ..screen }), Prompt::Empty, "{}", name);
    }

    #[test]
    fn f3_the_reader_takes_anything(text in "(\\PC|\u{1b}|\\[|;|m|❯|\u{a0}|─|\n){0,300}", x in 0_usize..200, y in 0_usize..60) {
        let _ = prompt(CapturedScreen { text: &text, cursor: (x, y) });
    }
}

#[test]
fn f3_a_client_works_where_it_says_so_and_never_at_a_dialog() {
    let works = |text: &str| (SCREEN.unwrap().works)(parse(text).unwrap());
    for (name, text) in corpus() {
        assert_eq!(works(&text), name.contains("working"), "{name}");
    }
}

#[test]
fn f3_what_the_client_obeys_or_completes_is_no_words_for_the_agent() {
    let is_words = SCREEN.unwrap().is_words;
    for odd in [
        "/clear", "/c", " /cd x", "!ls", "\n!ls", "#note", "@w", "look at @world", "a\\", "two\nlines \\", "&go",
        "exit", "quit", ":wq",
    ] {
        assert!(!is_words(odd), "{odd:?}");
    }
    for plain in
        ["go on", "what is 1/2 of it?", "ask ada@home", "see @world please", "a\\b", "exit the loop", "is it #3?"]
    {
        assert!(is_words(plain), "{plain:?}");
    }
}

//! Generates settings texts: every form JSON with comments allows.

use crate::hook_file::EntryShape;
use proptest::prelude::*;

/// A text that may hold anything a settings file may hold, except our entries.
pub fn settings() -> impl Strategy<Value = String> {
    file(EntryShape::Group)
}

/// A text whose root is keyed by event.
pub fn keyed_by_event(shape: EntryShape) -> impl Strategy<Value = String> {
    framed(hooks(shape))
}

/// A text with its events below `hooks`.
pub fn file(shape: EntryShape) -> impl Strategy<Value = String> {
    let hooks = hooks(shape).prop_map(|hooks| ("\"hooks\"".to_owned(), hooks));
    // A second `hooks` would win over the first; the shape of it is tested apart.
    let other = || (key(), value()).prop_filter("one `hooks` only", |(key, _)| key != "\"hooks\"");
    let others = || prop::collection::vec(other(), 0..3);
    let members = (others(), prop::option::of(hooks), others());
    let members = members.prop_map(|(before, hooks, after)| before.into_iter().chain(hooks).chain(after).collect());
    framed(object(members))
}

fn framed(root: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let root = prop_oneof![20 => root, 1 => Just(String::new())];
    (prop::bool::weighted(0.1), space(), root, space(), prop::bool::weighted(0.3)).prop_map(
        |(bom, before, root, after, crlf)| {
            let text = format!("{}{before}{root}{after}", if bom { "\u{feff}" } else { "" });
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

/// The inside of `hooks`: events of ours and others, empty or with foreign hooks.
fn hooks(shape: EntryShape) -> impl Strategy<Value = String> {
    let event =
        prop::sample::select(vec!["\"Stop\"", "\"PreToolUse\"", "\"SessionEnd\"", "\"WorktreeCreate\"", "\"New\""]);
    let member = (event.prop_map(str::to_owned), list(entry(shape)));
    object(prop::collection::vec(member, 0..4))
}

fn entry(shape: EntryShape) -> BoxedStrategy<String> {
    let handler = object(Just(vec![
        ("\"type\"".to_owned(), "\"command\"".to_owned()),
        ("\"command\"".to_owned(), "\"say // done, taut hook\"".to_owned()),
    ]));
    match shape {
        EntryShape::Group => group(handler).boxed(),
        EntryShape::Plain => handler.boxed(),
    }
}

fn group(handler: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let matcher = Just(("\"matcher\"".to_owned(), "\"Bash|Edit\"".to_owned()));
    (prop::option::of(matcher), list(handler)).prop_flat_map(|(matcher, handlers)| {
        let hooks = ("\"hooks\"".to_owned(), handlers);
        object(Just(matcher.into_iter().chain([hooks]).collect()))
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "\"[a-z]{1,6}\"",
        Just(r#""version""#.to_owned()),
        Just(r#""permissions""#.to_owned()),
        Just(r#""we \"say\" \\ \u0041 ü""#.to_owned())
    ]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
        Just(r#""{ not, [real] } // text""#.to_owned()),
        Just(r#""\ud800""#.to_owned()),
        Just(r#""""#.to_owned()),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![list(inner.clone()), object(prop::collection::vec((key(), inner), 0..3)),]
    })
}

/// Space, line ends and comments. A line comment always ends its line.
fn space() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => Just(""), 4 => Just(" "), 4 => Just("\n  "), 2 => Just("\n\t\t"), 1 => Just("\n"),
        1 => Just(" // note\n"), 1 => Just("/* a, {b} */"), 1 => Just("\n // \"x\": [1],\n"),
    ];
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

fn list(element: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    row('[', ']', prop::collection::vec(element, 0..3))
}

fn object(members: impl Strategy<Value = Vec<(String, String)>>) -> impl Strategy<Value = String> {
    let members = (members, space(), space());
    let lines = members.prop_map(|(members, before, after)| {
        members.into_iter().map(|(key, value)| format!("{key}{before}:{after}{value}")).collect()
    });
    row('{', '}', lines)
}

fn row(open: char, close: char, elements: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = String> {
    (elements, prop::collection::vec(space(), 9), any::<bool>()).prop_map(move |(elements, spaces, comma)| {
        let mut text = String::from(open);
        let mut space = spaces.iter().cycle();
        let mut next = || space.next().unwrap().as_str();
        let count = elements.len();
        for (index, element) in elements.iter().enumerate() {
            text += next();
            text += element;
            text += next();
            if index + 1 < count || comma {
                text.push(',');
            }
        }
        text += next();
        text.push(close);
        text
    })
}

//! Whether everybody can read the page: the contrast of every colour that text has on every colour it stands on, in both
//! themes, from the style sheet itself.

use std::collections::BTreeMap;

const STYLE: &str = include_str!("assets/style.css");

/// What text stands on anywhere on the page.
const GROUNDS: &[&str] = &["ground", "paper", "hover"];
/// Colours of text, which stand on each of those.
const INKS: &[&str] = &["ink", "quiet", "link", "error", "attention", "working", "checked", "done"];
/// Text on a colour of its own.
const PAIRS: &[(&str, &str)] = &[
    ("error", "error-soft"),
    ("attention", "attention-soft"),
    ("working", "working-soft"),
    ("checked", "checked-soft"),
    ("quiet", "done-soft"),
    ("ink", "done-soft"),
    ("ink", "error-soft"),
    ("ink", "attention-soft"),
    ("ink", "working-soft"),
    ("ink", "checked-soft"),
    ("quiet", "error-soft"),
    ("quiet", "attention-soft"),
    ("quiet", "working-soft"),
    ("link", "attention-soft"),
    ("link", "error-soft"),
    ("ink", "faint"),
    ("paper", "ink"),
    ("button-ink", "button"),
];
/// The edges of what is typed into, and the mark of the focus: not text, and to be seen all the same.
const EDGES: &[(&str, &str)] = &[("control", "paper"), ("focus", "paper"), ("focus", "ground")];

type Palette = BTreeMap<String, [f64; 3]>;

/// The colours of one theme: those of the dark one over those of the light.
fn palettes() -> [(&'static str, Palette); 2] {
    let (light, rest) = STYLE.split_once("@media (prefers-color-scheme: dark)").expect("two themes");
    let dark = rest.split("\n}").next().unwrap_or_default();
    let light = colours(light);
    let mut over = light.clone();
    over.extend(colours(dark));
    [("light", light), ("dark", over)]
}

fn colours(text: &str) -> Palette {
    let declared = text.split(['{', ';', '}']).filter_map(|part| part.trim().strip_prefix("--")?.split_once(':'));
    let read = |(name, value): (&str, &str)| {
        let hex = value.trim().strip_prefix('#').filter(|hex| hex.len() == 6)?;
        let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok().map(f64::from);
        Some((name.to_owned(), [part(0)?, part(2)?, part(4)?]))
    };
    declared.filter_map(read).collect()
}

/// As WCAG 2 has it.
fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let linear = |value: f64| match value / 255.0 {
        small if small <= 0.03928 => small / 12.92,
        more => ((more + 0.055) / 1.055).powf(2.4),
    };
    let light = |[r, g, b]: [f64; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05;
    let (one, other) = (light(one), light(other));
    one.max(other) / one.min(other)
}

#[test]
fn f4_a_status_has_the_colour_that_it_has_in_tmux() {
    let hex = |[r, g, b]: [f64; 3]| format!("#{:02x}{:02x}{:02x}", r as u8, g as u8, b as u8);
    for (theme, palette) in palettes() {
        for status in model::row::AgentStatus::ALL {
            let colour = status.colour();
            let wanted = if theme == "dark" { colour.on_dark } else { colour.on_light };
            assert_eq!(hex(palette[status.name()]), wanted, "{theme}: {}", status.name());
        }
    }
    let ground = |nth: usize| hex(palettes()[nth].1["paper"]);
    assert_eq!([ground(0), ground(1)], [model::status_colour::LIGHT_GROUND, model::status_colour::DARK_GROUND]);
}

#[test]
fn f4_every_colour_of_text_is_readable_in_both_themes() {
    assert!((contrast([0.0; 3], [255.0; 3]) - 21.0).abs() < 0.001);
    let on_grounds = INKS.iter().flat_map(|ink| GROUNDS.iter().map(move |ground| (*ink, *ground)));
    let text: Vec<(&str, &str)> = on_grounds.chain(PAIRS.iter().copied()).collect();
    let mut faint = Vec::new();
    for (theme, palette) in palettes() {
        for (pairs, least) in [(&text[..], 4.5), (EDGES, 3.0)] {
            for (ink, ground) in pairs {
                let found = contrast(palette[*ink], palette[*ground]);
                if found < least {
                    faint.push(format!("{theme}: {ink} on {ground} has {found:.2}, not {least}"));
                }
            }
        }
    }
    assert!(faint.is_empty(), "{}", faint.join("\n"));
}

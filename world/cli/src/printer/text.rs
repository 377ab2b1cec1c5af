//! What may be printed. A `Text` is made of our own styles and of words that went
//! through the cleaner, and there is no other way to make one. It cannot be put
//! into a `format!`, where what stands beside it would get past the cleaner:
//! `text!` is the `format!` of texts.

use anstyle::Style;
use std::borrow::Cow;
use std::fmt::{self, Alignment, Display, Write};

/// More of one line than anybody reads in a listing.
const LONGEST_LINE: usize = 4_000;

/// The same for a text of many lines.
const LONGEST_LINES: usize = 100_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// One line, whatever is in it.
    pub fn line(text: impl AsRef<str>) -> Self {
        Self(cleaned(text.as_ref(), LONGEST_LINE, model::text::line))
    }

    /// A text of which every line is meant to be one.
    pub fn lines(text: impl AsRef<str>) -> Self {
        Self(cleaned(text.as_ref(), LONGEST_LINES, model::text::lines))
    }

    /// What `text!` makes.
    pub fn of(pieces: fmt::Arguments<'_>) -> Self {
        Self(pieces.to_string())
    }

    pub(super) fn styled(self, style: Style) -> Self {
        if self.0.is_empty() { self } else { Self(format!("{style}{}{style:#}", self.0)) }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Without spaces at the end.
    pub fn trimmed(mut self) -> Self {
        self.0.truncate(self.0.trim_end().len());
        self
    }

    /// Every line but the first moved in, so that none of them passes for one of ours.
    pub fn hanging(self) -> Self {
        Self(self.0.replace('\n', "\n  "))
    }

    /// The texts with the same between each two of them.
    pub fn joined(texts: impl IntoIterator<Item = Self>, between: &'static str) -> Self {
        let texts: Vec<String> = texts.into_iter().map(|text| text.0).collect();
        Self(texts.join(between))
    }

    /// How many columns it takes: styles take none.
    pub(super) fn width(&self) -> usize {
        let mut inside = false;
        let shown = self.0.chars().filter(|c| {
            let style = inside || *c == '\u{1b}';
            inside = style && *c != 'm';
            !style
        });
        shown.count()
    }
}

fn cleaned(text: &str, most: usize, clean: fn(&str, usize) -> String) -> String {
    let mut shown = clean(text, most);
    // What is cut off is said; a mark costs more letters than it had, so this counts what was read.
    if text.len() > most && shown.chars().count() > most {
        let _ = write!(shown, " (cut; it has {} bytes)", text.len());
    }
    shown
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::line(text)
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::line(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::line(text)
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        Self::line(text)
    }
}

/// What `text!` puts into its places: a `Text` as it is, anything else cleaned.
pub struct TextPiece<'a, T: ?Sized>(pub &'a T);

/// Whatever can be said: a `Text`, or what only the cleaner makes one.
pub trait Say {
    fn said(&self, precision: Option<usize>) -> Text;
}

/// This stands beside the next one only as long as a `Text` is not `Display`:
/// the compiler keeps it out of every `format!`.
impl Say for Text {
    fn said(&self, _: Option<usize>) -> Text {
        self.clone()
    }
}

impl<T: Display + ?Sized> Say for T {
    fn said(&self, precision: Option<usize>) -> Text {
        Text::line(match precision {
            Some(digits) => format!("{self:.digits$}"),
            None => self.to_string(),
        })
    }
}

impl<T: Say + ?Sized> Display for TextPiece<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.said(out.precision());
        let room = out.width().unwrap_or_default().saturating_sub(text.width());
        let before = if out.align() == Some(Alignment::Right) { room } else { 0 };
        write!(out, "{:before$}{}{:after$}", "", text.0, "", after = room - before)
    }
}

/// Whether a form has only places without a name. What a name in the form stands
/// for would be put in by the compiler and not by `text!`.
pub const fn only_plain_places(form: &str) -> bool {
    let form = form.as_bytes();
    let mut at = 0;
    while at < form.len() {
        if form[at] == b'{' {
            at += 1;
            if at < form.len() && !matches!(form[at], b'{' | b'}' | b':') {
                return false;
            }
        }
        at += 1;
    }
    true
}

/// `format!` for what is printed: `text!("{} is {:<9}", name, printer.red("away"))`.
/// A piece that is no `Text` is cleaned as one line. A name inside the form would
/// get around that, and does not compile.
macro_rules! text {
    ($form:literal $(, $piece:expr)* $(,)?) => {{
        const _: () = assert!($crate::printer::only_plain_places($form), "put the pieces of text! after its form");
        $crate::printer::Text::of(format_args!($form $(, $crate::printer::TextPiece(&$piece))*))
    }};
}
pub(crate) use text;

#[cfg(test)]
mod tests {
    use super::*;

    /// A number in a place, as in `{0}`, would be put in right; it is refused with the names.
    #[test]
    fn t6_a_form_with_a_name_in_it_is_refused() {
        for form in ["", "a", "{} {:<9}", "{{name}}", "{:.2}%"] {
            assert!(only_plain_places(form), "{form}");
        }
        for form in ["{name}", "{} {name:>3}", "{0}", "{{{name}}}"] {
            assert!(!only_plain_places(form), "{form}");
        }
    }

    #[test]
    fn t6_styles_and_padding_are_ours_and_the_rest_is_cleaned() {
        let red = Text::from("no\u{1b}[2J").styled(Style::new().bold());
        let hostile = "x\u{1b}]0;t\u{7}\ny".to_string();
        let shown = text!("[{:<8}] {:>3} {:.1} {}", red, 7, 1.25, hostile);
        assert_eq!(shown.as_str(), "[\u{1b}[1mno␛[2J\u{1b}[0m  ]   7 1.2 x␛]0;t␇ y");
        assert_eq!(shown.width(), "[no␛[2J  ]   7 1.2 x␛]0;t␇ y".chars().count());
    }

    #[test]
    fn t6_whatever_comes_from_outside_only_our_own_styles_are_left_of_controls() {
        let style = Style::new().bold();
        let all: Vec<char> = ('\0'..=char::MAX).collect();
        for outside in all.chunks(300).map(|some| some.iter().collect::<String>()) {
            let (line, lines) = (Text::from(&outside), Text::lines(&outside));
            let cells = [line.clone().styled(style), text!("{:>9}{:.3}", outside, outside), line];
            let one = Text::joined(cells, "  ").trimmed();
            let many = text!("{}{}", lines.clone().styled(style), lines.hanging());
            for (text, newline) in [(one, false), (many, true)] {
                let bare = text.0.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
                let bad =
                    bare.chars().find(|c| c.is_control() && !(newline && *c == '\n') || model::text::is_hidden(*c));
                assert_eq!(bad, None, "{bare:?}");
            }
        }
    }

    #[test]
    fn t6_a_long_text_is_cut_and_says_so() {
        let long = Text::lines("x\n".repeat(2_500_000));
        assert!(long.0.len() < 101_000 && long.0.ends_with("… (cut; it has 5000000 bytes)"));
        assert_eq!(Text::from("x".repeat(LONGEST_LINE)).0.len(), LONGEST_LINE);
    }
}

//! One budget for all that an event tells the model. The client replaces what
//! is longer than its limit by a preview, so nothing here is ever longer:
//! the most important comes first, and what does not fit is named instead.

/// The client cuts an injection above this many UTF-16 units.
pub const CLIENT_LIMIT: usize = 10_000;

/// What is used of it; the rest is room for the joints between the parts.
const LIMIT: usize = 9_800;

/// A text that is longer than this is cut where it does not fit, and not kept for later.
const LONG: usize = LIMIT / 2;

/// What may be spent on names of what was left out.
const NAMES: usize = 1_500;

const CUT: &str = "\n… (cut)";

/// How important something is: the first is told first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// What the session before wrote down for this one.
    Recovery,
    /// What went wrong, or is about to.
    Warning,
    /// What the session works on, and what its skill wants.
    Effort,
    /// What is unfinished here, for whoever takes it up.
    Offer,
    /// What was noted to last.
    Fact,
    /// Said by others.
    Message,
    /// Files for everyone.
    Core,
    /// Files of the session's role, then of its mode.
    Role,
    Mode,
    /// Good to know.
    Note,
}

/// A file to be shown whole, or to be named as one to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownFile {
    /// As the reader has to give it to read the file.
    pub path: String,
    /// As it is listed and headed: `TODAY.MD (daily memory)`.
    pub title: String,
    /// `None` when it is known to be too long.
    pub text: Option<String>,
}

/// Collects what is to be told and fits it in once everything is there.
#[derive(Debug, Default)]
pub struct ContextBudget {
    texts: Vec<Text>,
    files: Vec<(Rank, ShownFile)>,
    /// Begins the list of files.
    intro: Option<String>,
}

#[derive(Debug)]
struct Text {
    rank: Rank,
    text: String,
    /// What it is known by where it waits by itself for the next chance.
    waits_as: Option<String>,
}

/// What fits, and what became of the rest.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fitted {
    pub text: Option<String>,
    /// Paths of the files that were only named: pending reads.
    pub unread: Vec<String>,
    /// Texts to be told at the next chance.
    pub deferred: Vec<String>,
    /// What was offered and is told.
    pub told: Vec<String>,
}

impl ContextBudget {
    pub fn say(&mut self, rank: Rank, text: impl Into<String>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.texts.push(Text { rank, text, waits_as: None });
        }
    }

    /// Told whole or not at all: what does not fit goes on waiting where it is
    /// kept under this name, or is left out where it has none.
    pub fn offer(&mut self, rank: Rank, text: String, waits_as: &str) {
        self.texts.push(Text { rank, text, waits_as: Some(waits_as.to_string()) });
    }

    /// The same path is shown once, where it is most important.
    pub fn show(&mut self, rank: Rank, file: ShownFile) {
        match self.files.iter_mut().find(|(_, known)| known.path == file.path) {
            Some(known) if known.0 > rank => *known = (rank, file),
            Some(_) => {}
            None => self.files.push((rank, file)),
        }
    }

    /// The line that the list of files begins with.
    pub fn introduce(&mut self, intro: impl Into<String>) {
        self.intro.get_or_insert(intro.into());
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.files.is_empty()
    }

    pub fn fit(mut self) -> Fitted {
        let mut fitted = Fitted::default();
        self.texts.sort_by_key(|text| text.rank);
        self.files.sort_by_key(|(rank, _)| *rank);
        let mut room = LIMIT.saturating_sub(self.frame());
        let mut said: Vec<String> = Vec::new();
        for Text { text, waits_as, .. } in std::mem::take(&mut self.texts) {
            if let Some(name) = waits_as {
                if size(&text) + 2 <= room {
                    room = room.saturating_sub(size(&text) + 2);
                    said.push(text);
                    fitted.told.extend(Some(name).filter(|name| !name.is_empty()));
                }
                continue;
            }
            match place(text, room) {
                Placed::Whole(text) | Placed::Cut(text) => {
                    room = room.saturating_sub(size(&text) + 2);
                    said.push(text);
                }
                Placed::Later(text) => fitted.deferred.push(text),
            }
        }
        let (shown, unread) = self.choose(room);
        fitted.unread = unread;
        let mut parts: Vec<String> = said;
        parts.extend(self.block(&shown, &fitted.unread));
        fitted.text = (!parts.is_empty()).then(|| parts.join("\n\n"));
        fitted
    }

    /// What the block of files costs before any of them is shown.
    fn frame(&self) -> usize {
        if self.files.is_empty() {
            return 0;
        }
        let names: usize = self.files.iter().map(|(_, file)| size(&file.path) + 3).sum();
        let intro = self.intro.as_deref().map_or(0, size);
        intro + size(LISTED) + size(UNREAD) + size(FOLLOWS) + names.min(NAMES) + 40
    }

    /// The files that are shown, by position, and the paths of those that are not.
    fn choose(&self, mut room: usize) -> (Vec<usize>, Vec<String>) {
        let (mut shown, mut unread) = (Vec::new(), Vec::new());
        for (at, (_, file)) in self.files.iter().enumerate() {
            let cost = file.text.as_ref().map(|text| size(text) + 2 * size(&file.title) + 10);
            match cost {
                Some(cost) if cost <= room => {
                    room -= cost;
                    shown.push(at);
                }
                _ => unread.push(file.path.clone()),
            }
        }
        (shown, unread)
    }

    fn block(&self, shown: &[usize], unread: &[String]) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let files = || shown.iter().filter_map(|at| self.files.get(*at)).map(|(_, file)| file);
        let mut parts: Vec<String> = self.intro.clone().into_iter().collect();
        if !shown.is_empty() {
            let lines: Vec<String> = files().map(|file| format!("- {}", file.title)).collect();
            parts.push(format!("{LISTED}\n{}", lines.join("\n")));
        }
        if !unread.is_empty() {
            parts.push(format!("{UNREAD}\n{}", names(unread)));
        }
        if !shown.is_empty() {
            parts.push(FOLLOWS.to_string());
            parts
                .extend(files().map(|file| format!("## {}\n{}", file.title, file.text.as_deref().unwrap_or_default())));
        }
        Some(parts.join("\n\n"))
    }
}

const LISTED: &str = "Core memory files loaded automatically:";
const UNREAD: &str = "Too long to be shown here. Read them before you go on:";
const FOLLOWS: &str = "Full content follows:";

/// Length as the client counts it.
pub fn size(text: &str) -> usize {
    text.encode_utf16().count()
}

enum Placed {
    Whole(String),
    Cut(String),
    Later(String),
}

fn place(text: String, room: usize) -> Placed {
    let length = size(&text);
    if length + 2 <= room {
        return Placed::Whole(text);
    }
    if length <= LONG || room < 500 {
        return Placed::Later(text);
    }
    Placed::Cut(format!("{}{CUT}", beginning(&text, room.saturating_sub(size(CUT) + 2))))
}

/// As much of the beginning as fits, in whole characters.
pub fn beginning(text: &str, most: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > most {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// As many names as may be spent on, and how many more there are.
fn names(paths: &[String]) -> String {
    let mut lines = Vec::new();
    let mut used = 30;
    for path in paths {
        used += size(path) + 3;
        if used > NAMES {
            lines.push(format!("- and {} more", paths.len() - lines.len()));
            break;
        }
        lines.push(format!("- {path}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(path: &str, length: usize) -> ShownFile {
        ShownFile { path: path.into(), title: path.to_uppercase(), text: Some("x".repeat(length)) }
    }

    #[test]
    fn s2_the_list_of_what_was_loaded_comes_first_and_then_the_contents() {
        let mut budget = ContextBudget::default();
        budget.introduce("[TAUT: INFO]: Session context loaded");
        let shown = |path: &str, title: &str, text: &str| ShownFile {
            path: path.into(),
            title: title.into(),
            text: Some(text.into()),
        };
        budget.show(Rank::Role, shown("identity.md", "identity.md", "who I am"));
        budget.show(Rank::Core, shown("TODAY.md", "TODAY.MD (daily memory)", "to do"));
        let expected = "[TAUT: INFO]: Session context loaded\n\n\
            Core memory files loaded automatically:\n- TODAY.MD (daily memory)\n- identity.md\n\n\
            Full content follows:\n\n## TODAY.MD (daily memory)\nto do\n\n## identity.md\nwho I am";
        assert_eq!(budget.fit(), Fitted { text: Some(expected.into()), ..Fitted::default() });
    }

    #[test]
    fn s4_what_does_not_fit_is_named_and_smaller_files_after_it_are_still_shown() {
        let mut budget = ContextBudget::default();
        budget.show(Rank::Core, file("a.md", 4_000));
        budget.show(Rank::Core, file("b.md", 20_000));
        budget.show(Rank::Core, file("c.md", 4_000));
        budget.show(Rank::Role, ShownFile { path: "d.md".into(), title: "D".into(), text: None });
        let fitted = budget.fit();
        assert_eq!(fitted.unread, ["b.md", "d.md"]);
        let text = fitted.text.unwrap();
        assert!(size(&text) < CLIENT_LIMIT);
        assert!(text.contains("Read them before you go on:\n- b.md\n- d.md\n\n"));
        assert!(text.contains("## A.MD\n") && text.contains("## C.MD\n"));
    }

    #[test]
    fn s4_the_most_important_is_told_first_and_a_short_text_without_room_waits() {
        let mut budget = ContextBudget::default();
        budget.say(Rank::Note, "note ".repeat(200));
        budget.say(Rank::Effort, "effort ".repeat(900));
        budget.say(Rank::Recovery, "recovery ".repeat(380));
        let fitted = budget.fit();
        let text = fitted.text.unwrap();
        assert!(text.starts_with("recovery") && text.contains("effort") && !text.contains("note"));
        assert_eq!(fitted.deferred, ["note ".repeat(200)]);
    }

    #[test]
    fn a_text_too_long_for_any_event_is_cut_and_says_so() {
        let mut budget = ContextBudget::default();
        budget.say(Rank::Message, "é".repeat(40_000));
        let fitted = budget.fit();
        assert!(fitted.text.unwrap().ends_with("(cut)"));
        assert!(fitted.deferred.is_empty());
    }

    #[test]
    fn one_file_named_twice_is_shown_once() {
        let mut budget = ContextBudget::default();
        budget.show(Rank::Role, file("a.md", 5));
        budget.show(Rank::Core, file("a.md", 5));
        assert_eq!(budget.fit().text.unwrap().matches("## A.MD").count(), 1);
    }

    proptest! {
        #[test]
        fn s4_nothing_is_ever_longer_than_the_client_takes(
            texts in prop::collection::vec((0_usize..8, 0_usize..12_000), 0..8),
            files in prop::collection::vec((0_usize..8, 0_usize..12_000, ".{0,200}"), 0..60),
        ) {
            let ranks = [Rank::Recovery, Rank::Warning, Rank::Effort, Rank::Message, Rank::Core, Rank::Role, Rank::Mode, Rank::Note];
            let mut budget = ContextBudget::default();
            budget.introduce("[TAUT: INFO]: Session context loaded");
            for (rank, length) in texts {
                budget.say(ranks[rank], "🦀".repeat(length / 2));
            }
            for (at, (rank, length, name)) in files.iter().enumerate() {
                budget.show(ranks[*rank], file(&format!("{at}{name}"), *length));
            }
            let fitted = budget.fit();
            prop_assert!(fitted.text.as_deref().map_or(0, size) <= CLIENT_LIMIT);
        }
    }
}

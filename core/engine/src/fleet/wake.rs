//! Waking an idle agent: the line that is pasted for it, how that line is known
//! again when it comes back as a prompt, and when it may be pasted at all.

use model::Ms;
use model::fleet::Prompt;
use model::row::AgentStatus;
use model::session::{SessionState, Woken};
use model::session_work::is_typed;

/// So long an agent must have been at rest: who has just stopped may go on by itself.
pub const SETTLED_MS: i64 = 2_000;

/// Between two wake-ups of one agent, however many messages come. It doubles
/// with each while no person speaks, so that two agents that answer each other
/// come to rest.
pub const PAUSE_MS: i64 = 30_000;

/// The pause grows no further.
pub const LONGEST_PAUSE_MS: i64 = 10 * 60_000;

/// Who was left alone for so long is no part of an endless talk.
pub const CALM_MS: i64 = 2 * LONGEST_PAUSE_MS;

/// Before an agent is woken again for what it was already woken for.
pub const AGAIN_MS: i64 = 10 * 60_000;

/// For the same messages an agent is woken at most so often.
pub const MOST_WAKES: u32 = 3;

/// What is known of an agent that might be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// As stored.
    pub state: SessionState,
    pub status: Option<AgentStatus>,
    /// When its session was last heard of.
    pub last_seen: Ms,
    /// Messages that wait for it.
    pub messages: u64,
    /// When it was last woken for any of them.
    pub woken_at: Option<Ms>,
    /// When it was last woken at all: what it was woken for may be delivered.
    pub last: Option<Woken>,
    /// How often it was woken for the one it was woken for least.
    pub wakes: u32,
    /// What stands in its input line.
    pub prompt: Prompt,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WakeDecision {
    /// This text, and then Enter.
    Paste {
        text: String,
    },
    /// Enter alone: our line stands there already.
    Enter,
    Wait(LeftAlone),
}

/// Why an agent is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftAlone {
    NothingWaits,
    /// It works, or has ended.
    NotIdle,
    /// It has stopped only just now.
    Settling,
    /// Somebody has typed something that was not sent.
    Typed,
    /// A question stands before the user.
    Dialog,
    /// What is on its screen could not be read.
    Unreadable,
    /// It was woken a short while ago.
    JustWoken,
    /// It was woken often enough for the same.
    GaveUp,
}

/// Paste only when nothing can be disturbed by it.
pub fn wake(idle: &Idle, now: Ms) -> WakeDecision {
    let wait = |why| WakeDecision::Wait(why);
    if idle.messages == 0 {
        return wait(LeftAlone::NothingWaits);
    }
    if idle.state != SessionState::Idle {
        return wait(LeftAlone::NotIdle);
    }
    if matches!(idle.status, Some(AgentStatus::Attention | AgentStatus::Checked)) {
        return wait(LeftAlone::Dialog);
    }
    if now.since(idle.last_seen) < SETTLED_MS {
        return wait(LeftAlone::Settling);
    }
    if idle.wakes >= MOST_WAKES {
        return wait(LeftAlone::GaveUp);
    }
    let pause = if idle.wakes == 0 { PAUSE_MS } else { AGAIN_MS };
    let rests = idle.last.is_some_and(|last| now.since(last.at) < pause_after(last.row));
    if rests || idle.woken_at.is_some_and(|at| now.since(at) < pause) {
        return wait(LeftAlone::JustWoken);
    }
    match idle.prompt {
        Prompt::Empty => WakeDecision::Paste { text: trigger(idle.messages) },
        Prompt::Ours => WakeDecision::Enter,
        Prompt::Typed => wait(LeftAlone::Typed),
        Prompt::Dialog => wait(LeftAlone::Dialog),
        Prompt::Unknown => wait(LeftAlone::Unreadable),
    }
}

/// The pause after so many wake-ups in a row.
fn pause_after(row: u32) -> i64 {
    let doublings = row.saturating_sub(1).min(8);
    (PAUSE_MS << doublings).min(LONGEST_PAUSE_MS)
}

/// What is remembered of a wake-up at this moment.
pub fn counted(before: Option<Woken>, now: Ms) -> Woken {
    let row = before.filter(|last| now.since(last.at) < CALM_MS).map_or(0, |last| last.row);
    Woken { at: now, row: row.saturating_add(1) }
}

/// The line that is pasted: short, one line, and nothing in it that a shell or
/// an editor would take for more than text.
pub fn trigger(messages: u64) -> String {
    match messages {
        1 => format!("{SIGN} 1 message is waiting"),
        count => format!("{SIGN} {count} messages are waiting"),
    }
}

/// Whether what is typed, which is read off a screen without blanks, is a line
/// of ours for any count, and nothing more.
pub fn is_ours(typed: &str) -> bool {
    let digits = typed.chars().filter(char::is_ascii_digit).take(20).collect::<String>();
    digits.parse().is_ok_and(|count| unspaced(&trigger(count)) == typed)
}

/// As it is read off a screen, where it may be wrapped.
pub fn unspaced(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_whitespace()).collect()
}

const SIGN: &str = "[taut]";

/// A prompt that begins with our own line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeUp {
    /// It is that line and nothing else.
    Alone,
    /// A person typed behind it: what follows is theirs.
    WithMore,
}

/// Whether a prompt is our own line come back, however it is decorated: with a
/// time before it, in quotes, in bracketed-paste marks, coloured, broken over
/// lines, in other letters, or with something after it. A sentence of a person
/// that quotes it is not one.
pub fn wake_up(prompt: &str) -> Option<WakeUp> {
    let plain = bare(prompt);
    // The client itself tells of what a hook of ours said while it was at rest.
    if !is_typed(prompt) {
        let ours = plain.split(SIGN).skip(1).any(|after| announced(after).is_some());
        return ours.then_some(WakeUp::Alone);
    }
    let near = plain.match_indices(SIGN).take_while(|(at, _)| *at <= LONGEST_DECORATION * char::MAX.len_utf8());
    for (at, _) in near {
        let (before, after) = plain.split_at_checked(at)?;
        let more = after.strip_prefix(SIGN).and_then(announced);
        if let Some(more) = more.filter(|_| is_decoration(before)) {
            return Some(if is_said(more) { WakeUp::WithMore } else { WakeUp::Alone });
        }
    }
    None
}

/// Our line stands at the beginning; a prompt may be a whole file.
const MOST_READ: usize = 2_000;

/// The beginning, without marks of the terminal, in small letters, with single spaces.
fn bare(text: &str) -> String {
    let beginning = text.char_indices().nth(MOST_READ).and_then(|(at, _)| text.get(..at)).unwrap_or(text);
    let text = model::text::bare(beginning);
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

/// What follows ` 2 messages are waiting`.
fn announced(after: &str) -> Option<&str> {
    let after = after.trim_start();
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = Some(rest).filter(|rest| rest.len() < after.len())?.strip_prefix(" message")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    rest.strip_prefix(" is").or_else(|| rest.strip_prefix(" are"))?.strip_prefix(" waiting")
}

/// Whether anything is left of it without quotes, dots and brackets.
fn is_said(more: &str) -> bool {
    const MARKS: &str = "\"'`´“”„‘’‚«»‹›.…()[]{}<>";
    let more = more.replacen("(press enter)", "", 1);
    more.chars().any(|c| !c.is_whitespace() && !MARKS.contains(c))
}

/// Longer than any time and quotes would be.
const LONGEST_DECORATION: usize = 80;

/// Times, quotes and brackets: no word that a person would say.
fn is_decoration(before: &str) -> bool {
    const OF_TIMES: &[&str] = &[
        "am", "pm", "t", "z", "utc", "gmt", "cet", "cest", "est", "edt", "pst", "pdt", "mon", "tue", "wed", "thu",
        "fri", "sat", "sun", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let words = before.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    before.chars().count() <= LONGEST_DECORATION && words.into_iter().all(|word| OF_TIMES.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Ms = Ms(1_800_000_000_000);

    fn idle() -> Idle {
        Idle {
            state: SessionState::Idle,
            status: Some(AgentStatus::Done),
            last_seen: NOW.plus(-60_000),
            messages: 2,
            woken_at: None,
            last: None,
            wakes: 0,
            prompt: Prompt::Empty,
        }
    }

    #[test]
    fn f3_an_idle_agent_with_an_empty_prompt_is_woken() {
        assert_eq!(wake(&idle(), NOW), WakeDecision::Paste { text: "[taut] 2 messages are waiting".into() });
        assert_eq!(trigger(1), "[taut] 1 message is waiting");
    }

    #[test]
    fn f3_whatever_could_be_disturbed_is_left_alone() {
        let table = [
            (Idle { messages: 0, ..idle() }, LeftAlone::NothingWaits),
            (Idle { state: SessionState::Active, ..idle() }, LeftAlone::NotIdle),
            (Idle { state: SessionState::ToolActive, ..idle() }, LeftAlone::NotIdle),
            (Idle { state: SessionState::Created, ..idle() }, LeftAlone::NotIdle),
            (Idle { state: SessionState::Ended, ..idle() }, LeftAlone::NotIdle),
            (Idle { status: Some(AgentStatus::Attention), ..idle() }, LeftAlone::Dialog),
            (Idle { status: Some(AgentStatus::Checked), ..idle() }, LeftAlone::Dialog),
            (Idle { last_seen: NOW.plus(-SETTLED_MS + 1), ..idle() }, LeftAlone::Settling),
            (Idle { prompt: Prompt::Typed, ..idle() }, LeftAlone::Typed),
            (Idle { prompt: Prompt::Dialog, ..idle() }, LeftAlone::Dialog),
            (Idle { prompt: Prompt::Unknown, ..idle() }, LeftAlone::Unreadable),
        ];
        for (idle, why) in table {
            assert_eq!(wake(&idle, NOW), WakeDecision::Wait(why), "{idle:?}");
        }
    }

    #[test]
    fn f3_the_same_messages_wake_again_only_after_a_long_pause_and_three_times_at_most() {
        let woken = |ago: i64, wakes: u32| wake(&Idle { woken_at: Some(NOW.plus(-ago)), wakes, ..idle() }, NOW);
        assert_eq!(woken(AGAIN_MS - 1, 1), WakeDecision::Wait(LeftAlone::JustWoken));
        assert!(matches!(woken(AGAIN_MS, 1), WakeDecision::Paste { .. }));
        assert!(matches!(woken(AGAIN_MS, 2), WakeDecision::Paste { .. }));
        assert_eq!(woken(24 * AGAIN_MS, MOST_WAKES), WakeDecision::Wait(LeftAlone::GaveUp));
        // One that is new wakes sooner, and not at once.
        assert_eq!(woken(PAUSE_MS - 1, 0), WakeDecision::Wait(LeftAlone::JustWoken));
        assert!(matches!(woken(PAUSE_MS, 0), WakeDecision::Paste { .. }));
    }

    /// The daemon ended between paste and Enter, or the client showed the line too late.
    #[test]
    fn f3_a_line_of_ours_that_was_left_standing_is_entered_and_not_pasted_again() {
        let standing = Idle { prompt: Prompt::Ours, ..idle() };
        assert_eq!(wake(&standing, NOW), WakeDecision::Enter);
        let woken = Some(Woken { at: NOW.plus(1 - PAUSE_MS), row: 1 });
        assert_eq!(wake(&Idle { last: woken, ..standing }, NOW), WakeDecision::Wait(LeftAlone::JustWoken));
        for count in [1, 2, 37, u64::MAX] {
            assert!(is_ours(&unspaced(&trigger(count))), "{count}");
        }
        for typed in
            ["", "[taut]", "[taut]1messageiswaitingplease", "x[taut]1messageiswaiting", "[taut]messageiswaiting"]
        {
            assert!(!is_ours(typed), "{typed}");
        }
    }

    /// What it was woken for is delivered, and with it went what the messages knew.
    #[test]
    fn f3_between_two_wake_ups_is_a_pause_whatever_was_delivered_since() {
        let woken = |ago: i64, row: u32| wake(&Idle { last: Some(Woken { at: NOW.plus(-ago), row }), ..idle() }, NOW);
        for (row, pause) in [(0, 30_000), (1, 30_000), (2, 60_000), (3, 120_000), (6, 600_000), (u32::MAX, 600_000)] {
            assert_eq!(woken(pause - 1, row), WakeDecision::Wait(LeftAlone::JustWoken), "{row}");
            assert!(matches!(woken(pause, row), WakeDecision::Paste { .. }), "{row}");
        }
    }

    #[test]
    fn f3_two_agents_that_answer_each_other_come_to_rest() {
        let (mut last, mut now, mut wakes) = (None, NOW, 0);
        while now.since(NOW) < 60 * 60_000 {
            if let WakeDecision::Paste { .. } = wake(&Idle { last, ..idle() }, now) {
                last = Some(counted(last, now));
                wakes += 1;
            }
            now = now.plus(2_000);
        }
        assert!((8..=12).contains(&wakes), "in an hour: {wakes}");
        let later = counted(last, now.plus(CALM_MS));
        assert_eq!(later.row, 1, "after a long calm it starts anew");
    }

    #[test]
    fn f3_what_a_person_says_of_the_line_is_no_wake_up() {
        for said in [
            "", "go on", "[taut]", "why does it say [taut] 2 messages are waiting in my pane?",
            "2 messages are waiting", "[taut] two messages are waiting",
            "please read this: [taut] 2 messages are waiting", "[tauter] 2 messages are waiting",
        ] {
            assert_eq!(wake_up(said), None, "{said}");
        }
    }

    #[test]
    fn f3_what_the_client_tells_of_a_bell_of_ours_is_a_wake_up_and_no_persons_word() {
        let told = |text: &str| {
            format!(
                "<task-notification>\n[SYSTEM NOTIFICATION - NOT USER INPUT] … must NOT be treated as approval …\n\
                FileChanged hook blocking error from command \"FileChanged\": {text}\n</task-notification>"
            )
        };
        assert_eq!(wake_up(&told(&trigger(2))), Some(WakeUp::Alone));
        assert_eq!(wake_up(&told("the build is done")), None);
    }

    proptest! {
        /// ORIGINS 2.4 no. 1: a trigger that came back with a time before it was never known again.
        #[test]
        fn f3_the_line_is_known_again_however_it_is_decorated(
            count in 1_u64..10_000,
            time in prop::sample::select(vec![
                "", "[2026-01-17 10:32:01] ", "10:32 PM ", "2026-01-17T10:32:01.123Z ", "Sat Jan 17 10:32:01 UTC 2026: ",
                "(1800000000) ", "> ", "❯ ",
            ]),
            quotes in prop::sample::select(vec![("", ""), ("\"", "\""), ("'", "'"), ("“", "”"), ("`", "`"), ("«", "»")]),
            marks in prop::sample::select(vec![("", ""), ("\u{1b}[200~", "\u{1b}[201~"), ("\u{1b}[1;33m", "\u{1b}[0m")]),
            space in prop::sample::select(vec![" ", "  ", "\n", "\r\n", "\t", "\u{a0}"]),
            upper in any::<bool>(),
            after in prop::sample::select(vec!["", "\n", ".", " (press Enter)", "\nand please look at the build", "please fix it", "…"]),
        ) {
            let line = trigger(count).replace(' ', space);
            let line = if upper { line.to_uppercase() } else { line };
            let prompt = format!("{}{time}{}{line}{}{}{after}", marks.0, quotes.0, quotes.1, marks.1);
            let more = after.contains("please");
            prop_assert_eq!(wake_up(&prompt), Some(if more { WakeUp::WithMore } else { WakeUp::Alone }), "{:?}", prompt);
        }

        #[test]
        fn f3_no_prompt_breaks_the_reader(text in any::<String>()) {
            let _ = wake_up(&text);
        }
    }
}

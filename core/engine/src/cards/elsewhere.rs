//! A card as other machines are told of it, and an answer from one of them in the one spelling that is signed.

use super::bounded::at_most;
use super::sorted;
use crate::redact::{text_without_secrets, whole};
use model::Ms;
use model::call::ClientProcess;
use model::card::{Card, CardKind, CardShown, CardState};
use model::remote_card::{PresenceCard, RemoteAnswer};
use model::text::line;
use serde_json::{Value, json};

/// So many bytes of an input leave this machine.
const MOST_BYTES: usize = 4_000;
/// So many characters of each text beside it.
const MOST_BESIDE: usize = 400;
/// So many characters of a name tell an agent or a machine from others; a server carries no fewer.
const MOST_OF_NAME: usize = 64;
/// A longer id or digest is none of ours.
const LONGEST_ID: usize = 128;

/// What would stand in a file stays where the file is.
const OF_FILES: &[&str] = &[
    "content", "contents", "new_string", "old_string", "new_str", "old_str", "new_source", "file_text", "edits",
    "patch",
];

const FILES_STAY: &str = "what would be written into a file does not leave its machine";
const TOO_LONG: &str = "it is too long to be shown on another machine";
const HAS_SECRET: &str = "a secret was taken out of what is shown";
const PARTS_BESIDE: &str = "what stands beside it is not shown whole on another machine";

/// The card of this agent as others are told of it: a function of the card and whose it is alone, so that its machine can tell
/// later what somebody elsewhere was shown.
pub fn told(card: &Card, of: &str) -> PresenceCard {
    let (input, stays) = without_files(&card.shown.input);
    let clean = whole(&input);
    let (short, all) = at_most(&clean, MOST_BYTES);
    let mut are_whole = true;
    let mut beside = |text: &str| {
        let short = beside(text);
        are_whole &= short == text;
        short
    };
    let tool = beside(&card.tool);
    let [folder, mode, guard, branch] = [&card.shown.folder, &card.shown.mode, &card.shown.guard, &card.shown.branch]
        .map(|text| text.as_deref().map(&mut beside));
    let why = match (&card.shown.incomplete, stays || card.shown.diff.is_some(), all, clean == input) {
        (Some(why), ..) => Some(why.as_str()),
        (None, true, ..) => Some(FILES_STAY),
        (None, _, false, _) => Some(TOO_LONG),
        (None, _, _, false) => Some(HAS_SECRET),
        (None, false, true, true) => Some(PARTS_BESIDE).filter(|_| !are_whole),
    };
    PresenceCard {
        id: card.id.clone(),
        kind: card.kind.name().to_string(),
        tool,
        digest: card.digest.clone(),
        of: of.to_string(),
        shown: CardShown { input: short, incomplete: why.map(str::to_string), folder, mode, guard, diff: None, branch },
    }
}

/// An agent as people on other machines know it: the same from what its machine has of it and from what a server tells of it.
pub fn address(name: &str, label: &str) -> String {
    let plain = |c: char| if c.is_whitespace() || c == '@' { '-' } else { c };
    let part = |words: &str| -> String {
        let bare = line(&text_without_secrets(words), usize::MAX);
        text_without_secrets(&bare).trim().chars().take(MOST_OF_NAME).map(plain).collect()
    };
    format!("{}@{}", part(name), part(label))
}

/// All that somebody is shown of it, in one spelling: what they agree to.
pub fn seen_text(card: &PresenceCard) -> String {
    let PresenceCard { id: _, kind, tool, digest, of, shown } = card;
    let CardShown { input, incomplete, folder, mode, guard, diff, branch } = shown;
    json!(["taut card", 1, of, kind, tool, digest, sorted(input), incomplete, folder, mode, guard, diff, branch])
        .to_string()
}

/// The answer in one spelling: what is signed.
pub fn answer_text(answer: &RemoteAnswer) -> String {
    let RemoteAnswer { server, from_machine, to_machine, card, digest, seen, answer, user, place, nonce } = answer;
    let who = json!([from_machine, user, place]);
    json!(["taut answer", 1, server, to_machine, card, digest, seen, answer, who, nonce]).to_string()
}

/// A card of another machine as views and answers know cards, or why nobody is shown it: it came over a server.
pub fn known(told: &PresenceCard, agent: &str, at: Ms) -> Result<Card, &'static str> {
    let kind = CardKind::parse(&told.kind).ok_or("it is of a kind that this version of Taut does not know")?;
    let is_id = |text: &str| !text.is_empty() && text.len() <= LONGEST_ID && text.chars().all(|c| c.is_ascii_graphic());
    if !is_id(&told.id) || !is_id(&told.digest) {
        return Err("its id is none");
    }
    // Not cut: who sees less than was signed for would be shown something else than the holder knows.
    let beside = [&told.shown.folder, &told.shown.mode, &told.shown.guard, &told.shown.branch, &told.shown.incomplete];
    let is_long = |text: &String| text.chars().count() > MOST_BESIDE;
    let is_long_beside = beside.into_iter().flatten().any(is_long) || is_long(&told.tool) || is_long(&told.of);
    if !at_most(&told.shown.input, MOST_BYTES).1 || is_long_beside {
        return Err("it is longer than what is shown of a card of another machine");
    }
    let nobody = ClientProcess { pid: 0, started: 0 };
    Ok(Card {
        id: told.id.clone(),
        at,
        session: String::new(),
        agent: agent.to_string(),
        project: None,
        dialect: String::new(),
        client: nobody,
        holder: nobody,
        kind,
        tool: told.tool.clone(),
        digest: told.digest.clone(),
        shown: told.shown.clone(),
        state: CardState::Open,
        answer: None,
        answered: None,
        ended_at: None,
    })
}

fn beside(text: &str) -> String {
    text_without_secrets(text).chars().take(MOST_BESIDE).collect()
}

/// The input without what it would write, and whether there was any.
fn without_files(input: &Value) -> (Value, bool) {
    let Some(fields) = input.as_object() else { return (input.clone(), false) };
    let kept: serde_json::Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| !OF_FILES.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let stays = kept.len() < fields.len();
    (Value::Object(kept), stays)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: &str = "api@vm-3";

    fn card(tool: &str, input: Value) -> Card {
        let told = PresenceCard {
            id: "c-1".into(),
            kind: "permission".into(),
            tool: tool.into(),
            digest: "exact".into(),
            of: "api@vm-3".into(),
            shown: CardShown { input, ..CardShown::default() },
        };
        let short = PresenceCard { shown: CardShown::default(), ..told.clone() };
        Card { shown: told.shown, ..known(&short, "api", Ms(1_000)).unwrap() }
    }

    #[test]
    fn f6_what_others_are_told_of_a_card_is_short_and_without_secrets_and_files() {
        let plain = told(&card("Bash", json!({"command": "make test"})), OF);
        assert_eq!(plain.shown.incomplete.as_deref(), None);
        let long = told(&card("Bash", json!({"command": "x".repeat(MOST_BYTES * 3)})), OF);
        assert_eq!(long.shown.incomplete.as_deref(), Some(TOO_LONG));
        let edit = json!({"file_path": "/p/a.rs", "old_string": "let a;", "new_string": "let b;"});
        let edit = told(&card("Edit", edit), OF);
        assert_eq!(edit.shown.incomplete.as_deref(), Some(FILES_STAY));
        assert_eq!(edit.shown.input, json!({"file_path": "/p/a.rs"}));
        let key = format!("ghp_{}", "a1B2c3D4".repeat(5));
        let secret = told(&card("Bash", json!({"command": format!("curl -H 'Authorization: token {key}' x")})), OF);
        assert_eq!(secret.shown.incomplete.as_deref(), Some(HAS_SECRET));
        assert!(!seen_text(&secret).contains(&key));
    }

    #[test]
    fn f6_what_was_seen_has_one_spelling_whatever_the_order_of_fields() {
        let one = told(&card("Bash", json!({"command": "a", "description": "b"})), OF);
        let mut other = told(&card("Bash", json!({"description": "b", "command": "a"})), OF);
        assert_eq!(seen_text(&one), seen_text(&other));
        other.shown.guard = Some("nothing".into());
        assert_ne!(seen_text(&one), seen_text(&other));
    }

    #[test]
    fn f6_a_card_from_a_server_that_nobody_could_have_sent_is_none() {
        let good = told(&card("Bash", json!({"command": "a"})), OF);
        assert!(known(&good, "api", Ms(0)).is_ok());
        for wrong in [
            PresenceCard { kind: "always".into(), ..good.clone() },
            PresenceCard { id: String::new(), ..good.clone() },
            PresenceCard { digest: "\u{1b}[2J".into(), ..good.clone() },
            PresenceCard {
                shown: CardShown { input: json!("x".repeat(9_000)), ..CardShown::default() },
                ..good.clone()
            },
            PresenceCard { shown: CardShown { guard: Some("g".repeat(500)), ..CardShown::default() }, ..good.clone() },
        ] {
            assert!(known(&wrong, "api", Ms(0)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn f6_what_is_cut_or_taken_out_beside_the_input_is_said_so_that_nobody_agrees_to_half() {
        let key = format!("ghp_{}", "a1B2c3D4".repeat(5));
        let mut whole = card("Bash", json!({"command": "make test"}));
        whole.shown.guard = Some("g".repeat(MOST_BESIDE));
        assert_eq!(told(&whole, OF).shown.incomplete, None);
        let parts: [fn(&mut Card, String); 4] = [
            |card, text| card.shown.guard = Some(text),
            |card, text| card.shown.folder = Some(text),
            |card, text| card.shown.branch = Some(text),
            |card, text| card.tool = text,
        ];
        for part in parts {
            for text in [format!("{}but it deletes", " ".repeat(MOST_BESIDE)), format!("token {key}")] {
                let mut card = whole.clone();
                part(&mut card, text);
                assert_eq!(told(&card, OF).shown.incomplete.as_deref(), Some(PARTS_BESIDE));
            }
        }
    }

    #[test]
    fn f6_who_asks_is_called_the_same_by_its_own_machine_and_by_what_a_server_carries_of_it() {
        assert_eq!(address("api", "vm-3"), "api@vm-3");
        for (name, label) in [(" a\u{1b}b@vm 4\n", " VM\t3 "), (&*"x".repeat(300), &*"y".repeat(90))] {
            let own = address(name, label);
            let (there, at) = own.rsplit_once('@').unwrap();
            assert_eq!(address(there, at), own);
            assert!(!own.contains(char::is_whitespace) && own.matches('@').count() == 1, "{own:?}");
        }
        let seen = told(&card("Bash", json!({"command": "a"})), OF);
        assert_ne!(seen_text(&seen), seen_text(&PresenceCard { of: "api@prod".into(), ..seen.clone() }));
    }
}

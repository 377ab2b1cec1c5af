//! Whom the input of a tool names: at any depth, in every field that may hold somebody, everybody in it.

use serde_json::Value;

/// More people than this are not looked at one by one.
pub const MOST: usize = 500;

/// Fields that hold somebody, whoever wrote the tool; compared without case and punctuation.
const FIELDS: &[&str] = &[
    "to", "cc", "bcc", "recipient", "recipients", "torecipient", "torecipients", "ccrecipient", "ccrecipients",
    "bccrecipient", "bccrecipients", "email", "emails", "emailaddress", "emailaddresses", "mailto", "address",
    "addresses", "channel", "channels", "channelid", "channelids", "channelname", "user", "users", "userid", "userids",
    "username", "usernames", "contact", "contacts", "contactid", "phone", "phonenumber", "phonenumbers", "attendee",
    "attendees", "invitee", "invitees", "participant", "participants", "member", "members", "chat", "chatid", "room",
    "roomid", "group", "groupid", "handle", "destination", "destinations",
];

/// Fields that say who writes, and not to whom.
const SENDER: &[&str] = &["from", "sender", "author", "replyto", "account"];

/// Everybody whom an input names in the usual fields and in these.
pub fn contacts(input: &Value, named: &[String]) -> Vec<String> {
    let named: Vec<String> = named.iter().map(|field| letters(field)).collect();
    let mut found = Vec::new();
    walk(input, Within::Anything, &named, &mut found);
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Anything,
    /// A field that holds somebody.
    Contact,
}

fn walk(value: &Value, within: Within, named: &[String], found: &mut Vec<String>) {
    if found.len() > MOST {
        return;
    }
    match value {
        Value::Object(fields) => {
            let holds = |field: &str| FIELDS.contains(&field) || named.iter().any(|one| one == field);
            let fields: Vec<(String, &Value)> = fields.iter().map(|(field, value)| (letters(field), value)).collect();
            // Somebody's name beside the address says nothing of where it goes.
            let told = within == Within::Anything || fields.iter().any(|(field, _)| holds(field));
            for (field, value) in fields.iter().filter(|(field, _)| !SENDER.contains(&field.as_str())) {
                let contact = !told || holds(field);
                walk(value, if contact { Within::Contact } else { Within::Anything }, named, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, within, named, found)),
        Value::String(text) if within == Within::Contact => found.extend(each(text)),
        Value::Number(number) if within == Within::Contact => found.push(number.to_string()),
        _ => {}
    }
}

fn letters(field: &str) -> String {
    field.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Each of a list: `"Doe, Ann" <ann@example.org>, bob@example.org; mailto:eve@example.org`.
fn each(text: &str) -> Vec<String> {
    let mut quoted = false;
    let parts = text.split(|letter: char| {
        quoted ^= letter == '"';
        !quoted && matches!(letter, ',' | ';' | '\n' | '\r')
    });
    let address = |part: &str| {
        let inner =
            part.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>')).map_or(part, |(address, _)| address);
        let inner = inner.trim().trim_matches('"');
        let scheme = inner.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("mailto:"));
        scheme.and_then(|_| inner.get(7..)).unwrap_or(inner).to_string()
    };
    parts.map(address).filter(|address| !address.is_empty()).collect()
}

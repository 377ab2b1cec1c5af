//! Lists of pairs as OpenTelemetry's variables have them: `name=value,name=value`, with `%41` for a letter.

/// More pairs are not read.
const MOST_PAIRS: usize = 64;

/// What all that is sent is marked with. What cannot be read is left out.
pub fn attribute_pairs(text: &str) -> Vec<(String, String)> {
    pairs(text).into_iter().flatten().take(MOST_PAIRS).collect()
}

/// What goes with a request.
///
/// # Errors
/// In words, without a value: it may be a secret.
pub fn header_pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for pair in pairs(text) {
        let (name, value) = pair.ok_or("its headers are to be written as name=value,name=value")?;
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if !name.chars().all(is_token) {
            return Err(format!("{} is no name of a header", model::text::line(&name, 40)));
        }
        if value.chars().any(char::is_control) {
            return Err(format!("the header {name} holds a character that none may"));
        }
        found.push((name, value));
    }
    if found.len() > MOST_PAIRS { Err(format!("more than {MOST_PAIRS} headers")) } else { Ok(found) }
}

fn pairs(text: &str) -> Vec<Option<(String, String)>> {
    let parts = text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let (name, value) = (decoded(name.trim()), decoded(value.trim()));
        (!name.is_empty()).then_some((name, value))
    };
    parts.take(MOST_PAIRS + 1).map(pair).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match (first, after) {
            (b'%', [high, low, left @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                bytes.push(hex(*high).unwrap_or_default() * 16 + hex(*low).unwrap_or_default());
                rest = left;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

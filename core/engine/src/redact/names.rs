//! Which names say that their value is a secret.

use super::scan::{ends_ignoring_case, is_among, is_one_of};

/// How much a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// A password: anything may be one.
    Password,
    /// A token, key or secret, which a machine made up.
    Secret,
    /// A header that carries a credential after its scheme.
    Authorization,
    Cookie,
    /// `STRIPE_KEY`: a key more often than not.
    Key,
    /// `key`, `auth`, `sig`: a secret only where the value looks random.
    Hint,
}

/// What makes a `key` one that opens something.
const KEYS: &str = "\
    access account admin aes anon api app application auth client consumer crypto deploy enc encryption hmac \
    ingest ingestion integration jwt license master private role routing secret server service session shared \
    signing storage stream subscription webhook write";
/// Keys of tables, maps and locks, and keys that everybody may know.
const PLAIN_KEYS: &str = "\
    cache column composite config dedup dict field foreign group hash host hot i18n idempotency index json \
    lookup map natural object partition primary property public publishable query range react registry row shard \
    shortcut sort surrogate translation unique verify yaml";
/// How a word is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    /// `dbpassword` is a password too.
    End,
    /// `compass` is no pass.
    Whole,
}

use Match::{End, Whole};
use Telling::{Authorization, Cookie, Hint, Key, Password, Secret};

/// The words that say it, by their last letter: nearly every word of a text is
/// told apart by that.
fn words_ending_with(letter: u8) -> &'static [(Telling, Match, &'static [&'static str])] {
    match letter.to_ascii_lowercase() {
        b'd' => &[
            (Password, End, &["password", "passwd", "pwd", "pswd"]),
            (Hint, Whole, &["seed", "sid"]),
            (Hint, End, &["sessid", "sessionid"]),
        ],
        b'e' => &[
            (Password, End, &["passphrase", "passcode"]),
            (Cookie, Whole, &["cookie"]),
            (Hint, Whole, &["code", "license", "nonce", "signature"]),
        ],
        b't' => &[
            (Secret, End, &["secret"]),
            (Password, End, &["passwort"]),
            (Secret, Whole, &["jwt"]),
            (Hint, Whole, &["salt", "pat"]),
        ],
        b'n' => &[(Secret, End, &["token"]), (Authorization, End, &["authorization"]), (Hint, Whole, &["session"])],
        b's' => &[
            (Secret, End, &["credentials"]),
            (Secret, Whole, &["creds"]),
            (Password, Whole, &["pass", "storepass", "keypass", "pgpass", "sshpass", "userpass"]),
        ],
        b'l' => &[(Secret, End, &["credential"])],
        b'w' => &[(Password, Whole, &["pw"])],
        b'k' => &[(Password, Whole, &["psk"])],
        b'c' => &[(Password, Whole, &["mnemonic"])],
        b'h' => &[(Hint, Whole, &["auth"])],
        b'p' => &[(Hint, Whole, &["otp"])],
        b'g' => &[(Hint, Whole, &["sig"])],
        b'f' => &[(Hint, Whole, &["csrf", "xsrf"])],
        b'y' => &[
            (Key, Whole, &["key"]),
            (
                Secret,
                End,
                &["apikey", "accesskey", "accountkey", "authkey", "encryptionkey", "licensekey", "masterkey"],
            ),
            (Secret, End, &["privatekey", "secretkey", "sessionkey", "sharedkey"]),
        ],
        _ => &[],
    }
}

/// After one of these words a name is about the secret and not the secret.
const ABOUT: &str = "\
    age algorithm alias arn attempts auth based broker bucket budget cache changed check class column command \
    confirmation cost count counts created deprecated dir directory duration enabled encoding endpoint entropy \
    env error expired expires expiration expiry exists fd field file filename flow folder form format function \
    getter handler hasher header helper hint icon id ids index input issuer jar keepalive kind label len length \
    lexer lifetime limit limits list location manager map max method min missing mode mount name names needed \
    optional page parser path pattern permissions placeholder policies policy position prefix price prompt \
    protected protection provider rate ratio reader ref refresh regex region required requirements reset retries \
    review rotation rule rules scanner scanning scheme schema scope scopes screen selector service set settings \
    size source span state stats status stdin storage store stream strength style suffix table tests through \
    time timeout title tracker tree ttl type types updated uri url usage user username valid validation \
    validator var vault version visible volume window rs py js ts go md txt json yml yaml toml html css vue tsx \
    jsx java rb php sh svg png pem lock kt swift sql";
/// Before `token` and `password` these say that it is none.
const NONE_OF: &str = "\
    no max min num with without missing invalid forgot reset per skip";

/// What the name says; `None` for most names.
pub fn telling(name: &str) -> Option<Telling> {
    let mut words = [""; MOST_WORDS];
    let count = split(name, &mut words);
    let words = words.get(..count)?;
    let (at, said) = words.iter().enumerate().rev().find_map(|(at, word)| {
        let before = at.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
        of_word(word, before).map(|said| (at, said))
    })?;
    let after = words.get(at + 1..).unwrap_or_default();
    if after.iter().any(|word| is_among(word, ABOUT)) || words.first().is_some_and(|word| is_among(word, NONE_OF)) {
        return None;
    }
    match said {
        Telling::Hint if !after.is_empty() => None,
        Telling::Key if count < 2 || !is_constant(name) => Some(Telling::Hint),
        Telling::Hint if count > 1 && is_constant(name) && words.last() == Some(&"AUTH") => Some(Telling::Key),
        said => Some(said),
    }
}

/// Whether the text is nothing but the name of a secret: `new_password`, `authToken`.
pub fn names_a_secret(text: &str) -> bool {
    let mut words = [""; MOST_WORDS];
    let count = split(text, &mut words);
    let last = words.get(..count).and_then(<[&str]>::last).copied().unwrap_or_default();
    let known = words_ending_with(last.bytes().last().unwrap_or_default());
    let whole = known.iter().any(|(_, _, all)| is_one_of(last, all));
    whole && matches!(said_by(last), Some(Telling::Password | Telling::Secret))
}

const MOST_WORDS: usize = 12;

fn of_word(word: &str, before: &str) -> Option<Telling> {
    let said = said_by(word)?;
    match before {
        _ if said != Telling::Key => Some(said),
        before if is_among(before, KEYS) => Some(Telling::Secret),
        before if is_among(before, PLAIN_KEYS) => None,
        _ => Some(Telling::Key),
    }
}

fn said_by(word: &str) -> Option<Telling> {
    let known = words_ending_with(*word.as_bytes().last()?);
    let is = |found: Match, one: &str| (found == End || word.len() == one.len()) && ends_ignoring_case(word, one);
    known.iter().find(|(_, found, all)| all.iter().any(|one| is(*found, one))).map(|(said, ..)| *said)
}

fn is_constant(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The words of a name: `dbPassword`, `DB_PASSWORD`, `db-password`, `APIKey`.
fn split<'n>(name: &'n str, words: &mut [&'n str; MOST_WORDS]) -> usize {
    let bytes = name.as_bytes();
    let mut slots = words.iter_mut();
    let (mut count, mut from) = (0, 0);
    let mut put = |from: usize, to: usize| {
        if let Some(word) = name.get(from..to).filter(|word| !word.is_empty())
            && let Some(slot) = slots.next()
        {
            *slot = word;
            count += 1;
        }
    };
    let mut before = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            put(from, at);
            from = at + 1;
        } else if byte.is_ascii_uppercase() {
            let small_next = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if u8::is_ascii_lowercase(&before) || (before.is_ascii_uppercase() && small_next) {
                put(from, at);
                from = at;
            }
        }
        before = *byte;
    }
    put(from, bytes.len());
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_their_values_are() {
        for (name, said) in [
            ("password", Some(Telling::Password)),
            ("DB_PASS", Some(Telling::Password)),
            ("PGPASSWORD", Some(Telling::Password)),
            ("spring.datasource.password", Some(Telling::Password)),
            ("X-Api-Key", Some(Telling::Secret)),
            ("AWS_SECRET_ACCESS_KEY", Some(Telling::Secret)),
            ("secretAccessKey", Some(Telling::Secret)),
            ("APIKey", Some(Telling::Secret)),
            ("_authToken", Some(Telling::Secret)),
            ("client_secret", Some(Telling::Secret)),
            ("Proxy-Authorization", Some(Telling::Authorization)),
            ("STRIPE_KEY", Some(Telling::Key)),
            ("key", Some(Telling::Hint)),
            ("primary_key", None),
            ("PUBLIC_KEY", None),
            ("max_tokens", None),
            ("token-limit", None),
            ("tokenizer", None),
            ("secretName", None),
            ("password_file", None),
            ("compass", None),
            ("monkey", None),
            ("keyboard", None),
            ("password-stdin", None),
            ("", None),
        ] {
            assert_eq!(telling(name), said, "{name}");
        }
    }
}

//! Secrets that leave by the name of a variable, or with the whole environment.

use crate::args::text;
use crate::rule::RuleInput;
use crate::rules::is_local_host;
use bash::{StdinSource, Word, WordPiece};

/// Services whose keys have their names: a key that goes to another host than its service's is given away.
const SERVICES: &[&str] = &[
    "GITHUB", "GH", "GITLAB", "AWS", "NPM", "OPENAI", "ANTHROPIC", "STRIPE", "SLACK", "DOCKER", "HF", "HUGGINGFACE",
    "CLOUDFLARE", "AZURE", "GOOGLE", "GCP", "SENDGRID", "TWILIO", "VERCEL", "NETLIFY", "HEROKU", "DIGITALOCEAN",
    "PYPI", "CARGO", "DATABASE", "DB", "POSTGRES", "MYSQL", "REDIS", "SSH", "JWT",
];

/// Hosts that keep or show what anybody sends them.
const COLLECTORS: &[&str] = &[
    "webhook.site", "requestbin.com", "requestbin.net", "pipedream.net", "ngrok.io", "ngrok.app", "ngrok-free.app",
    "burpcollaborator.net", "oastify.com", "oast.fun", "oast.pro", "oast.live", "oast.site", "oast.me", "interact.sh",
    "pastebin.com", "paste.ee", "transfer.sh", "0x0.st", "termbin.com", "hastebin.com", "dpaste.com", "dpaste.org",
    "ix.io", "file.io", "beeceptor.com", "requestcatcher.com", "hookbin.com", "requestrepo.com", "dnslog.cn",
    "rentry.co", "trycloudflare.com", "loca.lt", "serveo.net", "webhook.cool", "paste.rs", "sprunge.us", "catbox.moe",
];

/// Why a request gives a secret away that a variable holds; `None` when it does not.
pub(crate) fn given_away(sight: &RuleInput<'_>) -> Option<String> {
    let words = sight.command.args();
    let secrets = |word: &Word| -> Vec<String> {
        word.pieces.iter().filter_map(variable).filter(|name| is_secret(name)).collect()
    };
    if matches!(sight.program(), "dig" | "nslookup" | "host" | "drill" | "ping") {
        let name = words.iter().flat_map(secrets).next()?;
        return Some(format!("`${name}` would be told to every server on the way."));
    }
    if !matches!(sight.program(), "curl" | "wget" | "http" | "https" | "xh" | "xhs" | "curlie" | "wget2") {
        return None;
    }
    let hosts: Vec<String> = words.iter().filter_map(|word| Some(host(&text(word))?.to_string())).collect();
    let collector =
        hosts.iter().any(|host| COLLECTORS.iter().any(|known| host == known || host.ends_with(&format!(".{known}"))));
    if collector && let Some(name) = words.iter().flat_map(secrets).next() {
        return Some(format!("`${name}` would go to a host that shows what it is sent."));
    }
    for word in words {
        let shown = text(word);
        let Some(host) = host(&shown).filter(|host| !is_local_host(host)) else { continue };
        let Some(found) = secrets(word).into_iter().find(|name| strays(name, host) && !signs_in(&shown, name)) else {
            continue;
        };
        return Some(format!("`${found}` would stand in an address of `{host}`, where logs keep it."));
    }
    None
}

/// The host of a word that is an address.
fn host(word: &str) -> Option<&str> {
    let (scheme, rest) = word.split_once("://")?;
    let scheme = scheme.rsplit('=').next().unwrap_or(scheme);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host);
    (matches!(scheme, "http" | "https" | "ftp") && !host.starts_with('$')).then_some(host)
}

/// `https://user:$TOKEN@host`: shown to who asks for it.
fn signs_in(address: &str, name: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(name))
}

/// Whether a key is of another service than the host's, or never belongs into an address.
fn strays(name: &str, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let mut services = name.split('_').filter(|part| SERVICES.contains(part)).peekable();
    if host.starts_with("api.") || host.ends_with("googleapis.com") || host.contains("hooks.") {
        return false;
    }
    let own = |part: &str| part.len() > 2 && host.contains(&part.to_ascii_lowercase());
    let hidden = ["SECRET", "PASSWORD", "PASSWD", "PRIVATE_KEY"].iter().any(|part| name.contains(part));
    (services.peek().is_some() || hidden) && !name.split('_').any(own)
}

fn is_secret(name: &str) -> bool {
    let ends = ["_TOKEN", "_KEY", "_PAT", "_PASS", "_PWD", "_CREDENTIALS"].iter().any(|end| name.ends_with(end));
    let whole =
        ["SECRET", "PASSWORD", "PASSWD", "PRIVATE_KEY", "ACCESS_KEY", "API_KEY"].iter().any(|part| name.contains(part));
    let public = name.contains("PUBLIC") || name.ends_with("_KEY_ID") || name.contains("PUBLISHABLE");
    (ends || whole) && !public
}

/// The name of a plain `$NAME` or `${NAME}`.
fn variable(piece: &WordPiece) -> Option<String> {
    let WordPiece::Unknown(source) = piece else { return None };
    let name = source.strip_prefix('$')?.trim_start_matches('{');
    let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty()).map(str::to_string)
}

/// Calls that carry their arguments to another machine, over the languages.
const SENDERS: &[&str] = &[
    "requests.post(", "requests.put(", "requests.get(", "requests.patch(", "requests.request(", "httpx.post(",
    "httpx.put(", "httpx.get(", "urlopen(", "urllib.request.Request(", "Request(", "fetch(", "axios.post(",
    "axios.put(", "axios(", ".post(", "Net::HTTP.post(", "Net::HTTP.post_form(", "HTTParty.post(", "Faraday.post(",
    ".sendall(", ".write(", "http_build_query(",
];

/// The environment as a whole; what follows must not pick one of it.
const WHOLE: &[&str] = &[
    "os.environ", "process.env", "ENV.to_h", "ENV.to_a", "ENV.to_json", "ENV.inspect", "Deno.env.toObject()",
    "Bun.env", "%ENV", "getenv()", "$_ENV", "$_SERVER",
];

/// Whether inline code gives the whole environment to a call that sends it.
pub(crate) fn environment_sent(sight: &RuleInput<'_>) -> bool {
    let fed = match &sight.command.feed {
        StdinSource::Text(text) => Some(text.to_string()),
        _ => None,
    };
    let codes = sight.command.args().iter().map(|word| text(word).into_owned()).chain(fed);
    codes
        .into_iter()
        .any(|code| WHOLE.iter().any(|all| code.contains(all)) && code.contains("http") && sends_all(&code))
}

fn sends_all(code: &str) -> bool {
    // `data = dict(os.environ)`: the name stands for it from here on.
    let holders: Vec<&str> = code
        .split([';', '\n'])
        .filter_map(|statement| {
            let (name, value) = statement.split_once('=')?;
            let name = name.trim().rsplit(' ').next()?;
            let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            (plain && has_whole(value) && !SENDERS.iter().any(|call| value.contains(call))).then_some(name)
        })
        .take(8)
        .collect();
    SENDERS.iter().any(|call| {
        code.match_indices(call).take(8).any(|(at, _)| {
            let given = argument_text(code.get(at + call.len()..).unwrap_or_default());
            let words = || given.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            has_whole(given) || words().any(|word| holders.contains(&word))
        })
    })
}

/// What stands between the parentheses of a call.
fn argument_text(rest: &str) -> &str {
    let mut depth = 1usize;
    let end = rest.char_indices().take(4096).find(|(_, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    end.and_then(|(at, _)| rest.get(..at)).unwrap_or(rest)
}

fn has_whole(text: &str) -> bool {
    WHOLE.iter().any(|all| {
        text.match_indices(all).take(16).any(|(at, _)| {
            let after = text.get(at + all.len()..).unwrap_or_default();
            let method = [".copy()", ".items()", ".values()"].iter().any(|method| after.starts_with(method));
            let before = text.get(..at).unwrap_or_default().trim_end();
            let handed = before.ends_with("env=") || before.ends_with("env:");
            let named = all.starts_with("ENV.") || all.ends_with(')');
            (method
                || named
                || !after.starts_with(['.', '[', '?', '_']) && !after.starts_with(|c: char| c.is_alphanumeric()))
                && !handed
        })
    })
}

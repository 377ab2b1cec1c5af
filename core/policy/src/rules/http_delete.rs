//! `http-delete`: deleting over HTTP.

use crate::args::text;
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::test_database::is_test_name;
use bash::StdinSource;
use model::RuleKind;
use std::borrow::Cow;

pub const RULE: Rule = Rule {
    id: "http-delete",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Deleting over HTTP",
    doc: "Asks before something is deleted on another machine over HTTP: a DELETE request, a GraphQL mutation that \
          deletes, a search engine's or database's own call that drops an index, a collection or what a query finds. A \
          DELETE to this machine, to a name of a local network or to an address in a variable is how an API is tried \
          out, and passes; databases that listen here do not.",
    instead: "Look at it first: `curl https://api.example.com/v1/apps/web`.",
    denies: &[
        "curl -X DELETE https://api.example.com/v1/apps/web",
        "curl -sXDELETE https://api.example.com/users/5",
        "curl --request DELETE --url https://api.cloudflare.com/client/v4/zones/$ZONE",
        "http DELETE api.example.com/x",
        "xh delete https://api.example.com/x",
        "wget --method=DELETE https://api.example.com/x",
        "curl -XDELETE localhost:9200/_all",
        "curl -X DELETE http://localhost:9200/orders",
        "curl -X POST \"$ES/orders/_delete_by_query\" -d '{\"query\":{\"match_all\":{}}}'",
        "curl https://api.example.com/graphql -d '{\"query\":\"mutation { deleteProject(id: 1) { id } }\"}'",
        "curl 'http://localhost:8123/' -d 'DROP TABLE hits'",
        "curl -X DELETE https://$TENANT.example.com/users/5",
        "Invoke-RestMethod -Method Delete -Uri https://api.example.com/x",
        "curl -X DELETE http://localhost:6333/collections/docs",
    ],
    passes: &[
        "curl -X DELETE http://localhost:3000/api/items/5",
        "curl -X DELETE \"$BASE_URL/items/5\"",
        "curl -X DELETE http://127.0.0.1:8000/users/1",
        "http DELETE :8000/items/1",
        "xh delete localhost:8080/x",
        "curl https://api.example.com/v1/apps",
        "curl -X POST https://api.example.com/x -d 'name=DELETE'",
        "curl -X DELETE http://localhost:9200/orders/_doc/1",
        "curl -X DELETE https://httpbin.org/delete",
        "curl -X DELETE http://api:8080/items/1",
        "echo curl -X DELETE https://api.example.com/x",
        "curl localhost:4000/graphql -d '{\"query\":\"mutation { deletePost(id: 1) { id } }\"}'",
        "curl https://api.example.com/graphql -d '{\"query\":\"{ deletedPosts { id } }\"}'",
        "curl -X DELETE http://192.168.1.20/api/x",
        "curl -X DELETE http://localhost:3000/sessions -b cookies.txt",
        "curl -X DELETE localhost/x -d url=https://example.com",
        "curl 'http://localhost:8123/' -d 'SELECT 1'",
        "curl -H 'X-HTTP-Method: GET' https://api.example.com/delete",
    ],
    watch: RuleTrigger::Programs(&[
        "curl", "curlie", "http", "https", "xh", "xhs", "httpie", "wget", "wget2", "Invoke-RestMethod",
        "Invoke-WebRequest", "irm", "iwr", "hurl", "lwp-request", "DELETE", "grpcurl",
    ]),
    judge,
};

/// Hosts that exist to be called for practice.
const PRACTICE: &[&str] = &[
    "httpbin.org", "httpbin.dev", "postman-echo.com", "jsonplaceholder.typicode.com", "reqres.in", "dummyjson.com",
    "httpbingo.org", "mockapi.io", "webhook.site", "petstore.swagger.io", "petstore3.swagger.io",
];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let words: Vec<Cow<'_, str>> = sight.command.args().iter().map(text).collect();
    let urls: Vec<Url<'_>> = addresses(&words).filter_map(Url::of).collect();
    let deletes = method(sight.program(), &words);
    let fed = match &sight.command.feed {
        StdinSource::Text(text) => Some(text.as_ref()),
        _ => None,
    };
    let bodies = || words.iter().map(Cow::as_ref).filter(|word| word.len() > 8).chain(fed);
    let far = || urls.iter().any(Url::is_far);
    let reason = if deletes && urls.iter().any(|url| url.is_far() || url.drops_data()) {
        "This deletes something on another machine, or a whole index or collection."
    } else if urls.iter().any(Url::deletes_by_query) {
        "This deletes whatever the query finds."
    } else if far() && bodies().any(mutation_deletes) {
        "This mutation deletes something on another machine."
    } else if urls.iter().any(Url::takes_sql) && bodies().any(sends_destructive_sql) {
        "The database would run SQL that destroys data."
    } else {
        return;
    };
    report(sight, reason, hits);
}

/// Whether the request's method is DELETE.
fn method(program: &str, words: &[Cow<'_, str>]) -> bool {
    let is = |word: &str| word.eq_ignore_ascii_case("delete");
    let pair = |wanted: &dyn Fn(&str) -> bool| {
        words.iter().zip(words.iter().skip(1)).any(|(option, value)| wanted(option) && is(value))
    };
    match program {
        "http" | "https" | "xh" | "xhs" | "httpie" | "curlie" if operands(words).take(4).any(is) => true,
        "DELETE" => true,
        "wget" | "wget2" => {
            words.iter().any(|word| word.strip_prefix("--method=").is_some_and(is)) || pair(&|o| o == "--method")
        }
        "lwp-request" => pair(&|option| option == "-m"),
        "curl" | "curlie" => {
            let glued = |word: &str| {
                let value = word.strip_prefix("--request=").or_else(|| {
                    let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
                    cluster.split_once('X').map(|(_, value)| value.trim_start_matches('='))
                });
                value.is_some_and(is)
            };
            let short = |option: &str| option.starts_with('-') && !option.starts_with("--") && option.ends_with('X');
            words.iter().any(|word| glued(word)) || pair(&|option| option == "--request" || short(option))
        }
        _ => pair(&|option| {
            let option = option.to_ascii_lowercase();
            matches!(option.as_str(), "-method" | "-custommethod" | "-m")
        }),
    }
}

/// The words that may be addresses: not those that belong to an option.
fn addresses<'w>(words: &'w [Cow<'w, str>]) -> impl Iterator<Item = &'w str> {
    // Short options of `curl` that take a value, and long ones of any that take none.
    const VALUED: &str = "AbcCdDeEFhHKmoPQrtTuUwxXyYz";
    const BARE: &[&str] = &[
        "--silent", "--show-error", "--location", "--insecure", "--fail", "--include", "--verbose", "--globoff",
        "--compressed", "--fail-with-body", "--http1.1", "--http2", "--url", "--ignore-stdin", "--json", "--form",
        "--netrc", "--quiet", "--follow", "--print-only", "--check-status", "--body", "--headers",
    ];
    let valued = |option: &str| match option.strip_prefix('-') {
        Some(long) if long.starts_with('-') => !BARE.contains(&option) && !option.contains('='),
        // In `-sXPOST` the value is already there.
        Some(short) => short.find(|letter| VALUED.contains(letter)).is_some_and(|at| at + 1 == short.len()),
        None => false,
    };
    let before = std::iter::once("").chain(words.iter().map(Cow::as_ref));
    words.iter().zip(before).filter(move |(_, before)| !valued(before)).map(|(word, _)| word.as_ref())
}

fn operands<'w>(words: &'w [Cow<'w, str>]) -> impl Iterator<Item = &'w str> {
    words.iter().map(Cow::as_ref).filter(|word| !word.starts_with('-'))
}

/// A field of a mutation whose name says that it deletes.
pub(crate) fn mutation_deletes(text: &str) -> bool {
    if !text.contains("mutation") {
        return false;
    }
    let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    names.into_iter().any(|name| {
        let verb = |start: &str| {
            name.strip_prefix(start).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'))
        };
        ["delete", "destroy", "purge", "drop"].iter().any(|start| verb(start))
            || ["Delete", "Destroy", "Purge"].iter().any(|end| name.ends_with(end) && name.len() > end.len())
    })
}

fn sends_destructive_sql(text: &str) -> bool {
    let text = text.strip_prefix("q=").or_else(|| text.strip_prefix("query=")).unwrap_or(text);
    crate::sql::destroys(&text.replace('+', " ")).is_some()
}

/// An address as far as it tells whose machine it is.
#[derive(Debug, Clone, Copy)]
struct Url<'w> {
    host: &'w str,
    port: &'w str,
    path: &'w str,
}

/// Ports of databases and search engines, where a path of one part, or one of these words, is all of something.
const STORES: &[(&str, &[&str])] = &[
    ("9200", &["_all", "_data_stream", "_index_template", "_snapshot"]),
    ("5984", &[]),
    ("6333", &["collections"]),
    ("7700", &["indexes"]),
    ("8108", &["collections"]),
    ("8983", &["collections", "cores"]),
    ("8500", &["recurse"]),
    ("8529", &["database", "collection"]),
    ("15672", &["queues", "vhosts", "exchanges"]),
    ("19530", &["collections"]),
];

impl<'w> Url<'w> {
    fn of(word: &'w str) -> Option<Self> {
        let word = word.strip_prefix("--url=").unwrap_or(word);
        if word.starts_with('-')
            || word.contains([' ', '{', '\n']) && !word.starts_with("http") && !word.starts_with('$')
        {
            return None;
        }
        let (scheme, rest) = word.split_once("://").map_or(("", word), |(scheme, rest)| (scheme, rest));
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        let authority = authority.rsplit('@').next().unwrap_or(authority);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => (host, port),
            _ => (authority, ""),
        };
        let named = host.contains('.') && !host.starts_with('.') && !host.ends_with(".json");
        let like = !scheme.is_empty()
            || named
            || host == "localhost"
            || host.starts_with('$')
            || host.is_empty() && !port.is_empty();
        (like && matches!(scheme, "" | "http" | "https")).then_some(Self { host, port, path })
    }

    /// Whether it is certainly somebody's on another machine.
    fn is_far(&self) -> bool {
        let host = known_domain(self.host);
        !host.is_empty() && !local_host(host) && !PRACTICE.iter().any(|practice| host.ends_with(practice))
    }

    fn parts(&self) -> impl Iterator<Item = &'w str> {
        let path = self.path.split(['?', '#']).next().unwrap_or_default();
        path.split('/').filter(|part| !part.is_empty())
    }

    /// Whether a DELETE drops an index or collection of a database that listens here.
    fn drops_data(&self) -> bool {
        let count = self.parts().count();
        if self.parts().any(|part| matches!(part, "_all" | "*")) {
            return true;
        }
        let Some((port, words)) = STORES.iter().find(|(port, _)| *port == self.port) else { return false };
        match *port {
            "9200" | "5984" => {
                count == 1 && !self.path.contains("_search") && !self.parts().all(tests_only)
                    || self.parts().any(|part| words.contains(&part))
            }
            "8500" => self.path.contains("recurse"),
            _ => count <= 3 && self.parts().any(|part| words.contains(&part)),
        }
    }

    fn deletes_by_query(&self) -> bool {
        self.parts().any(|part| part == "_delete_by_query")
    }

    fn takes_sql(&self) -> bool {
        matches!(self.port, "8123" | "8443" | "8086" | "9000" | "4000" | "8047" | "8080")
            || self.parts().any(|part| part == "_sql")
    }
}

/// `test-index`, `test_a,test_b`: what tests made.
fn tests_only(part: &str) -> bool {
    part.split(',').all(is_test_name)
}

/// Whether a word names an address of this machine or its own network.
pub(crate) fn is_local(word: &str) -> bool {
    let address = word.strip_prefix("--endpoint-url=").unwrap_or(word);
    address.starts_with("http") && Url::of(address).is_some_and(|url| !url.is_far())
}

/// The host as far as it is known: `acme.io` of `$TENANT.acme.io`; nothing of `$HOST`.
fn known_domain(host: &str) -> &str {
    let Some(at) = host.rfind(['$', '{', '}', '`', '<', '>', ')']) else { return host };
    let rest = host.get(at..).unwrap_or_default();
    let tail = rest.find('.').and_then(|dot| rest.get(dot + 1..)).unwrap_or_default();
    if tail.contains('.') { tail } else { "" }
}

pub(crate) fn local_host(host: &str) -> bool {
    const ENDS: &[&str] = &[".local", ".localhost", ".test", ".internal", ".lan", ".home", ".invalid", ".home.arpa"];
    let host = host.trim_matches(['[', ']']);
    let second = || host.split('.').nth(1).and_then(|part| part.parse::<u8>().ok());
    host == "localhost"
        || host.starts_with("127.")
        || host.starts_with("10.") && second().is_some()
        || host.starts_with("192.168.")
        || host.starts_with("172.") && second().is_some_and(|part| (16..32).contains(&part))
        || matches!(host, "0.0.0.0" | "::1" | "::")
        // One name without a dot is a neighbour: a service of the same compose file.
        || !host.contains(['.', ':'])
        || ENDS.iter().any(|end| host.ends_with(end))
}

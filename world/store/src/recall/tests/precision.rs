//! How well questions find what they are about: episodes that a person wrote,
//! hidden in ten thousand events of made-up work, and one question for each,
//! asked as somebody asks who remembers roughly what it was.

use super::*;
use serde_json::json;

const EVENTS: usize = 10_000;
const PROJECTS: &[&str] = &["/src/webshop", "/src/ledger", "/src/firmware", "/src/atlas"];

/// What kind of event, what it says, and the question that is to find it among the first five.
const EPISODES: &[(&str, &str, &str)] = &[
    (
        "prompt",
        "The invoice PDF shows the wrong VAT for customers in Switzerland, please fix it",
        "swiss vat wrong invoice",
    ),
    ("prompt", "Users complain that the password reset mail arrives hours late", "reset mail late"),
    (
        "prompt",
        "Write a script that anonymizes the production dump before we load it on staging",
        "anonymize production dump",
    ),
    ("prompt", "The map tiles flicker when I zoom quickly on a retina display", "flickering tiles zooming"),
    ("prompt", "Move the cron job for the nightly reconciliation to a systemd timer", "systemd timers reconcile"),
    ("prompt", "Why does the thermostat firmware reboot every 49 days?", "thermostat reboots 49 days"),
    (
        "prompt",
        "Replace the homegrown csv parser with a proper one that understands quoted newlines",
        "csv parser quoted newline",
    ),
    (
        "prompt",
        "Give the barcode scanner page a fallback for browsers without camera access",
        "barcode camera fallback",
    ),
    ("prompt", "The exchange rates are fetched on each page view; cache them for an hour", "caching exchange rates"),
    ("prompt", "Make the search box forgiving of typos in city names", "typo city search box"),
    ("prompt", "Gutscheincodes sollen nach dem Einlösen ungültig werden", "gutscheincode einlösen"),
    ("prompt", "在庫の同期が二重に実行される問題を直してください", "在庫の同期"),
    ("command", "pg_dump --schema-only warehouse > /tmp/warehouse_schema.sql", "pg_dump warehouse schema"),
    ("command", "openssl s_client -connect billing.internal:443 -showcerts", "openssl showcerts billing"),
    ("command", "ffmpeg -i onboarding.mov -vf scale=1280:-1 onboarding.gif", "ffmpeg onboarding gif"),
    ("command", "avrdude -p m328p -c usbasp -U flash:w:thermostat.hex", "avrdude flash thermostat"),
    ("command", "kubectl rollout undo deployment/checkout-gateway", "rollout undo checkout"),
    ("command", "git bisect run ./scripts/repro_deadlock.sh", "bisect deadlock repro"),
    ("command", "wrk -t8 -c200 -d30s http://localhost:8080/api/quote", "wrk api quote"),
    ("command", "sqlite3 ledger.db 'pragma integrity_check'", "integrity_check ledger"),
    ("command", "valgrind --tool=massif ./tile_server", "massif tile_server"),
    ("file", "src/payments/ChargebackReconciler.kt", "chargeback reconciler"),
    ("file", "crates/geo/src/quad_tree_index.rs", "quadTreeIndex"),
    ("file", "drivers/i2c/humidity_sensor.c", "humidity sensor driver"),
    ("file", "web/components/LoyaltyBadge.tsx", "loyaltybadge"),
    ("file", "migrations/0042_add_dunning_level.sql", "dunning level migration"),
    ("file", "docs/runbooks/kafka-lag.md", "runbook kafka lag"),
    (
        "log",
        "Found the culprit: the connection pool was exhausted because the audit writer never returned its handle",
        "connection pool exhausted audit",
    ),
    (
        "log",
        "Decided against Redis streams; the outbox table is enough for our volume",
        "outbox instead of redis streams",
    ),
    (
        "log",
        "The flaky test depended on the daylight saving change in Europe/Lisbon",
        "flaky test daylight saving lisbon",
    ),
    (
        "log",
        "Reduced the bundle from 3.1 MB to 900 KB by dropping moment and lodash",
        "bundle size moment lodash dropped",
    ),
    ("log", "Watchdog was kicked from the wrong interrupt, hence the brownout resets", "watchdog interrupt brownout"),
    (
        "answer",
        "The rounding difference came from summing floats before converting to cents; totals are integers now",
        "rounding floats cents",
    ),
    ("answer", "I rewrote the geocoder so that it falls back to the postal code centroid", "geocoder postal centroid"),
    ("answer", "The webhook signature is now verified in constant time", "verify webhook signatures"),
    (
        "answer",
        "Pagination uses a keyset cursor instead of OFFSET, which makes page 500 as fast as page 1",
        "keyset pagination offset",
    ),
    (
        "answer",
        "The bootloader refuses images whose version counter went backwards",
        "bootloader version rollback refuse",
    ),
    (
        "failure",
        "linking failed: undefined reference to `mbedtls_ssl_conf_psk'",
        "undefined reference mbedtls_ssl_conf_psk",
    ),
    (
        "failure",
        "ERROR 1213 (40001): Deadlock found when trying to get lock on table stock_reservation",
        "deadlock stock reservation",
    ),
    ("failure", "Error: ENOSPC: System limit for number of file watchers reached", "file watchers limit"),
    (
        "failure",
        "x509: certificate signed by unknown authority while pulling from the mirror",
        "certificate unknown authority mirror",
    ),
    ("dialogue", "Should expired carts be deleted or archived? Archived, for ninety days", "expired carts archive"),
    (
        "dialogue",
        "Which colour for the alarm state? Amber, because red is reserved for fire",
        "colour of the alarm state",
    ),
    ("dialogue", "May I bump the minimum Postgres version to 15? Yes, production runs 16", "minimum postgres version"),
    (
        "note",
        "Half way through splitting the monolithic TaxCalculator; the reverse charge rules are still in the old class",
        "tax calculator reverse charge",
    ),
    (
        "note",
        "Tile pyramid rebuild runs on the spare machine; check its checksum file before publishing",
        "tile pyramid checksum",
    ),
    ("note", "Next: teach the importer to skip the byte order mark", "importer byte order mark"),
    (
        "message",
        "I pushed the fix for the double shipment label; please run the smoke tests again",
        "double shipment label",
    ),
];

/// The same asked in whole sentences, with words that do not stand there: a part of the text, and the question.
const SENTENCES: &[(&str, &str)] = &[
    ("wrong VAT for customers", "what was the problem with VAT on invoices for people from Switzerland?"),
    ("password reset mail", "why did the mails for resetting a password take so long"),
    ("reboot every 49 days", "firmware that restarts after 49 days of uptime"),
    ("outbox table is enough", "when did we decide to use an outbox rather than redis"),
    ("daylight saving change", "which test broke because of the switch to daylight saving time"),
    ("connection pool was exhausted", "who leaked the database connections from the pool"),
    ("dropping moment and lodash", "how did the javascript bundle get smaller, lodash?"),
    ("summing floats before", "cents were off by one because of rounding"),
    ("postal code centroid", "what happens when geocoding an address fails, postal code?"),
    ("went backwards", "can the bootloader be downgraded to an older version counter"),
    ("number of file watchers", "system limit for watchers ENOSPC on the build machine"),
    ("red is reserved for fire", "did the user want amber or red for alarms"),
    ("production runs 16", "are we allowed to raise the postgres minimum"),
    ("reverse charge rules", "where did I stop with splitting the TaxCalculator class"),
    ("byte order mark", "what should the importer skip next"),
    ("rollout undo deployment", "how to undo a rollout of the checkout gateway with kubectl"),
    ("0042_add_dunning_level", "which migration added the dunning_level column"),
    ("LoyaltyBadge.tsx", "component that draws the loyalty badge"),
    ("nightly reconciliation", "nightly cron reconciliations moved to a timer"),
    ("camera access", "scanning barcodes when the browser has no camera"),
];

/// Words that made-up work is about; several stand in episodes too, as they do in real work.
const VERBS: &[&str] = &[
    "fix", "add", "remove", "rename", "test", "check", "update", "refactor", "document", "move", "split", "cache",
    "log", "parse", "verify", "load", "run", "build", "review", "clean",
];
const NOUNS: &[&str] = &[
    "page", "test", "parser", "invoice", "search", "cart", "driver", "tile", "map", "report", "importer", "webhook",
    "sensor", "table", "index", "version", "script", "job", "mail", "user", "customer", "config", "timer", "lock",
    "cursor", "pool", "cache", "label", "badge", "rate", "schema", "server", "client", "queue", "token", "session",
    "header", "button", "form", "menu",
];
const PLACES: &[&str] =
    &["web", "api", "core", "db", "ui", "cli", "docs", "scripts", "drivers", "geo", "payments", "tests"];

/// The same numbers every time (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % below
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.next(words.len())]
    }
}

fn noise(numbers: &mut Numbers) -> (&'static str, String) {
    let (verb, one, two, place) = (numbers.of(VERBS), numbers.of(NOUNS), numbers.of(NOUNS), numbers.of(PLACES));
    let number = numbers.next(400);
    match numbers.next(10) {
        0 | 1 => ("prompt", format!("{verb} the {one} of the {two} in {place}, see ticket {number}")),
        2..=4 => ("command", format!("cargo test -p {place} {one}_{two}_{number}")),
        5 | 6 => ("file", format!("{place}/{one}_{two}.rs")),
        7 => ("log", format!("{verb}ed the {one}, the {two} is next ({number})")),
        8 => ("answer", format!("The {one} of {place} is done; I {verb} the {two} too, {number} lines")),
        _ => ("failure", format!("assertion failed in {place}::{one}::{two}_{number}")),
    }
}

fn tell(memory: &Memory, session: &str, project: &str, at: i64, event: (&str, &str)) {
    let (kind, text) = event;
    match kind {
        "prompt" => memory.prompt(session, at, text),
        "command" => memory.command(session, at, text),
        "file" => memory.event(
            session,
            at,
            "PreToolUse",
            json!({"input": {"file_path": format!("{project}/{text}"), "content": ""}}),
        ),
        "answer" => memory.event(session, at, "Stop", json!({"last_message": text})),
        "failure" => {
            memory.event(session, at, "PostToolUseFailure", json!({"input": {"command": "make"}, "error": text}))
        }
        "note" => memory.note(session, at, text),
        kind => memory.message(session, at, kind, text),
    }
}

#[test]
fn m3_nine_of_ten_questions_find_what_they_are_about_among_the_first_five() {
    let mut memory = Memory::new();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let sessions: Vec<(String, &str)> = (0..60).map(|n| (format!("s{n}"), PROJECTS[n % PROJECTS.len()])).collect();
    sessions.iter().for_each(|(id, project)| memory.session(id, project));
    let step = EVENTS / EPISODES.len();
    memory.store.conn.execute_batch("BEGIN").unwrap();
    for n in 0..EVENTS {
        let (session, project) = &sessions[numbers.next(sessions.len())];
        let at = 100 * DAY * i64::try_from(n).unwrap() / i64::try_from(EVENTS).unwrap();
        match EPISODES.get(n / step).filter(|_| n % step == step / 2) {
            Some((kind, text, _)) => tell(&memory, session, project, at, (kind, text)),
            None => {
                let (kind, text) = noise(&mut numbers);
                tell(&memory, session, project, at, (kind, &text));
            }
        }
    }
    memory.store.conn.execute_batch("COMMIT").unwrap();
    let caught = memory.catch_up();
    assert_eq!(caught.behind, 0);
    let mut missed = Vec::new();
    let asked: Vec<(&str, &str)> =
        EPISODES.iter().map(|(_, text, question)| (*text, *question)).chain(SENTENCES.iter().copied()).collect();
    for (text, question) in &asked {
        let query = RecallQuery { words: (*question).into(), limit: 5, ..RecallQuery::default() };
        let found = memory.index.search(&query, Ms(100 * DAY)).unwrap();
        if !found.iter().any(|hit| hit.text.contains(text)) {
            missed.push((*question, found.iter().map(|hit| hit.text.clone()).collect::<Vec<_>>()));
        }
    }
    let hit = asked.len() - missed.len();
    println!(
        "recall@5 = {hit}/{} over {EVENTS} events, {} entries",
        asked.len(),
        memory.index.size(None).unwrap().entries
    );
    missed.iter().for_each(|(question, found)| println!("missed: {question}: {found:?}"));
    assert!(asked.len() >= 40 && hit * 10 >= asked.len() * 9, "{hit} of {}", asked.len());
}

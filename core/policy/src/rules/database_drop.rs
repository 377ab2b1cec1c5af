//! `database-drop`: commands that destroy databases.

use crate::args::text;
use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use bash::StdinSource;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "database-drop",
    pack: Pack::Databases,
    kind: RuleKind::Ask,
    title: "Commands that destroy databases",
    doc: "Asks before a database or its content is dropped by a command of its own: `dropdb`, `mysqladmin \
          drop`, `redis-cli FLUSHALL`, `mongosh --eval 'db.dropDatabase()'`.",
    instead: "Make a copy first: `pg_dump app > app.sql`.",
    denies: &[
        "dropdb app", "mysqladmin drop app", "redis-cli FLUSHALL", "redis-cli -n 1 flushdb",
        "mongosh --eval 'db.dropDatabase()'", "mongo app --eval 'db.users.drop()'",
        "mongosh app --eval 'db.users.deleteMany({})'", "dropuser bob", "pg_restore --clean -d app dump.tar",
        "influx -execute 'DROP DATABASE metrics'", "redis-cli EVAL \"redis.call('flushall')\" 0",
    ],
    passes: &[
        "redis-cli GET key", "redis-cli keys \"flush*\"", "mongosh --eval \"db.users.find()\"", "createdb app",
        "influx -execute 'SHOW DATABASES'", "redis-cli EVAL \"return redis.call('get', KEYS[1])\" 1 k", "pg_dump app",
        "mysqladmin status", "dropdb --help", "mongosh --eval 'db.users.deleteMany({age: 3})'",
    ],
    watch: RuleTrigger::Programs(&[
        "dropdb", "dropuser", "mysqladmin", "redis-cli", "valkey-cli", "keydb-cli", "mongosh", "mongo", "pg_restore",
        "influx", "etcdctl", "rabbitmqctl", "kafka-topics", "kafka-topics.sh",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let call = Call::with(sight, "hpnaudU");
    if call.only_looks() {
        return;
    }
    let stopped = match sight.program() {
        "dropdb" | "dropuser" => !call.words.is_empty(),
        "mysqladmin" => call.any(|word| word == "drop"),
        "redis-cli" | "valkey-cli" | "keydb-cli" => flushes(&call, sight),
        "mongosh" | "mongo" => texts(sight).iter().any(|text| drops(text)),
        "pg_restore" => call.flag("clean") || call.args.short('c'),
        "influx" => {
            call.any(|word| word == "delete") || texts(sight).iter().any(|text| crate::sql::destroys(text).is_some())
        }
        "etcdctl" => call.word(0) == "del" && (call.flag("prefix") || call.flag("from-key")),
        "rabbitmqctl" => {
            matches!(call.word(0), "reset" | "force_reset" | "purge_queue" | "delete_queue" | "delete_vhost")
        }
        _ => call.flag("delete"),
    };
    if stopped {
        report(sight, "This destroys a database or what is in it.", hits);
    }
}

fn flushes(call: &Call<'_>, sight: &RuleInput<'_>) -> bool {
    let verb = |text: &str| matches!(text.to_ascii_uppercase().as_str(), "FLUSHALL" | "FLUSHDB");
    let scripted = call.word(0).eq_ignore_ascii_case("eval") && call.word(1).split(['\'', '"']).any(verb);
    verb(call.word(0))
        || scripted
        || matches!(&sight.command.feed, StdinSource::Text(text) if text.split_whitespace().any(verb))
}

fn texts(sight: &RuleInput<'_>) -> Vec<String> {
    let mut texts: Vec<String> = sight.command.args().iter().map(|word| text(word).into_owned()).collect();
    if let StdinSource::Text(text) = &sight.command.feed {
        texts.push(text.to_string());
    }
    texts
}

/// Calls of the shell's own language that drop or empty a collection.
fn drops(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    ["dropDatabase(", ".drop(", ".remove({})", ".deleteMany({})", ".deleteMany()", ".dropIndexes("]
        .iter()
        .any(|call| plain.contains(call))
}

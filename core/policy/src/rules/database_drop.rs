//! `database-drop`: commands that destroy databases, and what queues and key-value stores hold.

use crate::args::text;
use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::test_database::only_tests;
use crate::tools::{self, ToolTable, tool};
use bash::StdinSource;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "database-drop",
    pack: Pack::Databases,
    kind: RuleKind::Ask,
    title: "Commands that destroy databases",
    doc: "Asks before a database, topic, queue or store, or its content, is dropped by a command of its own: `dropdb`, \
          `mysqladmin drop`, `redis-cli FLUSHALL`, `mongosh --eval 'db.dropDatabase()'`, `kafka-topics --delete`, \
          `consul kv delete -recurse`, `nats stream rm`, and before a dump is restored over what is there. A database \
          on this machine whose name says that it is for tests passes.",
    instead: "Make a copy first: `pg_dump app > app.sql`.",
    denies: &[
        "dropdb app",
        "mysqladmin drop app",
        "redis-cli FLUSHALL",
        "redis-cli -n 1 flushdb",
        "mongosh --eval 'db.dropDatabase()'",
        "mongo app --eval 'db.users.drop()'",
        "mongosh app --eval 'db.users.deleteMany({})'",
        "dropuser bob",
        "dropdb -h db.example.com app_test",
        "dropdb latest",
        "pg_restore --clean -d app dump.tar",
        "influx -execute 'DROP DATABASE metrics'",
        "redis-cli EVAL \"redis.call('flushall')\" 0",
        "mongorestore --drop dump/",
        "kafka-topics.sh --bootstrap-server k:9092 --delete --topic orders",
        "rabbitmqctl delete_queue jobs",
        "etcdctl del --prefix ''",
        "consul kv delete -recurse app/",
        "vault kv metadata delete secret/app",
        "vault secrets disable kv",
        "nats stream rm ORDERS -f",
        "influx bucket delete -n metrics",
        "redis-cli --scan --pattern 'user:*' | xargs redis-cli DEL",
        "pg_dropcluster 16 main --stop",
        "celery -A app purge -f",
        "mongosh --eval 'db.users.deleteMany({}, {w: 1})'",
    ],
    passes: &[
        "redis-cli GET key", "redis-cli keys \"flush*\"", "mongosh --eval \"db.users.find()\"", "createdb app",
        "influx -execute 'SHOW DATABASES'", "redis-cli EVAL \"return redis.call('get', KEYS[1])\" 1 k", "pg_dump app",
        "dropdb app_test", "dropdb --if-exists -h localhost myapp_test", "mysqladmin -f drop app_test",
        "mysqladmin status", "dropdb --help", "mongosh --eval 'db.users.deleteMany({age: 3})'",
        "redis-cli DEL one-key", "kafka-topics.sh --bootstrap-server k:9092 --list", "rabbitmqctl list_queues",
        "etcdctl get --prefix /", "consul kv get app/x", "nats stream ls", "vault status", "pg_restore -l dump.tar",
        "mongodump", "nats stream info x", "consul kv delete app/one", "etcdctl del /app/one",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

const TOOLS: ToolTable = ToolTable {
    name: "database-drop",
    tools: &[
        tool(&["dropdb", "dropuser", "pg_dropcluster"], &["*"]),
        tool(&["mysqladmin", "mariadb-admin"], &[".. drop"]),
        tool(&["pg_restore"], &["--clean|-c !-l|--list|-f|--file"]),
        tool(&["mongorestore"], &["--drop !--dryRun"]),
        tool(&["pg_resetwal", "pg_resetxlog"], &["*"]),
        tool(&["etcdctl"], &["del --prefix|--from-key", "del --range|--range-end", "rm|rmdir --recursive|-r"]),
        tool(&["consul"], &["kv delete -recurse"]),
        tool(
            &["vault", "bao"],
            &[
                "kv destroy", "kv metadata delete", "kv delete -all", "secrets disable", "auth disable",
                "operator seal", "namespace delete", "policy delete",
            ],
        ),
        tool(&["zkCli.sh", "zkcli", "zookeeper-shell", "zookeeper-shell.sh"], &[".. deleteall|rmr"]),
        tool(
            &["rabbitmqctl", "rabbitmqadmin"],
            &[
                ".. reset|force_reset|purge_queue|delete_queue|delete_vhost|forget_cluster_node|delete_user",
                ".. delete queue|exchange|vhost",
                ".. purge queue",
            ],
        ),
        tool(
            &[
                "kafka-topics", "kafka-topics.sh", "kafka-consumer-groups", "kafka-consumer-groups.sh", "kafka-acls",
                "kafka-acls.sh",
            ],
            &["--delete", "--remove"],
        ),
        tool(
            &["kafka-delete-records", "kafka-delete-records.sh", "kafka-streams-application-reset"],
            &["--offset-json-file|--application-id"],
        ),
        tool(&["rpk"], &["topic delete|trim-prefix", "group delete", "cluster storage delete"]),
        tool(&["pulsar-admin"], &[".. delete|delete-partitioned-topic|force-delete|clear-backlog|delete-namespace"]),
        tool(
            &["nats"],
            &[
                "stream|str|s rm|purge|delete|del", "consumer|con rm|delete", "kv|object|obj rm|del|purge|delete",
                "account purge",
            ],
        ),
        tool(&["influx"], &["delete", "bucket|org|user|auth|stack delete|rm"]),
        tool(&["celery"], &[".. purge"]),
        tool(&["rq"], &["empty --all", "empty *"]),
        tool(&["cockroach"], &["node decommission|drain"]),
        tool(&["nodetool"], &["clearsnapshot|decommission|removenode|assassinate"]),
        tool(&["couchbase-cli"], &["bucket-delete|bucket-flush"]),
        tool(&["clickhouse-backup", "pgbackrest", "wal-g", "barman"], &["delete", ".. stanza-delete"]),
        tool(&["redis-cli", "valkey-cli", "keydb-cli", "mongosh", "mongo", "cypher-shell"], &[]),
    ],
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let stopped = match sight.program() {
        "redis-cli" | "valkey-cli" | "keydb-cli" => flushes(sight),
        "mongosh" | "mongo" => texts(sight).iter().any(|text| drops(text)),
        "cypher-shell" => texts(sight).iter().any(|text| deletes_graph(text)),
        "influx" if texts(sight).iter().any(|text| crate::sql::destroys(text).is_some()) => true,
        "dropdb" | "mysqladmin" | "mariadb-admin" if only_tests(sight) => false,
        _ => tools::calls(sight, &TOOLS),
    };
    if stopped {
        report(sight, "This destroys a database or what is in it.", hits);
    }
}

fn flushes(sight: &RuleInput<'_>) -> bool {
    let call = Call::with(sight, "hpnaudU");
    let verb = |text: &str| matches!(text.to_ascii_uppercase().as_str(), "FLUSHALL" | "FLUSHDB");
    let first = call.word(0).to_ascii_uppercase();
    let scripted = first == "EVAL" && call.word(1).split(['\'', '"']).any(verb);
    // Whatever a search of the keys finds.
    let found = matches!(first.as_str(), "DEL" | "UNLINK")
        && sight.command.args().iter().any(|word| word.has_unknown() && text(word).contains(['`', '(', '{']));
    let line = |text: &str| text.lines().any(|line| line.split_whitespace().next().is_some_and(verb));
    let everywhere = call.flag("cluster") && call.any(verb);
    let fed = matches!(&sight.command.feed, StdinSource::Text(text) if line(text));
    !call.only_looks() && (verb(&first) || scripted || found || everywhere || fed)
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
    const CALLS: &[&str] = &[
        "dropDatabase(", ".drop(", ".remove({}", ".deleteMany({}", ".deleteMany()", ".dropIndexes(", ".remove()",
        "dropAllUsers", "{dropDatabase:", "{drop:",
    ];
    CALLS.iter().any(|call| plain.contains(call))
}

/// `MATCH (n) DETACH DELETE n`: every node, where no condition or property picks some.
fn deletes_graph(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    upper.contains("DELETE") && upper.contains("MATCH") && !upper.contains("WHERE") && !upper.contains('{')
        || upper.contains("DROP DATABASE")
}

//! `sql-destroy`: SQL that destroys data.

use crate::args::text;
use crate::place::PlaceKind;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::sql;
use crate::target::Target;
use crate::test_database::{is_test_name, local_databases, only_tests};
use crate::tools::{self, ToolTable, tool};
use bash::StdinSource;
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "sql-destroy",
    pack: Pack::Databases,
    kind: RuleKind::Ask,
    title: "SQL that destroys data",
    doc: "Asks before DROP, TRUNCATE, and DELETE or UPDATE without WHERE are sent to a database through \
          its client, as an option, a here-document or a pipe. Databases in memory and in temporary \
          folders pass, and those on this machine whose name says that they are for tests.",
    instead: "See what it would touch: `psql app -c 'SELECT count(*) FROM users WHERE id = 7'`; narrow it with \
          WHERE.",
    denies: &[
        "psql -c 'DROP TABLE users'",
        "mysql -e 'TRUNCATE orders'",
        "psql -h db.example.com -d app_test -c 'TRUNCATE users'",
        "psql -d app_test -c 'DROP DATABASE app'",
        "sqlite3 app.db 'DELETE FROM users'",
        "echo 'DROP DATABASE prod' | psql",
        "psql <<EOF\nDROP TABLE a;\nEOF",
        "mysql app -e \"delete from users;\"",
        "psql --command='UPDATE users SET admin = true'",
        "psql -c 'ALTER TABLE a DROP COLUMN b'",
        "npx wrangler d1 execute shop --remote --command 'DROP TABLE users'",
        "mysql -e\"DROP DATABASE shop\"",
        "npx prisma db execute --stdin <<< 'TRUNCATE users'",
        "heroku pg:psql -c 'DROP SCHEMA public CASCADE'",
    ],
    passes: &[
        "psql -c 'SELECT * FROM users'",
        "sqlite3 app.db 'DELETE FROM users WHERE id=1'",
        "sqlite3 :memory: 'DROP TABLE x'",
        "mysql -e 'SHOW TABLES'",
        "psql -d app_test -c 'TRUNCATE users'",
        "mysql -uroot -psecret app_test -e 'DELETE FROM users'",
        "mysql -e 'DROP DATABASE IF EXISTS app_test'",
        "echo 'DROP TABLE x' > notes.txt",
        "grep 'DROP TABLE' schema.sql",
        "psql -c \"INSERT INTO log VALUES ('DROP TABLE x')\"",
        "sqlite3 /tmp/t.db 'drop table x'",
        "git commit -m 'DROP TABLE users'",
        "npx wrangler d1 execute shop --local --command 'DROP TABLE users'",
        "turso db shell shop '.tables'",
        "aws athena start-query-execution --query-string 'SELECT 1'",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

/// Programs whose words and input are SQL.
const CLIENTS: &[&str] = &[
    "psql", "mysql", "mariadb", "sqlite3", "sqlite", "duckdb", "sqlcmd", "cqlsh", "clickhouse-client", "clickhouse",
    "cockroach", "usql", "pgcli", "mycli", "litecli", "bq", "snowsql", "trino", "osql", "isql", "sqlplus",
    "spanner-cli", "turso", "mysqlsh", "mssql-cli", "go-sqlcmd", "clickhouse-local", "beeline", "hive", "impala-shell",
    "spark-sql", "presto", "vsql", "hdbsql", "db2", "rqlite", "dolt", "surreal", "libsql", "ysqlsh", "ycqlsh", "gpsql",
    "edgedb", "gel", "snow", "steampipe",
];

/// Calls of other tools that carry SQL to a database.
const TOOLS: ToolTable = ToolTable {
    name: "sql-destroy",
    tools: &[
        tool(CLIENTS, &[]),
        tool(&["wrangler"], &["d1 execute !--local"]),
        tool(&["prisma"], &["db execute"]),
        tool(&["supabase"], &["db query|execute|sql", "sql"]),
        tool(&["heroku"], &["pg:psql"]),
        tool(&["fly", "flyctl"], &["postgres|pg|mpg connect"]),
        tool(&["pscale"], &["shell", "sql"]),
        tool(&["neonctl", "neon"], &["psql", "sql", ".. --psql"]),
        tool(
            &["aws"],
            &[
                "rds-data|redshift-data|athena|timestream-query|dynamodb execute-*|batch-execute-*|start-query-execution|query",
            ],
        ),
        tool(&["gcloud"], &["spanner databases execute-sql", "spanner databases ddl update"]),
        tool(&["manage.py", "django-admin"], &["dbshell"]),
        tool(&["rails"], &["db|dbconsole"]),
        tool(
            &["artisan", "wp", "drush", "console", "spark"],
            &["db", "db query|cli", "sql:query|sqlq|sql:cli|sqlc", "dbal:run-sql|doctrine:query:sql"],
        ),
    ],
};

/// Clients of databases that are a file.
const FILES: &[&str] = &["sqlite3", "sqlite", "duckdb", "litecli"];

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    if !CLIENTS.contains(&sight.program()) && !tools::calls(sight, &TOOLS) {
        return;
    }
    let args = sight.command.args();
    let operand = args.iter().find(|word| !text(word).starts_with('-'));
    if let Some(file) = operand.filter(|_| FILES.contains(&sight.program())) {
        let target = Target::of(file, sight.command.cwd.as_deref());
        let stem = target.name().split('.').next().unwrap_or_default();
        let tests = ["test", "tests"].contains(&stem) || stem.contains(['_', '-']) && is_test_name(stem);
        if tests || text(file) == ":memory:" || sight.ground.place(&target, sight.seen.machine) == PlaceKind::Temp {
            return;
        }
    }
    let given = args.iter().map(|word| text(word).into_owned()).map(|word| match word.split_once('=') {
        Some((option, value)) if option.starts_with("--") => value.to_string(),
        // `mysql -e"DROP TABLE x"`
        _ if word.starts_with('-') && word.contains(' ') => word.chars().skip(2).collect(),
        _ => word,
    });
    let fed = match &sight.command.feed {
        StdinSource::Text(text) => Some(text.to_string()),
        _ => None,
    };
    let in_tests = !FILES.contains(&sight.program()) && only_tests(sight);
    let here = !FILES.contains(&sight.program()) && local_databases(sight).is_some();
    if let Some(what) = given.chain(fed).find_map(|text| sql::destroys_beyond(&text, in_tests, here)) {
        hits.push(Hit::new(sight.shown(), format!("The database would run `{what} …`, which destroys data.")));
    }
}

//! `framework-db-reset`: framework commands that reset a database.

use crate::args::text;
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use crate::tools::{self, ToolTable, tool};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "framework-db-reset",
    pack: Pack::Databases,
    kind: RuleKind::Ask,
    title: "Framework commands that reset a database",
    doc: "Asks before a web framework's or migration tool's command drops, empties or rebuilds its database, or undoes \
          all migrations: `rails db:drop`, `prisma migrate reset`, `manage.py flush`, `artisan migrate:fresh`, `flyway \
          clean` and their kin, also through `npx`, `sail`, `mvnw` and other wrappers. One step back passes, and so \
          does what is told to work on the test database.",
    instead: "Migrate forward instead: `npx prisma migrate dev`.",
    denies: &[
        "rails db:drop", "bundle exec rake db:reset", "npx prisma migrate reset --force",
        "python manage.py flush --no-input", "php artisan migrate:fresh", "npx prisma db push --force-reset",
        "bin/rails db:schema:load", "supabase db reset", "flyway clean", "mix ecto.drop", "npx sequelize db:drop",
        "wp db reset --yes", "./vendor/bin/sail artisan migrate:fresh --seed", "./mvnw flyway:clean",
        "./gradlew flywayClean", "dotnet ef database drop -f", "uv run alembic downgrade base",
        "python manage.py migrate shop zero", "yarn typeorm schema:drop", "pnpm db:reset", "goose down-to 0",
        "migrate -path db -database \"$URL\" drop -f", "php bin/console doctrine:schema:drop --force",
        "bin/rails runner 'User.delete_all'", "python manage.py shell -c 'User.objects.all().delete()'",
    ],
    passes: &[
        "rails db:migrate", "npx prisma migrate dev", "python manage.py migrate", "php artisan migrate", "rake test",
        "supabase db diff", "mix ecto.migrate", "npx prisma generate", "rails db:rollback",
        "php artisan migrate:rollback", "alembic downgrade -1", "RAILS_ENV=test bin/rails db:drop db:create",
        "RAILS_ENV=test bundle exec rake db:schema:load", "rails db:setup", "flyway info", "npx knex migrate:rollback",
        "diesel migration redo", "python manage.py migrate shop 0004", "php artisan migrate:fresh --env=testing",
        "npx prisma migrate reset --help", "npm install sequelize", "npx prisma migrate status",
        "dotnet ef database update", "rails runner 'puts User.count'",
        "bin/rails runner 'User.where(id: 3).delete_all'", "php artisan migrate:fresh --pretend",
    ],
    watch: RuleTrigger::Tools(&TOOLS),
    judge,
};

const TOOLS: ToolTable = ToolTable {
    name: "framework-db-reset",
    tools: &[
        // Ruby, PHP
        tool(
            &["rails", "rake"],
            &[
                ".. db:drop*|db:reset*|db:schema:load*|db:structure:load*|db:purge*|db:truncate_all|db:migrate:reset*",
                ".. db:seed:replant|db:mongoid:drop|db:mongoid:purge|db:clean|db:wipe|db:nuke",
                ".. db:rollback STEP=all",
                ".. apartment:drop",
            ],
        ),
        tool(&["hanami"], &["db drop|clean"]),
        tool(&["sequel"], &["-M=0"]),
        tool(
            &["artisan", "spark", "craft", "think", "hyperf", "hyperf.php"],
            &[
                "migrate:fresh|migrate:reset|migrate:refresh|db:wipe|tenants:migrate-fresh|tenants:rollback !--pretend",
                "module:migrate-fresh|module:migrate-reset|module:migrate-refresh|schema:drop|doctrine:schema:drop",
                "migrate:rollback --all|--step=all|--step=999* !--pretend",
                "db/restore",
            ],
        ),
        tool(
            &["console", "doctrine", "doctrine.php", "doctrine-migrations"],
            &[
                "doctrine:database:drop|d:d:d|orm:schema-tool:drop|doctrine:schema:drop|d:s:d !--dump-sql",
                "doctrine:fixtures:load|d:f:l|doctrine:fixtures:l !--append",
                "doctrine:mongodb:schema:drop",
                "doctrine:migrations:migrate|migrations:migrate|d:m:m first|0 !--dry-run",
                "fos:elastica:reset|fos:elastica:delete",
            ],
        ),
        tool(&["symfony"], &["console doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d !--dump-sql"]),
        tool(&["cake", "cake.php"], &["migrations rollback -t=0|--target=0|-t=all", "migrations reset|fresh"]),
        tool(&["phinx"], &["rollback -t=0|--target=0"]),
        tool(&["yii"], &["migrate/fresh", "migrate/down all", "migrate/to 0"]),
        tool(&["magento"], &["setup:uninstall", "setup:rollback"]),
        tool(&["wp", "wp-cli.phar"], &["db reset|drop|clean", "site empty|delete", "db query DROP*"]),
        tool(
            &["drush", "drush.php"],
            &[
                "sql:drop|sql-drop", "site:install|site-install|si", "entity:delete|edel",
                "sql:create|sql-create -y|--yes",
            ],
        ),
        // Python
        tool(
            &["manage.py", "django-admin", "django-admin.py", "django"],
            &["flush|reset_db|reset_schema|flush_all", "migrate * zero !--plan|--fake", "dbrestore"],
        ),
        tool(&["alembic"], &["downgrade base|*:base !--sql"]),
        tool(
            &["flask", "quart"],
            &[
                "db downgrade base !--sql", "drop-db|dropdb|drop_db|reset-db|init-db --drop",
                "db drop|reset|drop-all|drop_all",
            ],
        ),
        tool(&["aerich"], &["downgrade -v=0"]),
        tool(&["piccolo"], &["migrations backwards * all|1", "tables drop|wipe"]),
        tool(
            &["superset", "airflow", "mlflow", "prefect", "dagster"],
            &["db reset|drop", "server database reset", "gc", "run wipe"],
        ),
        tool(&["yoyo"], &["rollback --all|-a"]),
        // JavaScript
        tool(&["prisma", "prisma2"], &["migrate reset", "db push --force-reset|--accept-data-loss"]),
        tool(&["drizzle-kit"], &["drop", "push|push:pg|push:mysql|push:sqlite --force|-f"]),
        tool(&["knex"], &["migrate:rollback --all", "migrate:rollback all"]),
        tool(&["sequelize", "sequelize-cli"], &["db:drop", "db:migrate:undo:all", "db:seed:undo:all"]),
        tool(
            &["typeorm", "typeorm-ts-node-commonjs", "typeorm-ts-node-esm", "typeorm-extension"],
            &["schema:drop", "db:drop"],
        ),
        tool(
            &["mikro-orm", "mikro-orm-esm", "@mikro-orm/cli"],
            &["schema:drop|schema:fresh|migration:fresh|database:drop !--dump|-d", "migration:down --to=0|-t=0"],
        ),
        tool(
            &["ace", "ace.js", "adonis"],
            &["migration:fresh|migration:reset|migration:refresh|db:wipe|db:truncate !--dry-run"],
        ),
        tool(&["payload"], &["migrate:fresh|migrate:reset|migrate:refresh"]),
        tool(&["db-migrate"], &["reset", "db:drop", "down -c=all|--count=999*"]),
        tool(&["node-pg-migrate"], &["down 0|999*", "down Infinity"]),
        tool(&["kysely", "kysely-ctl"], &["migrate:rollback|migrate:reset --all", "migrate rollback --all"]),
        tool(&["umzug", "graphile-migrate"], &["reset", "down --to=0"]),
        tool(
            &["strapi", "directus", "medusa", "keystone"],
            &[
                "import --force", "database drop|reset|install", "db:drop|db:reset", "dev --reset-db",
                "migrate:down --all",
            ],
        ),
        tool(&["meteor"], &["reset"]),
        tool(&["convex"], &["import --replace|--replace-all"]),
        tool(&["supabase"], &["db reset", "migration down", "stop --no-backup"]),
        tool(&["hasura"], &["migrate apply --down=all", "migrate delete", "metadata clear"]),
        tool(
            &["wasp", "blitz", "redwood", "rw", "zenstack", "rwfw"],
            &["db reset", "prisma migrate reset", "migrate reset", "db push --force-reset|--accept-data-loss"],
        ),
        tool(&["nuxi", "nuxt", "nuxthub"], &["db drop|reset", "database drop"]),
        tool(&["encore"], &["db reset"]),
        tool(&["edgedb", "gel"], &["branch drop|wipe", "database drop|wipe", "instance destroy", "query DROP*"]),
        tool(
            &["npm", "pnpm", "yarn", "bun"],
            &[
                "run|run-script db:drop|db:reset|db:wipe|db:nuke|db:fresh|db:clear|migrate:fresh|migrate:reset",
                "db:drop|db:reset|db:wipe|db:nuke|db:fresh|migrate:fresh|migrate:reset",
                "run database:reset|database:drop|prisma:reset",
            ],
        ),
        // JVM, .NET
        tool(&["flyway"], &[".. clean", "undo -target=0"]),
        tool(&["liquibase"], &[".. dropAll|drop-all|dropall", ".. rollback|rollback-to-date|rollbackToDate"]),
        tool(
            &["mvn", "mvnw", "mvnd", "mvnw.cmd"],
            &[
                ".. flyway:clean|org.flywaydb:*:clean|liquibase:dropAll|org.liquibase:*:dropAll",
                ".. liquibase:rollback|hibernate:drop|mybatis:down",
            ],
        ),
        tool(
            &["gradle", "gradlew", "gradlew.bat"],
            &[".. flywayClean|*:flywayClean|dropAll|*:dropAll|liquibaseDropAll"],
        ),
        tool(&["sbt"], &[".. flywayClean|flyway/clean|*/flywayClean"]),
        tool(&["lein", "clj", "clojure"], &["migratus reset|destroy", "ragtime rollback-all", "joplin reset"]),
        tool(&["dotnet"], &["ef database drop", "ef database update 0", "fm rollback all|to 0", "grate --drop"]),
        tool(&["dotnet-ef"], &["database drop", "database update 0"]),
        tool(&["Update-Database"], &["0", "$ -Migration=0"]),
        tool(&["Drop-Database"], &["$"]),
        tool(&["grate", "rh"], &["$ --drop|--drop=true"]),
        // Elixir, Rust, Go, others
        tool(
            &["mix"],
            &[
                ".. ecto.drop|ecto.reset|ash.reset|ash_postgres.drop|ash_postgres.reset|event_store.drop|event_store.reset",
                ".. ecto.rollback --all",
                "ash.tear_down",
            ],
        ),
        tool(&["diesel"], &["database reset|drop", "migration revert --all|-a"]),
        tool(&["sqlx", "cargo-sqlx"], &["database drop|reset", "db drop|reset", "migrate revert --target-version=0"]),
        tool(&["sea-orm-cli", "sea"], &["migrate fresh|reset|refresh"]),
        tool(&["loco", "cargo-loco"], &["db reset|drop|truncate"]),
        tool(&["goose"], &[".. reset", ".. down-to 0"]),
        tool(&["migrate"], &[".. drop", ".. down --all|-all", ".. down $"]),
        tool(&["dbmate"], &["drop", ".. drop"]),
        tool(&["sql-migrate"], &["down -limit=0"]),
        tool(&["tern"], &["migrate -d=0|--destination=0"]),
        tool(&["atlas"], &["schema clean", "migrate down --to-version=0"]),
        tool(&["bun-migrate", "soda", "buffalo"], &["drop -a", "reset", "pop drop|reset", "db drop|reset"]),
        tool(&["sqitch"], &["revert $", "rebase -y", "revert --to=@ROOT"]),
        tool(&["jet", "jennifer", "lucky", "micrate"], &["db.drop|db.reset", "drop", "db:drop|db:reset"]),
        tool(&["neoctl", "sqldef", "psqldef", "mysqldef", "sqlite3def"], &[".. --enable-drop"]),
        tool(&["vapor"], &["run migrate --revert"]),
        tool(&["bench"], &["drop-site|reinstall", ".. drop-site|reinstall"]),
        tool(&["odoo", "odoo-bin"], &["db drop"]),
        tool(&["discourse", "tootctl", "gitlab-rake"], &["accounts delete --all", "gitlab:setup", "media remove"]),
    ],
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    // `manage.py sqlflush` prints what empties the database; down a pipe it is run.
    let printed = || sight.command.args().iter().take(2).any(|word| text(word) == "sqlflush");
    let fed = || sight.program().starts_with("python") && printed() && sight.index.piped(sight.parsed_call, sight.at);
    if (tools::calls(sight, &TOOLS) || fed() || empties_by_code(sight)) && !on_test_database(sight) {
        report(sight, "This drops, empties or rebuilds the framework's database.", hits);
    }
}

/// Shells and runners of frameworks that are given code.
pub(super) const CODE: ToolTable = ToolTable {
    name: "framework-code",
    tools: &[
        tool(&["rails"], &["runner|r|console|c"]),
        tool(&["artisan"], &["tinker"]),
        tool(&["manage.py", "django-admin"], &["shell|shell_plus"]),
        tool(&["flask"], &["shell"]),
    ],
};

/// `rails runner 'User.delete_all'`: every row of a table, by the framework's own words.
fn empties_by_code(sight: &RuleInput<'_>) -> bool {
    const CALLS: &[&str] = &[
        ".delete_all", ".destroy_all", ".all.delete", ".objects.all().delete(", "::truncate(", "->truncate(",
        "drop_all(", "Schema::drop", "dropAllTables", ".truncate_tables", "drop_database", "DROP TABLE",
        "DROP DATABASE", "TRUNCATE ", "_all.destroy", "drop_table",
    ];
    let empties = |text: &str| {
        let narrowed = text.contains("where(") || text.contains("filter(") || text.contains("where.");
        CALLS.iter().any(|call| text.contains(call)) && !narrowed
    };
    let given = || sight.command.args().iter().any(|word| empties(&text(word)));
    let fed = || matches!(&sight.command.feed, bash::StdinSource::Text(text) if empties(text));
    tools::calls(sight, &CODE) && (given() || fed())
}

/// `RAILS_ENV=test`, `--env=testing`: a database that every run of the tests makes again.
fn on_test_database(sight: &RuleInput<'_>) -> bool {
    let test = |value: &str| matches!(value, "test" | "testing" | "ci");
    let named = |name: &str, value: &str| name.ends_with("_ENV") && test(value);
    let own = &sight.command.via;
    let around = sight.earlier().filter_map(|(at, _)| sight.parsed_call.reading.commands.get(at));
    let around = around.filter(|command| own.starts_with(&command.via) && command.via.len() < own.len());
    let exported = sight.earlier().filter_map(|(at, seen)| {
        sight.parsed_call.reading.commands.get(at).filter(|_| seen.program.as_deref() == Some("export"))
    });
    let assigned = std::iter::once(sight.command).chain(around).flat_map(|command| &command.assignments);
    let set = assigned.into_iter().any(|(name, value)| named(name, &text(value)))
        || exported
            .flat_map(bash::Command::args)
            .any(|word| text(word).split_once('=').is_some_and(|(name, value)| named(name, value)));
    let args = sight.command.args();
    let told = |word: &bash::Word| {
        let word = text(word);
        word.split_once('=').is_some_and(|(name, value)| {
            named(name, value) || (matches!(name, "--env" | "--environment" | "-e") && test(value))
        })
    };
    let option = |pair: &[bash::Word]| matches!(pair, [name, value] if matches!(text(name).as_ref(), "--env" | "-e") && test(&text(value)));
    set || args.iter().any(told) || args.windows(2).any(option)
}

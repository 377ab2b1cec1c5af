//! `framework-db-reset`: framework commands that reset a database.

use crate::args::text;
use crate::calls::report;
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "framework-db-reset",
    pack: Pack::Databases,
    kind: RuleKind::Ask,
    title: "Framework commands that reset a database",
    doc: "Asks before a web framework's command drops or rebuilds its database: `rails db:drop`, `prisma \
          migrate reset`, `manage.py flush`, `artisan migrate:fresh` and their kin.",
    instead: "Migrate forward instead: `npx prisma migrate dev`.",
    denies: &[
        "rails db:drop", "bundle exec rake db:reset", "npx prisma migrate reset --force",
        "python manage.py flush --no-input", "php artisan migrate:fresh", "npx prisma db push --force-reset",
        "bin/rails db:schema:load", "supabase db reset", "flyway clean", "mix ecto.drop", "npx sequelize db:drop",
        "wp db reset --yes",
    ],
    passes: &[
        "rails db:migrate", "npx prisma migrate dev", "python manage.py migrate", "php artisan migrate", "rake test",
        "supabase db diff", "mix ecto.migrate", "npx prisma generate",
    ],
    watch: RuleTrigger::Programs(&[
        "rails", "rake", "prisma", "npx", "bunx", "pnpm", "yarn", "python", "python3", "php", "supabase", "flyway",
        "mix", "sequelize", "wp", "sequelize-cli", "typeorm", "knex", "liquibase", "alembic", "django-admin",
        "manage.py", "artisan", "drizzle-kit", "hasura", "dbmate", "sqlx", "diesel", "doctrine",
    ]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let words: Vec<String> = std::iter::once(sight.program().to_string())
        .chain(sight.command.args().iter().map(|word| text(word).into_owned()))
        .collect();
    let words: Vec<&str> = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let at = |wanted: &[&str]| words.windows(wanted.len()).any(|window| window == wanted);
    let has = |wanted: &str| words.contains(&wanted);
    let colon = words.iter().any(|word| {
        matches!(
            *word,
            "db:drop"
                | "db:reset"
                | "db:schema:load"
                | "db:purge"
                | "db:truncate_all"
                | "db:setup"
                | "migrate:fresh"
                | "migrate:reset"
                | "migrate:refresh"
                | "db:wipe"
                | "db:drop:_unsafe"
                | "schema:drop"
                | "doctrine:database:drop"
                | "doctrine:schema:drop"
                | "db:migrate:undo:all"
                | "ecto.drop"
                | "ecto.reset"
        )
    });
    let runner = matches!(
        sight.program(),
        "rails"
            | "rake"
            | "php"
            | "artisan"
            | "mix"
            | "sequelize"
            | "sequelize-cli"
            | "npx"
            | "bunx"
            | "typeorm"
            | "doctrine"
            | "yarn"
            | "pnpm"
    );
    let pairs = at(&["prisma", "migrate", "reset"])
        || (at(&["prisma", "db", "push"]) && has("--force-reset"))
        || at(&["manage.py", "flush"])
        || at(&["manage.py", "reset_db"])
        || at(&["django-admin", "flush"])
        || at(&["supabase", "db", "reset"])
        || at(&["flyway", "clean"])
        || at(&["wp", "db", "reset"])
        || at(&["wp", "db", "drop"])
        || at(&["liquibase", "drop-all"])
        || at(&["liquibase", "dropAll"])
        || at(&["alembic", "downgrade", "base"])
        || at(&["knex", "migrate:rollback", "--all"])
        || at(&["database", "drop"]) && matches!(sight.program(), "sqlx" | "dbmate")
        || at(&["dbmate", "drop"])
        || at(&["diesel", "database", "reset"])
        || at(&["drizzle-kit", "drop"]);
    if (colon && runner) || pairs {
        report(sight, "This drops or rebuilds the framework's database.", hits);
    }
}

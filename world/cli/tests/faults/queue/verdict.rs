//! What must be so when the dust has settled.

use std::collections::BTreeMap;
use testkit::Sandbox;

pub fn reach(sandbox: &Sandbox, tasks: usize) -> String {
    let checked = sandbox.taut(&["db", "check"], b"").unwrap();
    assert!(checked.success(), "{}{}", checked.stdout_text(), checked.stderr_text());
    let conn = rusqlite::Connection::open(sandbox.taut_home().join("taut.db")).unwrap();
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let mut stuck = conn.prepare("SELECT slug || ' is ' || status FROM tasks WHERE status <> 'done'").unwrap();
    let stuck: Vec<String> = stuck.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(stuck, Vec::<String>::new(), "every task is done");
    assert_eq!(count("SELECT count(*) FROM tasks"), tasks as i64);
    let twice =
        "SELECT count(*) FROM tasks WHERE (SELECT count(*) FROM attempts WHERE task = row AND outcome = 'done') <> 1";
    assert_eq!(count(twice), 0, "each by exactly one attempt");
    let foreign = "SELECT count(*) FROM tasks JOIN attempts ON task = row AND outcome = 'done'
        WHERE json_extract(result, '$.commit') <> slug || '#' || number";
    assert_eq!(count(foreign), 0, "each with the result of that very attempt");
    let accepted = accepted(sandbox);
    for (slug, attempt) in &accepted {
        let stored: i64 = conn
            .query_row(
                "SELECT number FROM attempts JOIN tasks ON row = task WHERE slug = ?1 AND outcome = 'done'",
                [slug],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(stored, *attempt, "{slug} was acknowledged to another attempt");
    }
    let expired = count("SELECT count(*) FROM attempts WHERE outcome = 'expired'");
    let attempts = count("SELECT count(*) FROM attempts");
    format!("{attempts} attempts, {expired} lapsed, {} acknowledged", accepted.len())
}

/// What workers were told is done, at most once for each task.
fn accepted(sandbox: &Sandbox) -> BTreeMap<String, i64> {
    let text = std::fs::read_to_string(sandbox.root().join("accepted")).unwrap_or_default();
    let mut accepted = BTreeMap::new();
    for line in text.lines() {
        let (slug, attempt) = line.split_once(' ').unwrap();
        assert!(accepted.insert(slug.to_string(), attempt.parse().unwrap()).is_none(), "{slug} was accepted twice");
    }
    accepted
}

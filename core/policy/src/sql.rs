//! SQL as far as the guard needs it: which statements destroy data.

use crate::test_database::is_test_name;

/// What a text of SQL would destroy, in its own words; `None` when nothing.
pub(crate) fn destroys(text: &str) -> Option<String> {
    let plain = without_comments_and_strings(text);
    plain.split(';').find_map(statement).or_else(|| executed(text))
}

/// `EXECUTE 'DROP TABLE x'`: a text that is run as a statement.
fn executed(text: &str) -> Option<String> {
    let upper = text.to_ascii_uppercase();
    upper.split("EXECUTE").skip(1).find_map(|rest| {
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        let rest = rest.strip_prefix("IMMEDIATE").unwrap_or(rest).trim_start();
        let rest = rest.strip_prefix("FORMAT(").unwrap_or(rest).trim_start();
        let inner = rest.strip_prefix('\'')?.split('\'').next()?;
        statement(inner)
    })
}

/// The same, where the client works on a database for tests (`in_tests`), or at least on this machine (`here`).
pub(crate) fn destroys_beyond(text: &str, in_tests: bool, here: bool) -> Option<String> {
    let bare: String = text.chars().filter(|c| !matches!(c, '"' | '`')).collect();
    // `\\c app` and `USE app` go on in another database.
    let leaves = |part: &str| {
        let mut words = part.split_whitespace();
        matches!(words.next(), Some("\\c" | "\\connect" | "USE" | "use" | "Use"))
            && !words.next().is_some_and(is_test_name)
    };
    let in_tests = in_tests && !bare.split([';', '\n']).any(leaves);
    if !in_tests && !here {
        return destroys(text);
    }
    let plain = without_comments_and_strings(&bare);
    plain
        .split(';')
        .filter(|part| !dropped(part).map_or(in_tests, |name| here && is_test_name(name)))
        .find_map(statement)
        .or_else(|| executed(text).filter(|_| !in_tests))
}

/// The database that a statement drops as a whole.
fn dropped(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let drops = words.next()?.eq_ignore_ascii_case("drop") && words.next()?.eq_ignore_ascii_case("database");
    words.find(|word| !["if", "exists"].iter().any(|kind| word.eq_ignore_ascii_case(kind))).filter(|_| drops)
}

fn statement(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','))
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
        .collect();
    let word = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let destroys = match word(0) {
        "DROP" => {
            let what = if matches!(word(1), "TEMPORARY" | "TEMP") { return None } else { word(1) };
            matches!(
                what,
                "TABLE"
                    | "DATABASE"
                    | "SCHEMA"
                    | "VIEW"
                    | "INDEX"
                    | "COLUMN"
                    | "KEYSPACE"
                    | "COLLECTION"
                    | "USER"
                    | "ROLE"
                    | "SEQUENCE"
                    | "TYPE"
                    | "MATERIALIZED"
                    | "FUNCTION"
                    | "OWNED"
                    | "TABLESPACE"
                    | "EXTENSION"
                    | "TRIGGER"
            )
        }
        "TRUNCATE" => !word(1).is_empty(),
        "DELETE" => (word(1) == "FROM" || words.len() == 2) && !narrowed(&words),
        "UPDATE" => has("SET") && !narrowed(&words),
        "ALTER" => has("DROP") && matches!(word(1), "TABLE" | "DATABASE"),
        "FLUSHALL" | "FLUSHDB" => true,
        // A prompt word or another tool's command may stand before the statement.
        _ => return later(&words),
    };
    destroys.then(|| words.iter().take(4).cloned().collect::<Vec<_>>().join(" "))
}

/// Whether a WHERE narrows anything: `WHERE true` and `WHERE 1=1` do not.
fn narrowed(words: &[String]) -> bool {
    let Some(at) = words.iter().position(|word| word == "WHERE") else { return false };
    let rest = words.get(at + 1..).unwrap_or_default().concat();
    !matches!(rest.as_str(), "" | "TRUE" | "1=1" | "1" | "''=''")
}

/// `BEGIN TRANSACTION DROP TABLE x`, `USE db DROP …`: the statement stands behind others.
fn later(words: &[String]) -> Option<String> {
    let first = words.first().map(String::as_str).unwrap_or_default();
    // `WITH gone AS (DELETE FROM a RETURNING *) SELECT …`
    let deletes = words.windows(2).position(|pair| matches!(pair, [verb, from] if verb == "DELETE" && from == "FROM"));
    if let Some(rest) = deletes.filter(|_| first == "WITH").and_then(|at| words.get(at..))
        && !narrowed(rest)
    {
        return Some("DELETE FROM".to_string());
    }
    let at = words.iter().position(|word| word == "DROP" || word == "TRUNCATE")?;
    let kind = words.get(at + 1).map(String::as_str).unwrap_or_default();
    (matches!(first, "BEGIN" | "USE" | "WITH" | "DO" | "SET" | "IF" | "GO" | "START")
        && matches!(kind, "TABLE" | "DATABASE" | "SCHEMA"))
    .then(|| format!("{} {kind}", words.get(at).map(String::as_str).unwrap_or_default()))
}

/// Comments and quoted values say nothing about what a statement does.
fn without_comments_and_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '-' if chars.peek() == Some(&'-') => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
                out.push(' ');
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                // `/*!50000 DROP … */`: MySQL and MariaDB run what stands in such a comment.
                if matches!(chars.peek(), Some('!' | 'M')) {
                    while chars.next_if(|c| c.is_ascii_digit() || matches!(c, '!' | 'M')).is_some() {}
                    out.push(' ');
                    continue;
                }
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                out.push(' ');
            }
            '\'' => {
                for c in chars.by_ref() {
                    if c == '\'' {
                        break;
                    }
                }
                out.push_str("''");
            }
            // The end of a comment that was run.
            '*' if chars.next_if_eq(&'/').is_some() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::destroys;

    #[test]
    fn statements_that_destroy_are_told_from_look_alikes() {
        for text in [
            "drop table users",
            "DELETE FROM users;",
            "select 1; TRUNCATE TABLE a",
            "/* x */ DROP DATABASE d",
            "update a set b = 'where'",
            "delete from a where 1 = 1",
            "alter table a drop column b",
            "with gone as (delete from a returning *) select * from gone",
            "IF OBJECT_ID('a') IS NOT NULL DROP TABLE a",
        ] {
            assert!(destroys(text).is_some(), "{text}");
        }
        for text in [
            "select * from drops",
            "DELETE FROM a WHERE id = 1",
            "insert into a values ('drop table users')",
            "-- drop table x\nselect 1",
            "update a set b = 1 where c = 2",
            "create table truncate_log (id int)",
            "select 'a; drop table b'",
            "with old as (delete from a where id < 9 returning id) select * from old",
        ] {
            assert!(destroys(text).is_none(), "{text}");
        }
    }
}

//! Database clients that take statements from files: each is reported as the same client given that statement.

use std::sync::Arc;

use crate::files::{KnownFile, WantedFile};
use crate::reading::{Command, Via, Word};
use crate::walk::{Place, Walker};

/// Where one client takes statements from.
struct Client {
    name: &'static str,
    /// Options whose value is a file of statements.
    files: &'static [&'static str],
    /// Other options that take a value.
    valued: &'static [&'static str],
    statements: Statements,
}

/// What its files hold.
#[derive(Clone, Copy, PartialEq)]
enum Statements {
    Sql,
    /// One command on each line.
    Lines,
    /// The client's own script; it is an operand.
    Script,
}

const fn sql(name: &'static str, files: &'static [&'static str], valued: &'static [&'static str]) -> Client {
    Client { name, files, valued, statements: Statements::Sql }
}

const PSQL: &[&str] = &["-d", "-h", "-p", "-U", "-v", "-c", "--dbname", "--host", "--port", "--username", "--command"];
const MYSQL: &[&str] = &["-h", "-P", "-u", "-e", "-D", "--host", "--port", "--user", "--execute", "--database"];
const MONGO: &[&str] = &["--eval", "--host", "--port", "-u", "-p", "--username", "--password"];
const REDIS: &[&str] = &["-h", "-p", "-a", "-n", "-u", "-s", "--user", "--pass"];

const CLIENTS: &[Client] = &[
    sql("psql", &["-f", "--file"], PSQL),
    sql("pgcli", &["-f", "--file"], PSQL),
    sql("usql", &["-f", "--file"], PSQL),
    sql("cockroach", &["-f", "--file"], &["--url", "--host", "-e", "-d", "--database"]),
    sql("mysql", &["--init-command-file"], MYSQL),
    sql("mariadb", &[], MYSQL),
    sql("mycli", &[], MYSQL),
    sql("sqlite3", &["-init"], &["-cmd", "-separator", "-newline", "-nullvalue"]),
    sql("sqlite", &["-init"], &["-separator", "-nullvalue"]),
    sql("duckdb", &["-init", "-f"], &["-c", "-s", "-cmd"]),
    sql("sqlcmd", &["-i", "--input-file"], &["-S", "-U", "-P", "-d", "-Q", "-q"]),
    sql("osql", &["-i"], &["-S", "-U", "-P", "-d", "-Q", "-q"]),
    sql("cqlsh", &["-f", "--file"], &["-u", "-p", "-k", "-e"]),
    sql("clickhouse-client", &["--queries-file"], &["--host", "--user", "--query", "-q"]),
    sql("clickhouse", &["--queries-file"], &["--host", "--user", "--query", "-q"]),
    sql("snowsql", &["-f", "--filename"], &["-a", "-u", "-q", "-d"]),
    sql("trino", &["-f", "--file"], &["--server", "--catalog", "--schema", "--execute"]),
    sql("isql", &["-i"], &["-u", "-p"]),
    Client { name: "redis-cli", files: &[], valued: REDIS, statements: Statements::Lines },
    Client { name: "valkey-cli", files: &[], valued: REDIS, statements: Statements::Lines },
    Client { name: "keydb-cli", files: &[], valued: REDIS, statements: Statements::Lines },
    Client { name: "mongosh", files: &["-f", "--file"], valued: MONGO, statements: Statements::Script },
    Client { name: "mongo", files: &["-f", "--file"], valued: MONGO, statements: Statements::Script },
];

/// How many statements of one file are reported.
const MOST: usize = 2_000;
/// Commands of clients that read a file, and those that give the rest of the line to a shell.
const INCLUDES: &[&str] = &[".read ", "\\i ", "\\ir ", "\\include ", "\\. ", "source ", "SOURCE ", ":r "];
const ESCAPES: &[&str] = &["\\!", ".shell ", ".system ", "system ", "!!"];

impl Walker {
    /// Looks into the files a database client is given; `false` when `name` is none.
    pub(super) fn open_database(&mut self, name: &str, command: &Command, place: &Place) -> bool {
        let Some(client) = CLIENTS.iter().find(|client| client.name == name) else { return false };
        let given = Given::of(client, command.args());
        let mut files: Vec<Arc<KnownFile>> = given.files.iter().filter_map(|file| self.file_named(file)).collect();
        files.extend(self.fed_files(place));
        for text in &given.texts {
            if let Some(path) = included(text) {
                files.extend(self.file_named(&Word::text(path)));
            }
        }
        let mut words = vec![Word::text(name)];
        // Where the database is a file, which one it is decides.
        words.extend(given.database);
        for file in files {
            self.statements(client, &file, &words, place);
        }
        true
    }

    /// Every statement of a file as a command of its own.
    fn statements(&mut self, client: &Client, file: &KnownFile, words: &[Word], place: &Place) {
        let mut included_files = Vec::new();
        self.in_code_file(file, place, |walker, text, here| {
            let statements = match client.statements {
                Statements::Lines => lines(text),
                Statements::Script => split(text, "//"),
                Statements::Sql => split(text, "--"),
            };
            for (line, statement) in statements.into_iter().take(MOST) {
                walker.at_own_line(line);
                if let Some(path) = included(statement) {
                    included_files.push((path.to_string(), here.clone()));
                    continue;
                }
                if let Some(text) = ESCAPES.iter().find_map(|escape| statement.strip_prefix(escape)) {
                    walker.inner_text(text, Via::Shell(client.name.to_string()), here);
                    continue;
                }
                let mut words = words.to_vec();
                match client.statements {
                    Statements::Lines => words.extend(statement.split_whitespace().map(Word::text)),
                    _ => words.push(Word { quoted: true, ..Word::text(statement) }),
                }
                let command = walker.command(words, here);
                walker.report(command);
            }
        });
        for (path, here) in included_files {
            // Seen from the file that names it, and where that is not there, from the folder of the line.
            if let Some(found) = self.scope.resolve(&path).and_then(|path| self.file(&WantedFile::At(path))) {
                self.statements(client, &found, words, &here);
            }
        }
    }
}

/// What a client's words give it.
#[derive(Default)]
struct Given {
    files: Vec<Word>,
    /// Statements that stand in the words themselves.
    texts: Vec<String>,
    database: Option<Word>,
}

impl Given {
    fn of(client: &Client, args: &[Word]) -> Self {
        let mut out = Self::default();
        let mut rest = args;
        while let Some((word, tail)) = rest.split_first() {
            rest = tail;
            let text = word.shown();
            let attached = client.files.iter().find_map(|option| {
                let value = text.strip_prefix(option).filter(|value| !value.is_empty())?;
                if option.starts_with("--") { value.strip_prefix('=') } else { Some(value) }
            });
            if client.files.contains(&text.as_str()) {
                out.files.extend(tail.first().cloned());
                rest = tail.get(1..).unwrap_or_default();
            } else if client.files.contains(&"-f") && is_cluster(&text) {
                // `psql -1f x.sql`
                out.files.extend(tail.first().cloned());
                rest = tail.get(1..).unwrap_or_default();
            } else if let Some(file) = attached.filter(|_| text.starts_with('-')) {
                out.files.push(Word::text(file));
            } else if client.valued.contains(&text.as_str()) {
                out.texts.extend(tail.first().map(Word::shown).filter(|value| value.contains(' ')));
                rest = tail.get(1..).unwrap_or_default();
            } else if !text.starts_with('-') || word.quoted {
                out.operand(client, word, text);
            }
        }
        out
    }

    fn operand(&mut self, client: &Client, word: &Word, text: String) {
        let script = client.statements == Statements::Script && (text.ends_with(".js") || text.ends_with(".mongodb"));
        if script {
            self.files.push(word.clone());
        } else if text.contains(' ') {
            self.texts.push(text);
        } else if self.database.is_none() && matches!(client.name, "sqlite3" | "sqlite" | "duckdb") {
            self.database = Some(word.clone());
        } else if client.statements == Statements::Lines {
            self.texts.push(text);
        }
    }
}

/// Letters that take nothing, and then `f`: `-1f`, `-qAtXf`.
fn is_cluster(text: &str) -> bool {
    let letters = text.strip_prefix('-').and_then(|text| text.strip_suffix('f')).unwrap_or_default();
    !letters.is_empty() && letters.chars().all(|c| "1aAbeEHlLnqsStxXz".contains(c))
}

/// The file that a client is told to read.
fn included(statement: &str) -> Option<&str> {
    let path = INCLUDES.iter().find_map(|include| statement.trim_start().strip_prefix(include))?;
    let path = path.trim().trim_end_matches(';').trim_matches(['\'', '"']);
    (!path.is_empty() && !path.contains([' ', '\n'])).then_some(path)
}

/// The lines of a text, counted.
fn lines(text: &str) -> Vec<(usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, line)| !line.is_empty()).collect()
}

/// The statements of a text of SQL with the lines they begin on. Comments before a statement are not of it.
fn split<'t>(text: &'t str, comment: &str) -> Vec<(usize, &'t str)> {
    let mut out = Vec::new();
    let (mut line, mut start) = (1, None);
    let mut rest = text;
    let offset = |rest: &str| text.len() - rest.len();
    let piece = |start: usize, end: usize| text.get(start..end).unwrap_or_default().trim();
    while let Some(c) = rest.chars().next() {
        let length = if start.is_none() && rest.starts_with(['\\', '.', '!']) {
            // A command of the client ends with its line.
            out.push((line, rest.lines().next().unwrap_or_default().trim()));
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with(comment) || (start.is_none() && c == '#') {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == ';' {
            if let Some((begun, at)) = start.take() {
                out.push((begun, piece(at, offset(rest))));
            }
            1
        } else {
            if start.is_none() && !c.is_whitespace() {
                start = Some((line, offset(rest)));
            }
            quoted(rest).unwrap_or(c.len_utf8())
        };
        let taken = rest.get(..length.max(1)).unwrap_or(rest);
        line += taken.matches('\n').count();
        rest = rest.get(taken.len()..).unwrap_or_default();
    }
    if let Some((begun, at)) = start {
        out.push((begun, piece(at, text.len())));
    }
    out
}

/// How long what is quoted here is: `'…'`, `"…"`, `$tag$…$tag$`.
fn quoted(rest: &str) -> Option<usize> {
    let quote = rest.chars().next()?;
    if matches!(quote, '\'' | '"' | '`') {
        return Some(rest.get(1..)?.find(quote).map_or(rest.len(), |end| end + 2));
    }
    let tag = rest.strip_prefix('$')?.split_once('$')?.0;
    if tag.len() > 32 || !tag.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
        return None;
    }
    let mark = rest.get(..tag.len() + 2)?;
    Some(rest.get(mark.len()..)?.find(mark).map_or(rest.len(), |end| end + 2 * mark.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_apart_and_counted() {
        let text = "-- a note; here\nSELECT 'a;b';\n\nDO $x$ begin; end $x$;\n/* two\nlines */ DROP TABLE a\n;\n\\i more.sql\nSELECT 1";
        let expected = [
            (2, "SELECT 'a;b'"),
            (4, "DO $x$ begin; end $x$"),
            (6, "DROP TABLE a"),
            (8, "\\i more.sql"),
            (9, "SELECT 1"),
        ];
        assert_eq!(split(text, "--"), expected);
    }

    #[test]
    fn a_file_is_named_by_the_clients_own_command() {
        assert_eq!(included(".read drop.sql"), Some("drop.sql"));
        assert_eq!(included("source 'drop.sql';"), Some("drop.sql"));
        assert_eq!(included("select source from x"), None);
    }
}

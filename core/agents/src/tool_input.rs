//! What a tool would run or write, read from the input of tools that no dialect knows by name: servers of tools, and
//! tools that are newer than this program.

use model::text::shell_word;
use model::tool::ToolSubject;
use serde_json::Value;

/// Fields that hold what a shell is to run.
const COMMANDS: &[&str] =
    &["command", "cmd", "shell_command", "shellCommand", "command_line", "commandLine", "commands", "bash_command"];

/// Fields that hold it where the tool's name says that it runs things.
const SCRIPTS: &[&str] = &["script", "code", "input", "line", "text"];

/// Fields that name the program that such a tool starts.
const PROGRAMS: &[&str] = &["program", "executable", "argv"];

/// Fields that say where it runs.
const FOLDERS: &[&str] =
    &["cwd", "workdir", "working_directory", "workingDirectory", "working_dir", "dir", "directory", "folder"];

/// Parts of the name of a server of a database or of its tool, and the fields that hold what it runs.
const DATABASES: &[&str] =
    &["sql", "database", "postgres", "mariadb", "duckdb", "supabase", "snowflake", "bigquery", "clickhouse", "neon"];
const STATEMENTS: &[&str] = &["sql", "query", "statement"];

/// Words of the name of a tool that removes files, and fields that say that they are not of this machine.
const REMOVERS: &[&str] = &["delete", "remove", "unlink", "rm", "rmdir"];
const REMOTE: &[&str] = &["repo", "repository", "owner", "bucket", "project_id", "projectId", "host", "server"];

/// Fields that hold the words behind the first.
const ARGUMENTS: &[&str] = &["args", "arguments", "argv"];

/// Parts of the name of a tool that runs commands.
const RUNNERS: &[&str] = &["shell", "bash", "exec", "terminal", "command", "powershell", "pwsh", "cmd", "ssh", "zsh"];

/// Words of the name of a tool that changes files, and the fields that say which.
const WRITERS: &[&str] = &[
    "write", "edit", "create", "append", "replace", "delete", "remove", "move", "rename", "patch", "insert", "save",
    "overwrite", "copy", "unlink", "rmdir",
];
const PATHS: &[&str] = &[
    "path", "file_path", "filePath", "file", "filename", "relative_path", "relativePath", "absolute_path",
    "destination", "dest", "new_path", "newPath", "source", "old_path", "target_file",
];

/// How the text of a tool is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandLanguage {
    Shell,
    PowerShell,
    JavaScript,
}

/// The line of a shell that does what `text` does in its own language.
pub fn shell_line(language: CommandLanguage, text: &str) -> String {
    match language {
        CommandLanguage::Shell => text.to_string(),
        CommandLanguage::PowerShell => format!("pwsh -Command {}", shell_word(text)),
        CommandLanguage::JavaScript => format!("node -e {}", shell_word(text)),
    }
}

/// What a tool of that name would run or write, as far as its input says so.
pub fn read(name: &str, input: &Value, subject: &mut ToolSubject) {
    let short = name.rsplit("__").next().unwrap_or(name).to_ascii_lowercase();
    let runs = RUNNERS.iter().any(|part| short.contains(part));
    let language = if short.contains("powershell") || short.contains("pwsh") {
        CommandLanguage::PowerShell
    } else {
        CommandLanguage::Shell
    };
    let scripts = if runs { SCRIPTS } else { &[] };
    let given = |field: &&&'static str| input.get(**field).is_some_and(|value| !value.is_null());
    let programs = if runs { PROGRAMS } else { &[] };
    if let Some(field) = COMMANDS.iter().chain(programs).chain(scripts).find(given) {
        match line(input, field) {
            // One bare word is the name of an action where the tool is no shell: `{"command": "navigate"}`.
            Some(text) if !runs && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') => {}
            Some(text) => subject.command = Some(in_folder(input, &shell_line(language, &text))),
            None if runs || input.get(*field).is_some_and(|value| value.is_array() || value.is_object()) => {
                subject.unread = Some(field);
            }
            None => {}
        }
    }
    let lower = name.to_ascii_lowercase();
    let statements = if DATABASES.iter().any(|part| lower.contains(part)) { STATEMENTS } else { &["sql"] };
    let statement = statements.iter().find_map(|field| input.get(*field)).and_then(Value::as_str);
    if let Some(statement) = statement.filter(|_| subject.command.is_none() && subject.unread.is_none()) {
        subject.command = Some(format!("psql -c {}", shell_word(statement)));
    }
    let words = |part: char| !part.is_ascii_alphanumeric();
    if file_lists(input).any(|list| list.len() > MOST_PATHS) {
        subject.unread = Some("paths");
    }
    if short.split(words).any(|word| WRITERS.contains(&word)) {
        for path in paths(input).filter(|path| !path.is_empty()) {
            if !subject.paths.iter().any(|known| known == path) {
                subject.paths.push(path.to_string());
            }
        }
        subject.writes = !subject.paths.is_empty();
    }
    let removes = short.split(words).any(|word| REMOVERS.contains(&word)) && subject.command.is_none();
    if removes && subject.unread.is_none() && !REMOTE.iter().any(|field| input.get(*field).is_some()) {
        let mut line = "rm -rf --".to_string();
        for path in paths(input).filter(|path| !path.is_empty()) {
            line = format!("{line} {}", place(path));
        }
        subject.command = subject.writes.then(|| in_folder(input, &line));
    }
}

/// The files that an input names: by one field, a list, a list of objects, or an address.
fn paths(input: &Value) -> impl Iterator<Item = &str> {
    let listed = file_lists(input).flatten().take(MOST_PATHS).flat_map(|item| {
        let named = PATHS.iter().filter_map(|field| item.get(*field)?.as_str());
        item.as_str().into_iter().chain(named)
    });
    let single = PATHS.iter().chain(&["uri", "file_uri"]).filter_map(|field| input.get(*field)?.as_str());
    let own = single.filter(|path| !path.contains("://") || path.starts_with("file://"));
    own.chain(listed).map(|path| path.strip_prefix("file://").unwrap_or(path))
}

fn file_lists(input: &Value) -> impl Iterator<Item = &Vec<Value>> {
    ["paths", "files", "file_paths", "filePaths"].iter().filter_map(|field| input.get(*field)?.as_array())
}

/// The same path as some agents take it: without blanks around it, without the sign of a mention before it, or as the
/// address that it is. Each of them is judged.
pub fn spellings(path: &str) -> Vec<String> {
    let trimmed = path.trim();
    let plain = trimmed.strip_prefix('@').unwrap_or(trimmed);
    let below = plain.strip_prefix('/').filter(|_| plain.len() < trimmed.len());
    let address = plain.strip_prefix("file://");
    let mut all = vec![path.to_string()];
    for other in [Some(trimmed), Some(plain), below, address].into_iter().flatten() {
        if !other.is_empty() && !all.iter().any(|known| known == other) {
            all.push(other.to_string());
        }
    }
    all
}

/// So many files of a list are judged; of a longer one nobody knows.
pub const MOST_PATHS: usize = 256;

/// The line, run in the folder that the input names for it.
fn in_folder(input: &Value, line: &str) -> String {
    line_in(FOLDERS.iter().find_map(|field| input.get(*field)?.as_str()).unwrap_or_default(), line)
}

/// The line, run in that folder; where it runs anyway if there is none.
pub fn line_in(folder: &str, line: &str) -> String {
    if folder.is_empty() { line.to_string() } else { format!("cd {}\n{line}", place(folder)) }
}

/// What a field of a known shell tool holds: a line, the words of one, or lines that run one after another.
pub fn lines(input: &Value, field: &str) -> Option<String> {
    match input.get(field)? {
        Value::String(line) => Some(line.clone()),
        Value::Array(items) if field == "commands" => Some(texts(items)?.join("\n")),
        Value::Array(items) => words(items),
        _ => None,
    }
}

/// A text, or texts below one another.
pub fn text_lines(input: &Value, field: &str) -> Option<String> {
    match input.get(field)? {
        Value::Array(items) => Some(texts(items)?.join("\n")),
        value => value.as_str().map(str::to_string),
    }
}

/// A path as a shell has to write it; the home's sign keeps its meaning.
fn place(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) if !rest.is_empty() => format!("~/{}", shell_word(rest)),
        _ if matches!(path, "~" | "~/") => path.to_string(),
        _ => shell_word(path),
    }
}

/// The line in a field: text, words, or several lines, with the words of another field behind.
fn line(input: &Value, field: &str) -> Option<String> {
    let mut line = match input.get(field)? {
        Value::String(text) => text.clone(),
        Value::Array(items) if field == "commands" => texts(items)?.join("\n"),
        Value::Array(items) => words(items)?,
        _ => return None,
    };
    let behind = ARGUMENTS.iter().filter(|name| **name != field);
    let more = behind.into_iter().find_map(|field| input.get(*field)).filter(|more| !more.is_null());
    match more {
        Some(Value::Array(items)) => line = format!("{line} {}", words(items)?),
        Some(Value::String(text)) => line = format!("{line} {text}"),
        _ => {}
    }
    Some(line)
}

fn texts(items: &[Value]) -> Option<Vec<&str>> {
    items.iter().map(Value::as_str).collect()
}

fn words(items: &[Value]) -> Option<String> {
    Some(texts(items)?.into_iter().map(shell_word).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_of(name: &str, input: Value) -> (Option<String>, Option<&'static str>) {
        let mut subject = ToolSubject::default();
        read(name, &input, &mut subject);
        (subject.command, subject.unread)
    }

    #[test]
    fn g8_a_servers_shell_is_read_by_any_of_its_fields() {
        for input in [
            json!({"command": "rm -rf x"}),
            json!({"cmd": "rm -rf x"}),
            json!({"shell_command": "rm -rf x"}),
            json!({"commandLine": "rm -rf x"}),
            json!({"command": ["rm", "-rf", "x"]}),
            json!({"commands": ["rm -rf x"]}),
            json!({"command": "rm", "args": ["-rf", "x"]}),
            json!({"cmd": "rm", "arguments": "-rf x"}),
        ] {
            assert_eq!(read_of("mcp__box__run", input.clone()), (Some("rm -rf x".into()), None), "{input}");
        }
        assert_eq!(read_of("mcp__box__shell", json!({"script": "rm x"})).0, Some("rm x".into()));
        assert_eq!(read_of("mcp__win__powershell", json!({"command": "ri x"})).0, Some("pwsh -Command 'ri x'".into()));
        assert_eq!(
            read_of("mcp__box__exec", json!({"command": ["sh", "-c", "it's"]})).0,
            Some("sh -c 'it'\\''s'".into())
        );
    }

    #[test]
    fn the_name_of_an_action_and_other_texts_are_no_commands() {
        for (name, input) in [
            ("mcp__browser__act", json!({"command": "navigate", "url": "x"})),
            ("mcp__editor__text", json!({"command": "create", "path": "a"})),
            ("mcp__browser__evaluate", json!({"script": "() => rm"})),
            ("mcp__x__search", json!({"query": "rm -rf x"})),
            ("mcp__x__act", json!({"command": null})),
        ] {
            assert_eq!(read_of(name, input.clone()), (None, None), "{name} {input}");
        }
        let object = read_of("mcp__x__act", json!({"command": {"program": "rm"}}));
        assert_eq!(object, (None, Some("command")), "what may be a command is asked about");
    }

    #[test]
    fn d5_a_shells_command_that_is_not_text_is_unread() {
        for input in [json!({"command": 42}), json!({"command": {"a": 1}}), json!({"command": ["rm", 1]})] {
            assert_eq!(read_of("mcp__box__execute_command", input.clone()), (None, Some("command")), "{input}");
        }
    }

    #[test]
    fn g8_a_servers_command_runs_in_the_folder_it_names() {
        for field in ["cwd", "workdir", "working_directory", "workingDirectory", "dir", "directory", "folder"] {
            let line = read_of("mcp__box__shell", json!({"command": "rm -rf .", field: "/home/dev"})).0;
            assert_eq!(line.as_deref(), Some("cd /home/dev\nrm -rf ."), "{field}");
        }
        assert_eq!(read_of("mcp__b__exec", json!({"cmd": "ls", "cwd": "~"})).0, Some("cd ~\nls".into()));
        assert_eq!(read_of("mcp__b__exec", json!({"cmd": "ls", "cwd": ""})).0, Some("ls".into()));
    }

    #[test]
    fn g8_a_servers_program_with_its_arguments_is_a_command() {
        for input in [
            json!({"program": "rm", "args": ["-rf", "x"]}),
            json!({"executable": "rm", "arguments": ["-rf", "x"]}),
            json!({"argv": ["rm", "-rf", "x"]}),
        ] {
            assert_eq!(read_of("mcp__box__exec", input.clone()).0, Some("rm -rf x".into()), "{input}");
            assert_eq!(read_of("mcp__tv__guide", input.clone()).0, None, "{input}");
        }
    }

    #[test]
    fn g1_a_servers_statement_is_what_a_client_of_its_database_would_run() {
        let line = read_of("mcp__postgres__query", json!({"query": "DROP TABLE users"})).0;
        assert_eq!(line.as_deref(), Some("psql -c 'DROP TABLE users'"));
        assert_eq!(read_of("mcp__x__run", json!({"sql": "x"})).0, Some("psql -c x".into()));
        assert_eq!(read_of("mcp__docs__query", json!({"query": "delete user"})).0, None);
    }

    #[test]
    fn g8_a_servers_tool_that_deletes_is_a_removal() {
        let line = |input: Value| read_of("mcp__fs__delete_path", input).0;
        assert_eq!(line(json!({"path": "~/a b"})).as_deref(), Some("rm -rf -- ~/'a b'"));
        assert_eq!(line(json!({"paths": ["a", "b"]})).as_deref(), Some("rm -rf -- a b"));
        assert_eq!(line(json!({"uri": "file:///a"})).as_deref(), Some("rm -rf -- /a"));
        assert_eq!(line(json!({"files": [{"path": "/a"}]})).as_deref(), Some("rm -rf -- /a"));
        assert_eq!(line(json!({"path": "src", "repo": "x"})), None, "files of a forge are not of this machine");
        assert_eq!(line(json!({"id": "7"})), None);
    }

    #[test]
    fn g8_a_servers_tool_that_writes_names_its_files() {
        let writes = |name: &str, input: Value| {
            let mut subject = ToolSubject::default();
            read(name, &input, &mut subject);
            subject.writes.then_some(subject.paths)
        };
        assert_eq!(writes("mcp__fs__write_file", json!({"path": "/a"})), Some(vec!["/a".into()]));
        assert_eq!(
            writes("mcp__fs__move_file", json!({"source": "/a", "destination": "/b"})).map(|paths| paths.len()),
            Some(2)
        );
        assert_eq!(writes("mcp__fs__read_file", json!({"path": "/a"})), None);
        assert_eq!(writes("mcp__fs__create_issue", json!({"title": "a"})), None);
    }
}

//! Databases that are made for tests: what is lost with them is made again by the next run.

use crate::args::{Args, Grammar, text};
use crate::place::Machine;
use crate::rule::RuleInput;
use crate::rules::is_local_host;
use bash::Word;

/// Whether a name says that what has it is there for tests: `app_test`, `test-users`, `ci`.
pub(crate) fn is_test_name(name: &str) -> bool {
    let name = name.trim_matches(['"', '`', '\'', '*', '%']).to_ascii_lowercase();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', '-']);
    let mut parts = name.split(['_', '-', '.']);
    let tests =
        |part: &str| matches!(part, "test" | "tests" | "testing" | "testdb" | "ci" | "tmp" | "temp" | "scratch");
    parts.next().is_some_and(tests) || parts.next_back().is_some_and(tests)
}

const PSQL: Grammar = Grammar {
    short: "cdfhopPRTUvFLgiD",
    long: &[
        "dbname", "host", "command", "file", "port", "username", "set", "variable", "database", "maintenance-db",
        "output",
    ],
    single_dash_long: false,
};
const MYSQL: Grammar = Grammar {
    short: "eDhPuS",
    long: &["execute", "database", "host", "port", "user", "socket", "protocol", "defaults-file", "init-command"],
    single_dash_long: false,
};

/// The databases that a client is told to work on, where they stand on this machine as far as the line says.
pub(crate) fn local_databases(sight: &RuleInput<'_>) -> Option<Vec<String>> {
    let mysql = sight.program().starts_with("my") || sight.program().starts_with("maria");
    // `-psecret`: the letters behind are a password.
    let words: Vec<Word> =
        sight.command.args().iter().filter(|word| !(mysql && text(word).starts_with("-p"))).cloned().collect();
    let args = Args::parse(&words, if mysql { MYSQL } else { PSQL });
    let hosts = args.values("h").chain(args.values("host"));
    let set = |name: &str| matches!(name, "PGHOST" | "PGHOSTADDR" | "MYSQL_HOST" | "PGSERVICE" | "DATABASE_URL");
    let around = sight.assignments().filter(|(name, _)| set(name)).map(|(_, word)| word.shown());
    let mut named: Vec<String> =
        ["d", "dbname", "D", "database"].iter().flat_map(|name| args.values(name)).map(str::to_string).collect();
    let operands: Vec<String> = args.operands.iter().map(|word| text(word).into_owned()).collect();
    match sight.program() {
        "mysqladmin" | "mariadb-admin" => {
            named.extend(operands.iter().skip_while(|word| *word != "drop").nth(1).cloned())
        }
        _ if named.is_empty() => named.extend(operands.first().cloned()),
        _ => {}
    }
    let mut hosts: Vec<String> = hosts.map(str::to_string).chain(around).collect();
    let names = named.iter().filter_map(|name| database(name, &mut hosts)).collect();
    let here =
        sight.seen.machine != Machine::Other && hosts.iter().all(|host| host.starts_with('/') || is_local_host(host));
    here.then_some(names)
}

/// The name of a database; its host is put with the others where an address or a list of settings tells it.
fn database(name: &str, hosts: &mut Vec<String>) -> Option<String> {
    if let Some((_, rest)) = name.split_once("://") {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = authority.rsplit('@').next().unwrap_or(authority);
        hosts.push(host.split(':').next().unwrap_or(host).to_string());
        return path.split('?').next().map(str::to_string);
    }
    if !name.contains('=') {
        return Some(name.to_string());
    }
    let mut found = None;
    for (key, value) in name.split_whitespace().filter_map(|part| part.split_once('=')) {
        match key {
            "host" | "hostaddr" => hosts.push(value.to_string()),
            "dbname" => found = Some(value.to_string()),
            _ => {}
        }
    }
    found
}

/// Whether everything a client is told to work on is a database for tests on this machine.
pub(crate) fn only_tests(sight: &RuleInput<'_>) -> bool {
    local_databases(sight).is_some_and(|names| !names.is_empty() && names.iter().all(|name| is_test_name(name)))
}

#[cfg(test)]
mod tests {
    use super::is_test_name;

    #[test]
    fn a_name_is_a_tests_by_its_first_or_last_part() {
        for name in
            ["test", "app_test", "test-users", "myapp_test_2", "APP_TEST", "ci", "app-ci", "test*", "`app_test`"]
        {
            assert!(is_test_name(name), "{name}");
        }
        for name in ["latest", "contest", "app", "attest_prod", "protest", "app_production", "", "tester"] {
            assert!(!is_test_name(name), "{name}");
        }
    }
}

//! What a line runs from files, where their text is known.

use crate::common::{read, read_with, runs_with};
use bash::{KnownContent, KnownFile, WantedFile};
use std::sync::Arc;

const CLEAN: &str = "#!/bin/sh\n# tidy up\nrm -rf ~\n";

#[test]
fn g12_a_file_that_is_run_is_wanted_until_it_is_known() {
    let wanted = [WantedFile::At("/srv/app/clean.sh".to_string())];
    assert_eq!(read("bash clean.sh").wants, wanted);
    assert!(read_with("bash clean.sh", &[("/srv/app/clean.sh", CLEAN)]).wants.is_empty());
    assert!(read("ls -la; git status; echo clean.sh").wants.is_empty());
}

#[test]
fn g12_what_a_script_runs_stands_in_its_file_on_its_line() {
    let files = [("/srv/app/clean.sh", CLEAN)];
    for line in ["bash clean.sh", "sh -x ./clean.sh", "source clean.sh", ". ./clean.sh", "cd /; bash /srv/app/clean.sh"]
    {
        let reading = read_with(line, &files);
        let found = reading.commands.iter().find(|command| command.program().as_deref() == Some("rm"));
        let place = found.and_then(|command| command.file()).map(|(path, line)| (path.to_string(), line));
        assert_eq!(place, Some(("/srv/app/clean.sh".to_string(), 3)), "{line}");
    }
}

#[test]
fn g12_a_script_that_runs_itself_or_another_ends() {
    let files = [("/srv/app/a.sh", "bash b.sh\nls a"), ("/srv/app/b.sh", "bash a.sh\nls b")];
    let ran = runs_with("bash a.sh", &files);
    assert_eq!(ran, ["bash a.sh", "bash b.sh", "bash a.sh", "ls b", "ls a"]);
}

/// What runs from a file on each of these lines; the file is `/srv/app/x`, with this text.
fn reaches(text: &str, program: &str, lines: &[&str]) {
    for line in lines {
        let reading = read_with(line, &[("/srv/app/x", text)]);
        let found = reading.commands.iter().find(|command| command.program().as_deref() == Some(program));
        let file = found.and_then(|command| command.file()).map(|(path, _)| path.to_string());
        let ran: Vec<String> = reading.commands.iter().map(crate::common::shown).collect();
        assert_eq!(file.as_deref(), Some("/srv/app/x"), "{line:?} runs {ran:?} and wants {:?}", reading.wants);
    }
}

#[test]
fn g12_a_shell_script_is_read_however_it_is_run() {
    reaches(
        "#!/bin/sh\nrm -rf ~\n",
        "rm",
        &[
            "bash x", "sh ./x", "zsh x", "dash x", "ksh x", "fish x", "bash -eux x", "bash -o pipefail x",
            "bash --norc x", "./x", "/srv/app/x", "../app/x", "source x", ". ./x", ". /srv/app/x", "bash < x",
            "< x bash", "bash -s < x", "bash -s -- arg < x", "sh - < x", "cat x | sh", "cat x | sudo bash",
            "cat < x | sh", "head -n 5 x | sh", "tail -n +2 x | bash", "sed 's/a/b/' x | sh",
            "grep -v foo x | bash -x", "cat x | tr -d '\\r' | sh", "bash <(cat x)", "source <(cat x)",
            "eval \"$(cat x)\"", "eval \"$(<x)\"", "sh -c \"$(cat x)\"", "eval `cat x`", "exec ./x", "exec bash x",
            "sudo ./x", "sudo -u bob bash x", "env A=1 ./x", "env bash x", "time ./x", "nohup ./x &", "timeout 5 ./x",
            "nice -n 5 ./x", "setsid bash x", "echo a | xargs ./x", "xargs -n1 bash x", "find . -exec ./x {} \\;",
            "command ./x", "builtin source x", "cd /srv && bash app/x", "cd .. && app/x", "chmod +x x && ./x",
            "(cd /srv/app; ./x)", "if true; then ./x; fi", "for i in 1 2; do ./x $i; done", "true && ./x || echo no",
            "A=x; bash $A", "bash ./x a b c", "watch ./x", "bash -c ./x", "bash -c 'source x'", "stdbuf -oL ./x",
            "script -qc ./x /dev/null", "ssh host 'bash -s' < x", "ssh host bash < x", "docker exec -i box sh < x",
            "bash -c \"$(cat x)\"", "while true; do ./x; done", "yes | ./x",
        ],
    );
}

#[test]
fn g12_the_first_line_says_what_a_program_is_read_as() {
    let removes = "import shutil\nshutil.rmtree('/home/ann')\n";
    for first in
        ["#!/usr/bin/env python3", "#!/usr/bin/python3 -u", "#!/usr/bin/env -S python3 -u", "#! /usr/bin/env python"]
    {
        reaches(&format!("{first}\n{removes}"), "rm", &["./x", "sudo ./x", "/srv/app/x a b"]);
    }
    reaches("#!/usr/bin/env node\nrequire('fs').rmSync('/home/ann', {recursive: true})\n", "rm", &["./x"]);
    reaches("#!/usr/bin/perl\nsystem('rm -rf /home/ann');\n", "rm", &["./x"]);
    reaches("#!/usr/bin/env ruby\nsystem('rm -rf /home/ann')\n", "rm", &["./x"]);
    reaches("#!/usr/bin/env php\n<?php system('rm -rf /home/ann');\n", "rm", &["./x"]);
    reaches("rm -rf ~\n", "rm", &["./x"]);
}

#[test]
fn g12_code_of_other_languages_is_read_and_counted() {
    let files: &[(&str, &str, &[&str])] = &[
        (
            "/srv/app/x.py",
            "import shutil\n\nshutil.rmtree('/home/ann')\n",
            &[
                "python x.py", "python3 ./x.py a", "python3.12 -u x.py", "python -m x", "python3 < x.py",
                "cat x.py | python3", "python3 - < x.py", "uv run x.py", "uv run python x.py",
                "poetry run python x.py",
            ],
        ),
        (
            "/srv/app/x.ts",
            "import fs from 'fs'\n\nfs.rmSync('/home/ann', { recursive: true })\n",
            &[
                "node x.ts", "tsx x.ts", "npx tsx x.ts", "ts-node x.ts", "deno run -A x.ts", "bun x.ts",
                "bun run x.ts", "node --import tsx x.ts", "node < x.ts",
            ],
        ),
        (
            "/srv/app/x.pl",
            "use strict;\n\nsystem('rm -rf /home/ann');\n",
            &["perl x.pl", "perl -w x.pl", "cat x.pl | perl"],
        ),
        (
            "/srv/app/x.rb",
            "require 'fileutils'\n\nFileUtils.rm_rf('/home/ann')\n",
            &["ruby x.rb", "bundle exec ruby x.rb"],
        ),
        ("/srv/app/x.php", "<?php\n\nsystem('rm -rf /home/ann');\n", &["php x.php", "php -f x.php"]),
    ];
    for (path, text, lines) in files {
        for line in *lines {
            let reading = read_with(line, &[(path, text)]);
            let found = reading.commands.iter().find(|command| command.program().as_deref() == Some("rm"));
            let place = found.and_then(|command| command.file()).map(|(path, line)| (path.to_string(), line));
            assert_eq!(place, Some(((*path).to_string(), 3)), "{line} wants {:?}", reading.wants);
        }
    }
}

#[test]
fn g12_a_script_knows_its_arguments_and_its_own_place() {
    let files = [
        ("/srv/app/bin/x", "rm -rf \"$1\""),
        ("/srv/app/bin/y", "cd \"$(dirname \"$0\")\"\nrm -rf out"),
        (
            "/srv/app/bin/z",
            "DIR=$( cd -- \"$( dirname -- \"${BASH_SOURCE[0]}\" )\" &> /dev/null && pwd )\nrm -rf \"$DIR/out\"",
        ),
        ("/srv/app/bin/w", "main() { rm -rf \"$1\"; }\nmain \"$@\""),
        ("/srv/app/bin/v", "HERE=\"$(dirname \"$(readlink -f \"$0\")\")\"; rm -rf \"$HERE/out\""),
        ("/srv/app/bin/u", "cd \"${0%/*}/..\" && rm -rf out"),
    ];
    let removes = |line: &str| {
        let reading = read_with(line, &files);
        let found = reading.commands.into_iter().find(|command| command.program().as_deref() == Some("rm")).unwrap();
        (crate::common::shown(&found), found.cwd.as_deref().unwrap_or_default().to_string())
    };
    let app = |words: &str| (words.to_string(), "/srv/app".to_string());
    assert_eq!(removes("bin/x ~"), app("rm -rf /home/ann"));
    assert_eq!(removes("bash bin/x 'a b'"), app("rm -rf a b"));
    assert_eq!(removes("bin/y"), ("rm -rf out".to_string(), "/srv/app/bin".to_string()));
    assert_eq!(removes("bash bin/z"), app("rm -rf /srv/app/bin/out"));
    assert_eq!(removes("source bin/z"), app("rm -rf /srv/app/bin/out"));
    assert_eq!(removes("bin/w ~"), app("rm -rf /home/ann"));
    assert_eq!(removes("bin/v"), app("rm -rf /srv/app/bin/out"));
    assert_eq!(removes("bin/u"), app("rm -rf out"));
}

#[test]
fn g12_statements_of_a_file_are_given_to_the_database_one_by_one() {
    let text = "-- reset\nBEGIN;\nDROP TABLE users;\n";
    for line in [
        "psql -f x.sql", "psql -fx.sql", "psql --file=x.sql app", "psql app < x.sql",
        "cat x.sql | psql \"host=h dbname=d\"", "psql -d app -c '\\i x.sql'", "mysql app < x.sql",
        "mysql -e 'source x.sql'", "cat x.sql | mysql -u root", "sqlite3 app.db < x.sql",
        "sqlite3 app.db '.read x.sql'", "sqlcmd -S h -i x.sql", "clickhouse-client --queries-file x.sql",
        "docker exec -i db psql -U u app < x.sql", "docker compose exec -T db psql < x.sql",
        "sudo -u postgres psql -f x.sql",
    ] {
        let reading = read_with(line, &[("/srv/app/x.sql", text)]);
        let is = |command: &&bash::Command| command.words.last().is_some_and(|word| word.shown() == "DROP TABLE users");
        let place = reading.commands.iter().find(is).and_then(|command| command.file()).map(|(_, line)| line);
        assert_eq!(
            place,
            Some(3),
            "{line} runs {:?}",
            reading.commands.iter().map(crate::common::shown).collect::<Vec<_>>()
        );
    }
}

#[test]
fn g12_nothing_is_wanted_for_a_line_that_runs_no_file() {
    for line in [
        "cat x.sh", "cp x.sh y.sh", "vim x.py", "git add x.sh", "grep rm x.sh", "bash -n x.sh", "/usr/bin/env ls",
        "/bin/rm -rf x", "python3 -c 'print(1)'", "python -m pytest", "echo './x.sh'", "bash -c 'ls'", "node -e '1'",
        "cat x | grep y", "psql -c 'select 1'", "chmod +x ./x.sh", "cat < x > y", "shellcheck x.sh", "ls ./bin/x",
        "printf 'a' | sh", "bash <<< 'ls'",
    ] {
        assert_eq!(read(line).wants, [], "{line}");
    }
}

#[test]
fn g12_what_a_file_holds_does_not_cost_the_line_its_reading() {
    let long = "echo a b c d e f g h\n".repeat(3_000);
    let reading = read_with("for i in 1 2 3 4 5 6 7 8 9; do bash x; done; rm -rf ~", &[("/srv/app/x", &long)]);
    assert!(!reading.cut);
    assert!(reading.commands.iter().any(|command| command.program().as_deref() == Some("rm")));
    let broken = read_with("bash x; ls", &[("/srv/app/x", "if then (((\nrm -rf ~")]);
    assert!(!broken.cut && broken.troubles.iter().all(|trouble| trouble.file.is_some()) && !broken.troubles.is_empty());
}

#[test]
fn g14_a_tool_that_the_line_copies_or_links_is_that_tool() {
    for line in [
        "cp /bin/rm x; ./x -rf ~", "cp \"$(which rm)\" x; ./x -rf ~", "cp $(command -v rm) ./x && ./x -rf ~",
        "ln -s /bin/rm x; ./x -rf ~", "ln -sf \"$(which rm)\" /tmp/x; /tmp/x -rf ~",
        "install -m 755 /usr/bin/rm x; ./x -rf ~", "cp /bin/rm x; mv x y; ./y -rf ~", "mv /bin/rm x; sudo ./x -rf ~",
        "cp /bin/rm x; PATH=.:$PATH x -rf ~", "cp -p /usr/bin/rm /srv/app/x; ../app/x -rf ~",
    ] {
        let ran: Vec<String> = read(line).commands.iter().map(crate::common::shown).collect();
        assert!(ran.iter().any(|command| command == "rm -rf /home/ann"), "{line} runs {ran:?}");
    }
    let ran: Vec<String> = read("cp a.txt x; ./x -rf ~").commands.iter().map(crate::common::shown).collect();
    assert!(ran.contains(&"./x -rf /home/ann".to_string()));
}

#[test]
fn g14_a_copy_of_a_tool_or_a_link_to_one_is_that_tool_in_a_later_call() {
    let read_as = |real: &str, content: KnownContent| {
        let file = KnownFile { path: "/srv/app/x".into(), real: real.into(), content };
        let files = Arc::new(vec![(WantedFile::At("/srv/app/x".into()), Arc::new(file))]);
        let reading = bash::read("./x -rf ~", &bash::Surroundings { files, ..crate::common::around() });
        crate::common::shown(&reading.commands[0])
    };
    assert_eq!(read_as("/srv/app/x", KnownContent::Program(Some("rm".into()))), "rm -rf /home/ann");
    assert_eq!(read_as("/usr/bin/rm", KnownContent::Program(None)), "rm -rf /home/ann");
    assert_eq!(read_as("/srv/app/target/x", KnownContent::Program(None)), "./x -rf /home/ann");
    assert_eq!(read_as("/bin/busybox", KnownContent::Program(None)), "./x -rf /home/ann");
}

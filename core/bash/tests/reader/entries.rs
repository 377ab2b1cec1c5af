//! What task runners run, where the files that list it are known.

use crate::common::{read, read_among, shown};

const PACKAGE: &str = "{\n  \"scripts\": {\n    \"nuke\": \"rm -rf ~\",\n    \"prenuke\": \"echo first\",\n    \
                       \"both\": \"npm run nuke && yarn both\",\n    \"all\": \"run-s nuke\",\n    \
                       \"each\": \"concurrently \\\"npm:nuke\\\" \\\"ls\\\"\",\n    \"postinstall\": \"rm -rf ~\"\n  },\n  \
                       \"workspaces\": [\"packages/*\"]\n}\n";

const FILES: &[(&str, &str)] = &[
    ("/srv/app/package.json", PACKAGE),
    ("/srv/app/packages/a/package.json", "{\"scripts\": {\"nuke\": \"rm -rf ~\"}}"),
    ("/srv/app/Makefile", "D = ~\nall:\n\techo hi\nnuke: gone\ngone:\n\trm -rf $(D)\nsub:\n\t$(MAKE) -C sub nuke\n"),
    ("/srv/app/sub/Makefile", "include ../x.mk\n"),
    ("/srv/app/x.mk", "nuke:\n\t@rm -rf ~\n"),
    ("/srv/app/justfile", "import 'more.just'\nhere := '~'\n\nnuke: (gone here)\n  echo\n"),
    ("/srv/app/more.just", "gone x:\n  rm -rf {{x}}\n"),
    ("/srv/app/Taskfile.yml", "tasks:\n  nuke:\n    cmds:\n      - rm -rf {{.D}}\n    vars: {D: '~'}\n"),
    ("/srv/app/.cargo/config.toml", "[alias]\nnuke = \"run -- x\"\nxtask = [\"nuke\"]\n"),
    (
        "/srv/app/pyproject.toml",
        "[tool.poe.tasks]\nnuke = \"rm -rf ~\"\n[tool.pdm.scripts]\nnuke = \"rm -rf ~\"\n[tool.rye.scripts]\nnuke = \"rm -rf ~\"\n\
         [tool.hatch.envs.default.scripts]\nnuke = \"rm -rf ~\"\n",
    ),
    (
        "/srv/app/composer.json",
        "{\"scripts\": {\"nuke\": [\"@gone\"], \"gone\": \"rm -rf ~\", \"post-install-cmd\": \"@gone\"}}",
    ),
    ("/srv/app/deno.json", "{\"tasks\": {\"nuke\": \"rm -rf ~\"}}"),
    ("/srv/app/mise.toml", "[tasks.nuke]\nrun = \"rm -rf ~\"\n"),
    ("/srv/app/Procfile", "nuke: rm -rf ~\n"),
    ("/srv/app/Rakefile", "task :nuke do\n  sh 'rm -rf ~'\nend\n"),
    ("/srv/app/.git/config", "[alias]\n\tnuke = !rm -rf ~\n\tgone = nuke\n\tfp = push --force\n"),
    ("/srv/app/.git/hooks/pre-commit", "#!/bin/sh\nrm -rf ~\n"),
    ("/srv/app/Pipfile", "[scripts]\nnuke = \"rm -rf ~\"\n"),
    ("/srv/app/pixi.toml", "[tasks]\nnuke = \"rm -rf ~\"\n"),
    ("/srv/app/Makefile.toml", "[tasks.nuke]\ncommand = \"rm\"\nargs = [\"-rf\", \"/home/ann\"]\n"),
    (
        "/srv/app/compose.yml",
        "services:\n  job:\n    image: alpine\n    volumes: ['/:/host']\n    command: rm -rf /host\n",
    ),
];

fn runs(line: &str) -> Vec<String> {
    read_among(line, FILES).commands.iter().map(shown).collect()
}

#[test]
fn g12_every_task_runner_gives_up_what_the_entry_runs() {
    for line in [
        "npm run nuke", "npm run-script nuke", "npm run nuke --silent", "npm run both", "npm run all", "npm run each",
        "npm install", "npm ci", "npm --prefix /srv/app run nuke", "cd / && npm run nuke --prefix /srv/app",
        "pnpm nuke", "pnpm run nuke", "pnpm -C /srv/app nuke", "yarn nuke", "yarn run nuke", "yarn",
        "yarn --cwd . nuke", "bun run nuke", "bun nuke", "node --run nuke", "npm run nuke -w a",
        "npm run nuke --workspace=packages/a", "pnpm --filter a nuke", "yarn workspace a nuke", "npx npm-run-all nuke",
        "sudo npm run nuke", "make nuke", "make -j4 nuke", "make gone", "make sub", "make -C sub nuke",
        "make -f x.mk nuke", "make -s gone D=~", "cd sub && make nuke", "just nuke", "just gone '~'",
        "just --justfile justfile nuke", "cd sub; just nuke", "task nuke", "task -t Taskfile.yml nuke", "poe nuke",
        "poetry run poe nuke", "pdm run nuke", "pdm nuke", "hatch run nuke", "hatch run default:nuke", "rye run nuke",
        "uv run poe nuke", "composer nuke", "composer run nuke", "composer run-script gone", "composer install",
        "deno task nuke", "mise run nuke", "foreman start nuke", "honcho start", "rake nuke", "bundle exec rake nuke",
        "git nuke", "git gone", "git -C sub nuke", "git commit -m x", "cd sub && git commit", "pipenv run nuke",
        "pixi run nuke", "cargo make nuke",
    ] {
        let ran = runs(line);
        assert!(ran.iter().any(|command| command == "rm -rf /home/ann"), "{line}: {ran:?}");
    }
}

#[test]
fn g12_aliases_and_services_are_the_commands_they_stand_for() {
    for (line, expected) in [
        ("cargo nuke", "cargo run -- x"),
        ("cargo xtask", "cargo run -- x"),
        ("git fp origin", "git push --force origin"),
        ("docker compose up -d", "rm -rf /host"),
        ("docker-compose -f compose.yml up job", "rm -rf /host"),
        ("docker compose run job ls /host", "ls /host"),
    ] {
        let ran = runs(line);
        assert!(ran.iter().any(|command| command == expected), "{line}: {ran:?}");
    }
}

#[test]
fn g12_what_is_not_asked_for_is_not_run() {
    for line in [
        "npm run", "npm test", "npm install left-pad", "npm install -g x", "npm ci --ignore-scripts", "npm nuke",
        "npm view nuke", "yarn add --ignore-scripts x", "bun x nuke", "make", "make all", "make -n nuke",
        "make --version", "just --list", "just -n nuke", "just --show nuke", "task --list", "task add nuke",
        "task --dry nuke", "poe", "composer show nuke", "deno run nuke", "mise ls", "cargo build", "git status",
        "git log nuke", "git commit --no-verify -m x", "git push", "rake -T", "docker compose ps",
        "docker compose logs job", "docker run alpine nuke", "echo npm run nuke", "ssh host 'npm run nuke'",
        "docker run x npm run nuke", "cd /tmp && make nuke",
    ] {
        let ran = runs(line);
        assert!(!ran.iter().any(|command| command.contains("rm -rf")), "{line}: {ran:?}");
    }
}

#[test]
fn g12_a_command_of_an_entry_knows_its_file_and_line_and_folder() {
    for (line, file, number, folder) in [
        ("npm run nuke", "/srv/app/package.json", 3, "/srv/app"),
        ("cd packages/a; npm run nuke", "/srv/app/packages/a/package.json", 1, "/srv/app/packages/a"),
        ("make nuke", "/srv/app/Makefile", 6, "/srv/app"),
        ("make sub", "/srv/app/x.mk", 2, "/srv/app/sub"),
        ("just nuke", "/srv/app/more.just", 2, "/srv/app"),
        ("cd sub/x; just nuke", "/srv/app/more.just", 2, "/srv/app"),
        ("task nuke", "/srv/app/Taskfile.yml", 4, "/srv/app"),
        ("git nuke", "/srv/app/.git/config", 2, "/srv/app"),
    ] {
        let reading = read_among(line, FILES);
        let found = reading.commands.iter().find(|command| shown(command) == "rm -rf /home/ann");
        let found = found.unwrap_or_else(|| panic!("{line}: {:?}", reading.commands));
        let place = found.file().map(|(path, line)| (path.to_string(), line));
        assert_eq!(place, Some((file.to_string(), number)), "{line}");
        assert_eq!(found.cwd.as_deref(), Some(folder), "{line}");
    }
}

#[test]
fn g12_files_that_the_line_writes_are_used_by_the_runner_it_starts() {
    let line = r#"echo '{"scripts": {"x": "rm -rf ~"}}' > package.json && npm run x"#;
    assert!(read(line).commands.iter().any(|command| shown(command) == "rm -rf /home/ann"));
    let line = "printf 'x:\\n\\trm -rf ~\\n' > Makefile && make x";
    assert!(read(line).commands.iter().any(|command| shown(command) == "rm -rf /home/ann"));
    let line = "printf 'x:\\n\\trm -rf ~\\n' | make -f - x; make --eval 'y:;rm -rf ~' y";
    assert_eq!(read(line).commands.iter().filter(|command| shown(command) == "rm -rf /home/ann").count(), 2);
}

#[test]
fn nothing_is_wanted_by_lines_that_run_no_entry() {
    for line in ["ls", "git status", "git diff", "cargo test", "npm view x", "docker ps", "node x.js", "bun test"] {
        let wants: Vec<_> = read(line).wants.into_iter().filter(|want| !format!("{want:?}").contains("x.js")).collect();
        assert!(wants.is_empty(), "{line}: {wants:?}");
    }
}

#[test]
fn entries_that_run_each_other_end() {
    let files = [
        (
            "/srv/app/package.json",
            "{\"scripts\": {\"a\": \"npm run b && npm run b; npm run a x\", \"b\": \"npm run a; npm run a\"}}",
        ),
        ("/srv/app/Makefile", "a:\n\tmake b; make b X=$(X)x\nb:\n\tmake a; make a X=$(X)x\n"),
        ("/srv/app/.git/config", "[alias]\na = b\nb = a\nc = !git c x\n"),
    ];
    for line in ["npm run a", "make a", "git a", "git c"] {
        let reading = read_among(line, &files);
        assert!(reading.commands.len() < 1000, "{line}: {}", reading.commands.len());
    }
}

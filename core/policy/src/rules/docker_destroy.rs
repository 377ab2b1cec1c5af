//! `docker-destroy`: removing containers, volumes and images for good.

use crate::calls::{Call, report};
use crate::rule::{Hit, Pack, Rule, RuleInput, RuleTrigger};
use model::RuleKind;

pub const RULE: Rule = Rule {
    id: "docker-destroy",
    pack: Pack::Infrastructure,
    kind: RuleKind::Ask,
    title: "Removing containers, volumes and images for good",
    doc: "Asks before Docker or Podman prunes, removes volumes (which hold data), removes several \
          containers by force, or takes a project down with its volumes. Stopping and removing stopped \
          containers and images passes.",
    instead: "Take it down and keep its data: `docker compose down`.",
    denies: &[
        "docker system prune -af", "docker volume rm data", "docker volume prune -f", "docker rm -fv web",
        "docker compose down -v", "docker-compose down --volumes", "podman system prune", "docker container prune",
        "docker image prune -a", "docker rm -f $(docker ps -aq)", "docker rmi -f $(docker images -q)",
        "docker swarm leave --force", "docker stack rm app", "docker rm $(docker ps -aq)",
        "docker kill $(docker ps -q)", "podman rm -af", "podman pod rm --all --force", "docker compose rm -fsv",
    ],
    passes: &[
        "docker ps", "docker run --rm -it alpine sh", "docker rm web", "docker rm -f web", "docker compose down",
        "docker build .", "docker stop web", "docker volume ls", "docker image ls", "docker exec web ls",
        "docker compose up -d", "docker rmi old:1", "docker rm -f \"$NAME\"",
        "docker rm $(docker ps -aq -f status=exited)",
    ],
    watch: RuleTrigger::Programs(&["docker", "podman", "docker-compose", "nerdctl", "podman-compose"]),
    judge,
};

fn judge(sight: &RuleInput<'_>, hits: &mut Vec<Hit>) {
    let mut call = Call::with(sight, "Hclfp");
    if sight.program().ends_with("-compose") {
        call.words.insert(0, "compose".into());
    }
    if call.word(0) == "container" && call.word(1) == "rm" {
        call.words.remove(0);
    }
    let args = sight.command.args();
    let cluster = |letter: char| {
        args.iter()
            .map(|word| crate::args::text(word))
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let force = cluster('f') || call.flag("force");
    let all = sight.program().starts_with("podman") && (cluster('a') || call.flag("all"));
    let volumes = cluster('v') || call.flag("volumes");
    let substituted = || args.iter().flat_map(|word| sight.parsed_call.substitutions.of(word));
    let stopped = match (call.word(0), call.word(1)) {
        // Build caches and dangling images come back by building.
        ("builder" | "buildx" | "network", "prune") => false,
        ("image", "prune") => cluster('a') || call.flag("all"),
        (_, "prune")
        | ("volume", "rm" | "remove")
        | ("swarm", "leave")
        | ("stack" | "service" | "secret" | "config", "rm") => true,
        ("rm", _) if !force && substituted().any(|reading| only_ended(&reading)) => false,
        ("rm", _) if substituted().any(|reading| !reading.commands.is_empty()) => true,
        // One named container is made to be thrown away; a search takes all there are.
        // Podman takes all of them at once.
        ("rm" | "volume" | "pod", _) if all && call.any(|word| matches!(word, "rm" | "remove")) => true,
        ("rm", _) => volumes || (force && (call.words.len() > 2 || args.iter().any(perhaps_many))),
        ("kill", _) => args.iter().any(bash::Word::has_unknown),
        ("rmi", _) | ("image", "rm") => force && args.iter().any(bash::Word::has_unknown),
        ("compose", "down") => (volumes || call.flag("rmi")) && !args.iter().any(is_for_tests),
        ("compose", "rm") => force && volumes,
        ("machine", "rm") | ("system", "reset") => true,
        _ => false,
    };
    if stopped && !call.only_looks() {
        report(sight, "This removes containers, volumes or images, with the data in them.", hits);
    }
}

/// `docker-compose.test.yml`, `-p ci`: what tests have started is made anew for each run.
fn is_for_tests(word: &bash::Word) -> bool {
    let shown = crate::args::text(word);
    let name = shown.rsplit(['/', '=']).next().unwrap_or(&shown);
    name.split(['.', '-', '_']).any(|part| matches!(part, "test" | "tests" | "testing" | "ci" | "e2e"))
}

/// What a search finds; a plain variable holds one name more often than many.
fn perhaps_many(word: &bash::Word) -> bool {
    let searched = |piece: &bash::WordPiece| matches!(piece, bash::WordPiece::Unknown(source) if !source.starts_with('$') || source.starts_with("$("));
    word.pieces.iter().any(searched)
}

/// `docker ps -aq -f status=exited`: containers that have run to their end.
fn only_ended(reading: &bash::Reading) -> bool {
    let ended = |word: &bash::Word| {
        ["status=exited", "status=created", "status=dead"].iter().any(|state| crate::args::text(word).ends_with(state))
    };
    reading.commands.first().is_some_and(|command| command.args().iter().any(ended))
}

//! What judging costs: a decision by size of the command, hostile lines by their length, and whole hooks.

use crate::home::BenchHome;
use crate::spawn::timed;
use crate::times::{Times, row};
use model::fact::Facts;
use policy::{Around, Circumstances, ParsedCall, Policy};
use std::hint::black_box;
use std::time::Instant;
use testkit::hostile::FAMILIES;

pub fn run(quick: bool) -> Result<(), String> {
    decisions(if quick { 50 } else { 500 });
    dense(if quick { 5 } else { 25 });
    nested(if quick { 3 } else { 15 });
    hostile(if quick { 1 } else { 5 });
    let house = crate::house()?;
    hooks(&house, if quick { 100 } else { 1_000 }).map_err(|error| error.to_string())
}

fn decisions(rounds: usize) {
    let policy = Policy::built_in();
    let around = Around { home: Some("/home/dev".into()), cwd: Some("/home/dev/acme".into()), ..Around::default() };
    println!("a decision, warm:");
    for size in [100, 200, 1_000, 10_000, 64_000] {
        for (name, line) in [("commands", commands(size)), ("prose", prose(size))] {
            let mut times = Times::default();
            for _ in 0..rounds {
                let begun = Instant::now();
                let parsed_call = ParsedCall::line(&line, Some("/home/dev/acme".into()), &around);
                black_box(policy::judge(&parsed_call, &policy, &Facts::default(), &Circumstances::default()));
                times.add(begun.elapsed());
            }
            println!(
                "  {:>6} bytes of {name:<9} p50 {:>9.1} µs   p99 {:>9.1} µs",
                line.len(),
                micros(times.p50()),
                micros(times.p99())
            );
        }
    }
}

/// 64 KB of one statement again and again, and of as many that are all different.
fn dense(rounds: usize) {
    const STATEMENTS: &[&str] = &[
        "rm -rf build@;", "cat x@ | grep y | head -5;", "x=@;", "git add src/a@.rs && git commit -m 'part @';",
        "echo \"a long text with $HOME in it, number @\";", "[ -f x@ ] && touch y@;",
    ];
    let policy = Policy::built_in();
    println!("64 KB of dense commands, all the same and all different:");
    for statement in STATEMENTS {
        let same = statement.replace('@', "1").repeat(64_000 / statement.len());
        let mut different = String::new();
        for nth in 0.. {
            different.push_str(&statement.replace('@', &format!("{nth}")));
            if different.len() > 64_000 {
                break;
            }
        }
        let [same, different] = [same, different].map(|line| fastest(&line, &policy, rounds) * 1e3);
        println!("  {same:>6.2} ms  {different:>6.2} ms  {statement}");
    }
}

/// Ten thousand levels beside a plain line of the same length.
fn nested(rounds: usize) {
    const LEVELS: usize = 10_000;
    const PAIRS: &[(&str, &str)] = &[
        ("$(", ")"),
        ("$(", ""),
        ("$(echo ", ")"),
        ("\"$(", ")\""),
        ("`", "`"),
        ("${x:-", "}"),
        ("<(", ")"),
        ("(", ")"),
        ("{ ", "; }"),
        ("$((", "))"),
        ("cat <<E\na\n", ""),
    ];
    let policy = Policy::built_in();
    println!("{LEVELS} levels, against a line of as many bytes of plain words:");
    for (open, close) in PAIRS {
        let line = format!("{}rm x{}", open.repeat(LEVELS), close.repeat(LEVELS));
        let words = format!("echo {}", "word ".repeat(line.len() / 5));
        let [time, plain] = [&line, &words].map(|line| fastest(line, &policy, rounds));
        println!("  {:>6.2} x  ({:>6.2} ms)  {open:?} {close:?}", time / plain, time * 1e3);
    }
}

/// Long lines of every hostile family beside a short one of the same: what a byte of them costs in times of its share.
fn hostile(rounds: usize) {
    const SIZES: [usize; 3] = [2 << 10, 24 << 10, 48 << 10];
    let policy = Policy::built_in();
    let mut rows: Vec<(f64, String)> = FAMILIES
        .iter()
        .map(|family| {
            let lines = SIZES.map(|size| (family.line)(size));
            // The short line is so quick that one disturbance would count as much as all of it.
            let [short, long, longer] = &lines;
            let base = fastest(short, &policy, rounds * 8) / short.len() as f64;
            let times = [fastest(long, &policy, rounds), fastest(longer, &policy, rounds)];
            let [first, second] = [times[0] / long.len() as f64 / base, times[1] / longer.len() as f64 / base];
            let row = format!("  {first:>6.2} x  {second:>6.2} x   ({:>7.2} ms)  {}", times[1] * 1e3, family.name);
            (first.max(second), row)
        })
        .collect();
    rows.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let above = rows.iter().filter(|(share, _)| *share > 2.0).count();
    println!(
        "hostile lines, 24 and 48 KB, each byte against one of 2 KB of the same family ({} families):",
        rows.len()
    );
    rows.iter().take(10).for_each(|(_, row)| println!("{row}"));
    println!("  {above} above twice their share; the worst is first");
}

/// The seconds of the fastest of some rounds.
fn fastest(line: &str, policy: &Policy, rounds: usize) -> f64 {
    let around = Around { home: Some("/home/dev".into()), ..Around::default() };
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let begun = Instant::now();
        let parsed_call = ParsedCall::line(line, Some("/home/dev/acme".into()), &around);
        let findings = policy::judge(&parsed_call, policy, &Facts::default(), &Circumstances::default());
        black_box((parsed_call.probes(), policy::reason(&findings)));
        best = best.min(begun.elapsed().as_secs_f64());
    }
    best
}

fn hooks(house: &BenchHome, rounds: usize) -> std::io::Result<()> {
    let lines = [
        ("harmless line", "git status && cargo check".to_string()),
        ("denied line", "rm -rf /".to_string()),
        ("script of 4 KB", format!("bash {}", script(house)?)),
        ("60-line prose here-document", here_document("cat > notes.md", &prose(4_000))),
        ("60-line Python here-document", here_document("python3 -", &python())),
    ];
    let mut base = Times::default();
    let mut times: Vec<Times> = lines.iter().map(|_| Times::default()).collect();
    house.daemon("start")?;
    for _ in 0..rounds {
        timed(&mut house.baseline(&house.call("ls")?)?, &mut base)?;
        for ((_, line), times) in lines.iter().zip(&mut times) {
            timed(&mut house.hook(&house.call(line)?)?, times)?;
        }
    }
    println!("whole hooks through the daemon, {rounds} rounds interleaved:");
    for ((name, _), times) in lines.iter().zip(&times) {
        row(name, times, &base);
    }
    Ok(())
}

/// A script that is run from a file, as long as many are.
fn script(house: &BenchHome) -> std::io::Result<String> {
    let path = house.project().join("build.sh");
    let mut text = "#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"$0\")\"\n".to_string();
    while text.len() < 4_000 {
        text.push_str(
            "if [ -d build ]; then\n  rm -rf build\nfi\nmkdir -p build/out\ncp -r src \"build/$NAME\"\ncargo check\n",
        );
    }
    std::fs::write(&path, text)?;
    Ok(path.to_string_lossy().into_owned())
}

fn micros(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn commands(size: usize) -> String {
    let line = "git add src/main.rs && grep -rn 'rm -rf' docs | head -5; echo \"done $HOME\" > out.log\n";
    line.repeat(size / line.len() + 1).get(..size).unwrap_or(line).to_string()
}

fn prose(size: usize) -> String {
    let line = "Never run git push --force; it rewrites what others have pulled, and rm -rf / is worse.\n";
    let body = line.repeat(size / line.len() + 1);
    here_document("cat > notes.md", body.get(..size).unwrap_or(line))
}

fn python() -> String {
    (0..60).map(|nth| format!("value_{nth} = [row.strip() for row in open('data_{nth}.txt')]\n")).collect()
}

fn here_document(command: &str, body: &str) -> String {
    format!("{command} <<'END'\n{body}\nEND\n")
}

//! Whether a hook under an effort costs the same with many directives, efforts
//! and counted calls behind it as with few, and what an effort costs at all.

use crate::home::BenchHome;
use crate::spawn::timed;
use crate::times::{Times, ratio, row};
use model::Ms;
use model::effect::Write;
use model::effort::{Directive, Effort, EffortLineage, MemoryWrite};
use std::io::{Error, Result};
use std::time::Duration;
use store::{Durability, Store};

const CONFIG: &str = "[skills.bench]\nheartbeat = { warn = 1000000, block = 2000000 }\ndirectives = [\"TESTING\"]\n";

pub fn run(quick: bool) -> std::result::Result<(), String> {
    let (few, many) = if quick { (10, 2_000) } else { (10, 50_000) };
    measure(few, many, if quick { 100 } else { 500 }).map_err(|error| error.to_string())
}

fn measure(few: usize, many: usize, rounds: usize) -> Result<()> {
    let [none, small, large] = [0, few, many].map(|count| house(count, if count == 0 { "" } else { CONFIG }));
    let (none, small, large) = (none?, small?, large?);
    let [mut base, mut without, mut with_few, mut with_many] = std::array::from_fn(|_| Times::default());
    for _ in 0..rounds {
        timed(&mut none.baseline(&none.call("ls")?)?, &mut base)?;
        timed(&mut none.hook(&none.call("ls")?)?, &mut without)?;
        timed(&mut small.hook(&small.call("ls")?)?, &mut with_few)?;
        timed(&mut large.hook(&large.call("ls")?)?, &mut with_many)?;
    }
    row("without an effort", &without, &base);
    row(&format!("an effort, {few} directives and finished efforts"), &with_few, &base);
    row(&format!("an effort, {many} directives and finished efforts"), &with_many, &base);
    println!(
        "growth: {:.2} x; an effort at all: {:.2} x",
        ratio(with_many.p50(), with_few.p50()),
        ratio(with_few.p50(), without.p50())
    );
    Ok(())
}

/// A home whose agent has one effort, and so many finished ones and directives behind it.
fn house(count: usize, config: &str) -> Result<BenchHome> {
    let house = crate::house().map_err(Error::other)?;
    let file = house.home().join(".config/taut/config.toml");
    std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
    std::fs::write(&file, config)?;
    let mut store = Store::open_and_migrate(&house.state(), Duration::from_secs(5)).map_err(failed)?;
    for batch in (0..=count).collect::<Vec<_>>().chunks(5_000).filter(|_| count > 0) {
        let writes: Vec<Write> = batch.iter().flat_map(|nth| rows(&house, *nth, count)).map(Write::Memory).collect();
        store.transact(Durability::Normal, |tx| tx.apply(&writes)).map_err(failed)?;
    }
    store.settle().map_err(failed)?;
    house.daemon("start")?;
    Ok(house)
}

fn failed(error: store::Error) -> Error {
    Error::other(error.to_string())
}

/// The last of the efforts is the active one, and every directive is its.
fn rows(house: &BenchHome, nth: usize, last: usize) -> Vec<MemoryWrite> {
    let effort = Effort {
        id: format!("effort-{nth}"),
        agent: "bench".into(),
        project: house.project().to_string_lossy().into_owned(),
        task: "bench/1".into(),
        folder: house.state().join("projects/bench").to_string_lossy().into_owned(),
        ordinal: i64::try_from(nth + 1).unwrap_or(i64::MAX),
        skill: "bench".into(),
        session: None,
        line: EffortLineage::Agent,
        phase: Some("1".into()),
        loading: false,
        declared: serde_json::Value::Null,
        metadata: serde_json::Value::Null,
        files: Vec::new(),
        started_at: Ms(0),
        finished_at: (nth < last).then_some(Ms(1)),
        title: None,
        end: None,
    };
    let of_active = |n: usize| Directive {
        effort: effort.id.clone(),
        path: format!("/p/{n}/TESTING.md"),
        required: true,
        read: true,
    };
    let mut rows = vec![MemoryWrite::Effort(Box::new(effort.clone()))];
    if nth == last {
        rows.extend((0..last).map(|n| MemoryWrite::Directive(of_active(n))));
    }
    rows
}

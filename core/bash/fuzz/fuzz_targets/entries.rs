//! Files that list what a runner runs may hold anything: `cargo +nightly fuzz run entries`.
#![no_main]

use bash::{KnownContent, KnownFile, Surroundings, WantedFile};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

const LINE: &str = "make a; make -f b.mk; npm run a; npm install; just a; task a; cargo a; poe a; pdm run a; hatch run a; composer a; \
                    deno task a; mise run a; git a; git commit; rake a; foreman start; docker compose up; pixi run a; cargo make a";

fuzz_target!(|text: &str| {
    let mut files: Vec<(WantedFile, Arc<KnownFile>)> = Vec::new();
    for _ in 0..4 {
        let around =
            Surroundings { cwd: Some("/srv/app".into()), files: Arc::new(files.clone()), ..Surroundings::default() };
        let reading = bash::read(LINE, &around);
        files.extend(reading.wants.into_iter().map(|wanted| {
            let path: Arc<str> = match &wanted {
                WantedFile::At(path) => path.as_str().into(),
                WantedFile::Nearest { folder, names } => format!("{folder}/{}", names.join("")).into(),
            };
            let content = KnownContent::Text(text.into());
            (wanted, Arc::new(KnownFile { real: path.clone(), path, content }))
        }));
    }
});

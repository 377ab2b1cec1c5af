//! Plans come from agents and repositories: Markdown with boxes, JSON Lines for the queue, and the old loop's
//! configuration in shell.
#![no_main]

use engine::{loops, queue};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let boxes = loops::boxes(text);
    assert!(boxes.left() + boxes.done <= text.lines().count() as u64);
    let _ = loops::assignments(text, &Default::default());
    match queue::parse_lines(text) {
        Ok(plans) => {
            for (_, plan) in plans {
                assert!(queue::slug_problem(&plan.slug).is_none() && !plan.title.trim().is_empty());
                assert!(!plan.deps.contains(&plan.slug));
            }
        }
        Err(errors) => assert!(!errors.is_empty()),
    }
});

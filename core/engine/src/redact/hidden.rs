//! The stretches of a text that are not kept.

use super::GONE;

#[derive(Default)]
pub struct Hidden {
    stretches: Vec<(usize, usize)>,
    /// Where the piece that is read begins.
    base: usize,
}

impl Hidden {
    /// What is added from now on is told as places in the piece that begins here.
    pub fn stand_at(&mut self, base: usize) {
        self.base = base;
    }

    pub fn add(&mut self, from: usize, to: usize) {
        if from < to {
            self.stretches.push((self.base + from, self.base + to));
        }
    }

    /// The text without them; `None` where there is nothing to hide.
    pub fn taken_out_of(mut self, text: &str) -> Option<String> {
        self.stretches.retain(|(from, to)| text.get(*from..*to).is_some_and(|part| !is_gone(part)));
        self.stretches.sort_unstable();
        let mut out = String::new();
        let mut at = 0;
        for (from, to) in &self.stretches {
            if out.is_empty() || *from > at {
                out.push_str(text.get(at..*from).unwrap_or_default());
                out.push_str(GONE);
            }
            at = at.max(*to);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        (!self.stretches.is_empty()).then_some(out)
    }
}

/// Nothing is left of it but marks of what was hidden before.
fn is_gone(part: &str) -> bool {
    part.contains(GONE) && part.split(GONE).all(str::is_empty)
}

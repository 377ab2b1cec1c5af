//! F4 as a person has it: `taut top` in a real terminal, and what scripts get of it.

mod live;
mod scripts;
mod stage;

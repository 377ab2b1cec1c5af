//! What the documentation says, held against the program: every command is run or at least read as the program reads it.

mod compare;
mod machines;
mod named;
mod recording;
mod run;
mod tested;
mod walk;
mod words;

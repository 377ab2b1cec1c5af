//! The reader from outside, in one binary: what lines run, and that every line comes back.

mod bounds;
mod carriers;
mod common;
mod corpus;
mod entries;
mod files;
mod mutants;
mod opened;
mod scripts;
mod shell;
mod terminals;

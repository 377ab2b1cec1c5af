//! Every gate over the real tree, and every gate over a seeded bad example.

mod requirements;
mod seeds;
mod tree;

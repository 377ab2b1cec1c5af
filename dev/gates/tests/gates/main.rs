//! Every gate over the real tree, and every gate over a seeded bad example.

mod seeds;
mod tree;

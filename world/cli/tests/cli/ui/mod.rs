//! `taut ui` over real HTTP on loopback: who is let in, what is told, and how it ends (F4).

mod access;
mod acts;
mod live;
mod opener;
mod past;
mod views;

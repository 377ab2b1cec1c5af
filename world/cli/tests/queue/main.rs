//! The queue as users, scripts, agents and hooks meet it, in throw-away homes.

mod deep;
mod defects;
mod dies;
mod fencing;
mod hooks;
mod identity;
mod many_workers;
mod replay;
mod secrets;
mod stage;
mod surface;
mod workers;

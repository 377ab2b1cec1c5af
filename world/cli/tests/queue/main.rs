//! The queue as users, scripts, agents and hooks meet it, in throw-away homes.

mod crowd;
mod defects;
mod dies;
mod fencing;
mod hooks;
mod replay;
mod stage;
mod surface;
mod workers;

//! The loop and the supervisor through the program, with a scripted agent in place of a client.

mod defects;
mod finish;
mod hooks;
mod limits;
mod queue;
mod resume;
mod secrets;
mod signals;
mod stage;
mod supervisor;

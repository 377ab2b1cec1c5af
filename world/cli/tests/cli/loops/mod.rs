//! The loop and the supervisor through the program, with a scripted agent in place of a client.

mod agents;
mod conflicts_over_machines;
mod control;
mod defects;
mod demo;
mod finish;
mod hooks;
mod left_behind;
mod limits;
mod newcomer;
mod night;
mod notify;
mod over_machines;
mod overnight;
mod parallel;
mod parallel_conflicts;
mod parallel_ends;
mod parallel_killed;
mod parallel_trees;
mod pause;
mod proofs_over_machines;
mod queue;
mod remote_over_http;
mod resume;
mod runs;
mod screen;
mod secrets;
mod service;
mod signals;
mod start;
mod status;
mod summary;
mod supervisor;
mod templates;
mod undo;
mod unsure;
mod verify;

/// Ends well and says what it cost.
const FINE: &str = r#"echo '{"type":"result","is_error":false,"total_cost_usd":0.25,"num_turns":1,"result":"ok"}'"#;
/// Does the first open task of the plan and commits.
const WORK: &str = r#"sed -i '0,/- \[ \]/s//- [x]/' IMPLEMENTATION_PLAN.md; git commit -qam work;"#;

//! The daemon's one worker for the server that several machines share. Where nothing is shared there is no worker: one look
//! at the date of the user's file now and then, in a thread that is there anyway, and nothing else.

mod contact;
mod identity;
mod messages;
mod presence;
mod projects;
mod queues;
mod record;
mod refused_parts;
mod report;
mod rhythm;
mod rounds;
mod text;
mod worker;

pub use identity::Speaking;
pub use record::as_sent;
pub use report::SharedReport;
pub use rounds::SharedRounds;
pub use worker::Nudge;
pub(crate) use worker::SharedWorker;

//! The small things said at a prompt: where the session stands, what it forgot
//! to say, and what it must do first.

use super::ContextSettings;
use crate::memory::RpcReport;
use model::session::{Once, Session};
use model::{AgentProfile, Ms};

/// A session that says nothing of itself for so long is reminded.
const STATUS_AFTER_MS: i64 = 120_000;

/// What an effort adds to the line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EffortSummary<'a> {
    pub skill: Option<&'a str>,
    pub phase: Option<&'a str>,
    /// Tool calls since the last log, and how many are allowed.
    pub heartbeat: Option<(u32, u32)>,
}

impl<'a> EffortSummary<'a> {
    pub fn of(report: &'a RpcReport) -> Self {
        let effort = report.effort.as_ref();
        let beats = report.skill.as_ref().is_some_and(|skill| skill.log);
        Self {
            skill: effort.map(|effort| effort.skill.as_str()),
            phase: effort.and_then(|effort| effort.phase.as_deref()),
            heartbeat: beats.then_some((report.heartbeat, report.block_after)),
        }
    }
}

/// `[Session Context] Time: … | Session: … | Skill: … | Phase: … | Heartbeat: 3/10`
pub fn line(session: &Session, work: EffortSummary<'_>, now: Ms) -> String {
    let time = now.rfc3339();
    let time = time.get(..16).map(|minute| minute.replace('T', " ")).unwrap_or(time);
    let mut parts = vec![format!("Time: {time} UTC"), format!("Session: {}", session.logical_id)];
    parts.extend(work.skill.map(|skill| format!("Skill: {skill}")));
    parts.extend(work.phase.map(|phase| format!("Phase: {phase}")));
    parts.extend(work.heartbeat.map(|(count, most)| format!("Heartbeat: {count}/{most}")));
    format!("[Session Context] {}", parts.join(" | "))
}

/// The reminder to say what the session does, where it is due.
pub fn status_reminder(session: &Session, settings: &ContextSettings, now: Ms) -> Option<String> {
    let due = settings.status_reminder
        && session.status_text.is_none()
        && !session.memo.has(Once::StatusReminder)
        && now.since(session.started_at) > STATUS_AFTER_MS;
    due.then(|| settings.info("Consider setting a session status with `taut status \"what you're working on\"`"))
}

/// What to do where work needs a session and none is active.
pub fn activation(agent: &AgentProfile, settings: &ContextSettings) -> String {
    let AgentProfile { folder, instructions, .. } = agent;
    settings.info(&format!(
        "No effort is active, and this project requires one. Load the standards first \
         ({instructions}, ~/{folder}/), then activate one: `taut session activate <skill>`. \
         Until then only that, reading standards, questions and skills are let through."
    ))
}

/// Whom a session can tell what came of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportTo {
    /// The session that started it.
    Starter,
    /// Nobody is known to have started it: whoever it may concern.
    Anybody,
}

/// What a background session is asked once before it ends. Only a command that can work is named.
pub fn report(settings: &ContextSettings, to: ReportTo) -> String {
    let how = match to {
        ReportTo::Starter => "`taut worker done \"result\"`",
        ReportTo::Anybody => "`taut send <agent> \"message\"` (`taut agents` lists them)",
    };
    settings.info(&format!(
        "Reminder - Ping before ending. Nobody watches this session: say what came of it with {how}, then end."
    ))
}

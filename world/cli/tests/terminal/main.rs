//! What a terminal shows, in real tmux servers.

mod supervised;
mod tmux;
mod top;

use serde_json::json;
use testkit::AgentStep;

fn asks() -> AgentStep {
    AgentStep::Event {
        event: "Notification",
        fields: json!({"notification_type": "permission_prompt", "message": "may I?"}),
    }
}

//! What the demo's agent does.

use serde_json::{Value, json};
use std::path::Path;

pub enum DemoStep {
    /// A line for the audience.
    Say(&'static str),
    /// The agent wants to run a shell line.
    Bash {
        id: u32,
        command: &'static str,
    },
    /// The batch of calls came back; what was denied has been read.
    Batch {
        id: u32,
    },
    Event {
        name: &'static str,
        fields: Value,
    },
}

pub fn acts() -> Vec<DemoStep> {
    let event = |name, fields| DemoStep::Event { name, fields };
    vec![
        event("SessionStart", json!({"source": "startup"})),
        event("UserPromptSubmit", json!({"prompt": "Tidy the repository and publish the branch."})),
        DemoStep::Say("Ordinary work is left alone"),
        DemoStep::Bash { id: 1, command: "cargo test && rm -rf ./target" },
        DemoStep::Bash { id: 2, command: "git commit -m 'docs: say why rm -rf / is a bad idea'" },
        DemoStep::Bash { id: 3, command: "cat > NOTES.md <<'END'\nNever run: git push --force origin main\nEND" },
        DemoStep::Say("What would hurt is stopped, however it is spelled"),
        DemoStep::Bash { id: 4, command: "cd / && rm -rf *" },
        DemoStep::Bash { id: 5, command: "echo cm0gLXJmIH4K | base64 -d | sh" },
        DemoStep::Bash {
            id: 6,
            command: "python3 - <<'END'\nimport os, shutil\nshutil.rmtree(os.path.expanduser('~'))\nEND",
        },
        DemoStep::Say("What may be meant is stopped once, with a better way"),
        DemoStep::Bash { id: 7, command: "git push --force origin main" },
        DemoStep::Batch { id: 7 },
        DemoStep::Bash { id: 8, command: "git push -f origin main" },
        event("Stop", json!({"stop_hook_active": false, "background_tasks": []})),
        event("SessionEnd", json!({"reason": "prompt_input_exit"})),
    ]
}

impl DemoStep {
    /// The call as the real client would send it.
    pub fn payload(&self, project: &Path) -> Option<Value> {
        let (name, fields) = match self {
            Self::Say(_) => return None,
            Self::Bash { id, command } => {
                let call =
                    json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call_id(*id)});
                ("PreToolUse", call)
            }
            Self::Batch { id } => {
                ("PostToolBatch", json!({"tool_calls": [{"tool_name": "Bash", "tool_use_id": call_id(*id)}]}))
            }
            Self::Event { name, fields } => (*name, fields.clone()),
        };
        let mut payload = json!({
            "session_id": "0d0e0f00-de30-4000-8000-000000000001",
            "cwd": project.to_string_lossy(),
            "hook_event_name": name,
            "permission_mode": "default",
        });
        if let (Some(payload), Value::Object(fields)) = (payload.as_object_mut(), fields) {
            payload.extend(fields);
        }
        Some(payload)
    }

    /// What the audience sees of it.
    pub fn tried(&self) -> Option<&'static str> {
        match self {
            Self::Bash { command, .. } => Some(command),
            _ => None,
        }
    }
}

fn call_id(id: u32) -> String {
    format!("toolu_demo_{id:02}")
}

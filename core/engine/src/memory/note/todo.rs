//! The agent's own list: written whole by some tools, item by item by others.

use super::{LIST_ITEMS, short};
use model::session_work::TodoItem;
use serde_json::Value;

/// Where a tool that writes the whole list has it, and what an item's text is called.
const LISTS: &[&str] = &["todos", "plan", "items"];
const TEXTS: &[&str] = &["content", "step", "subject", "description", "title", "text", "task"];
const IDS: &[&str] = &["taskId", "task_id", "id"];

#[derive(Default)]
pub struct TodoList {
    items: Vec<(String, TodoItem)>,
    /// The host tells of new items itself, with their ids.
    told: bool,
}

impl TodoList {
    /// What an earlier session has left to do; a list that was done is over.
    pub fn after(items: Vec<TodoItem>) -> Self {
        let open = items.iter().any(|item| item.status != "completed");
        let items = items.into_iter().filter(|_| open).map(|item| (String::new(), item)).collect();
        Self { items, told: false }
    }

    /// A call of the agent's that came back.
    pub fn take(&mut self, tool: &str, input: &Value) {
        let list = LISTS.iter().find_map(|name| input.get(name)).and_then(Value::as_array);
        if let Some(list) = list.filter(|list| list.iter().all(|item| item.get("status").is_some())) {
            self.items = list.iter().filter_map(|item| Some((String::new(), item_of(item)?))).collect();
            return;
        }
        let lower = tool.to_ascii_lowercase();
        if lower.ends_with("taskcreate") && !self.told {
            // Hosts number them in order.
            self.items.retain(|(id, _)| !id.is_empty());
            let id = (self.items.len() + 1).to_string();
            self.items.extend(item_of(input).map(|item| (id, item)));
        } else if lower.ends_with("taskupdate") {
            let id = IDS
                .iter()
                .find_map(|name| input.get(name))
                .map(|id| id.as_str().map_or(id.to_string(), str::to_string));
            let status = input.get("status").and_then(Value::as_str);
            if let (Some(id), Some(status)) = (id, status) {
                self.set(&id, status);
            }
        }
    }

    /// The host says that there is a new item.
    pub fn created(&mut self, id: &str, subject: &str) {
        if !self.told {
            self.told = true;
            self.items.clear();
        }
        let item = TodoItem { text: short(subject), status: "pending".to_string() };
        self.items.retain(|(known, _)| known != id);
        self.items.push((id.to_string(), item));
    }

    pub fn set(&mut self, id: &str, status: &str) {
        if status == "deleted" {
            self.items.retain(|(known, _)| known != id);
        }
        for (_, item) in self.items.iter_mut().filter(|(known, _)| known == id) {
            item.status = short(status);
        }
    }

    pub fn items(self) -> Vec<TodoItem> {
        self.items.into_iter().map(|(_, item)| item).take(LIST_ITEMS).collect()
    }
}

fn item_of(item: &Value) -> Option<TodoItem> {
    let text = TEXTS.iter().find_map(|name| item.get(name)).and_then(Value::as_str).filter(|text| !text.is_empty())?;
    let status = item.get("status").and_then(Value::as_str).unwrap_or("pending");
    Some(TodoItem { text: short(text), status: short(status) })
}

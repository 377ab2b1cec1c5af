//! Who gives an order to the queue, as far as the machine itself can tell.

/// Whom an order may come from, and so whose attempts it may touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaker {
    /// No agent: a person, or a script of theirs. It may act for any.
    Person,
    /// One of these agents, and no other.
    Agents(Vec<String>),
}

impl Speaker {
    pub fn agent(name: &str) -> Self {
        Self::Agents(vec![name.to_string()])
    }

    pub fn may_act_for(&self, agent: &str) -> bool {
        match self {
            Self::Person => true,
            Self::Agents(names) => names.iter().any(|name| name == agent),
        }
    }

    /// Those it is known to come from.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        let names: &[String] = match self {
            Self::Person => &[],
            Self::Agents(names) => names,
        };
        names.iter().map(String::as_str)
    }

    /// For messages.
    pub fn shown(&self) -> String {
        match self {
            Self::Person => "a person".to_string(),
            Self::Agents(names) => format!("agent {}", names.join(" or ")),
        }
    }
}

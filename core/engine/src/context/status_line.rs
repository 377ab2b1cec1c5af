//! The line under a client's prompt: who this is, how full its context is, and
//! what it works on.

/// What there is to show. Parts that are not known are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatusLine {
    pub agent: Option<String>,
    pub model: Option<String>,
    /// Of the point where the client compacts by itself.
    pub percent: Option<f64>,
    pub skill: Option<String>,
    pub phase: Option<String>,
    pub tasks: Vec<String>,
    pub cost_usd: Option<f64>,
    /// What the user ought to know of the configuration.
    pub notice: Option<String>,
}

impl StatusLine {
    pub fn text(&self) -> String {
        let mut parts: Vec<String> = vec![self.agent.clone().unwrap_or_else(|| "taut".to_string())];
        parts.extend(self.model.clone());
        parts.extend(self.percent.map(|percent| format!("context {percent:.0}%")));
        parts.extend(match (&self.skill, &self.phase) {
            (Some(skill), Some(phase)) => Some(format!("{skill} {phase}")),
            (skill, _) => skill.clone(),
        });
        parts.extend(match self.tasks.as_slice() {
            [] => None,
            [one] => Some(format!("task {one}")),
            [first, rest @ ..] => Some(format!("tasks {first} +{}", rest.len())),
        });
        parts.extend(self.cost_usd.map(|cost| format!("${cost:.2}")));
        parts.extend(self.notice.clone());
        let line = parts.join(" · ");
        // Whatever stands in a name, it is one line.
        line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_what_is_known_and_leaves_the_rest_out() {
        let all = StatusLine {
            agent: Some("ada".into()),
            model: Some("Opus 5.5".into()),
            percent: Some(41.4),
            skill: Some("implement".into()),
            phase: Some("2: Build".into()),
            tasks: vec!["auth/01".into()],
            cost_usd: Some(0.276),
            notice: Some("look".into()),
        };
        assert_eq!(all.text(), "ada · Opus 5.5 · context 41% · implement 2: Build · task auth/01 · $0.28 · look");
        assert_eq!(StatusLine::default().text(), "taut");
        let tasks = vec!["a\nb".into(), "c".into(), "d".into()];
        assert_eq!(StatusLine { tasks, ..StatusLine::default() }.text(), "taut · tasks a b +2");
    }
}

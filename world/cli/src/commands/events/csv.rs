//! One event as a row of a spreadsheet. Nothing in it begins as a formula does.

use crate::printer::Text;
use dash::view_model;
use model::row::Event;

pub(super) const HEAD: &str = "number,at,verdict,agent,session,event,tool,about,rules,reason,ms,agent_name";

pub(super) fn line(number: i64, event: &Event, name: &str) -> Text {
    let cells = [
        number.to_string(),
        event.at.rfc3339(),
        event.verdict.name().to_string(),
        event.agent.clone(),
        event.session.clone().unwrap_or_default(),
        event.event.clone(),
        event.tool.clone().unwrap_or_default(),
        view_model::about(event),
        event.rules.join(" "),
        event.reason.clone().unwrap_or_default(),
        format!("{:.3}", event.micros as f64 / 1000.0),
        name.to_string(),
    ];
    Text::line(cells.map(|text| cell(&text)).join(","))
}

fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text };
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_cell_keeps_its_text_in_its_place_and_is_no_formula() {
        assert_eq!(cell("a, \"b\"\n c"), "\"a, \"\"b\"\" c\"");
        assert_eq!((cell("=1+1"), cell("git status"), cell("")), ("'=1+1".into(), "git status".into(), String::new()));
    }
}

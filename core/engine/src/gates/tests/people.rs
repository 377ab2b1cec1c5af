//! Whom a communication tool reaches (G7): every field that may name somebody, and everybody in it.

use super::*;

const PEOPLE: &str = r#"
[communication]
tools = [
  "mcp__*send*mail*", { tool = "mcp__chat__post", contact = ["room", "extra"] }, { tool = "mcp__feed__*", contact = [] },
  { tool = "mcp__*draft*", draft = true },
]
[contacts]
"ann@example.org" = ["claude_direct"]
"bob@example.org" = ["claude_draft"]
"#;

fn denied(tool: &str, input: Value, mode: Option<&str>) -> Option<String> {
    let call = agents::claude_code::tools::call(tool.into(), input);
    permission_modes::judge(&call, mode, &Agent::new(PEOPLE).policy).map(|finding| finding.reason)
}

/// G7: `to` is not the only way to reach somebody.
#[test]
fn g7_everybody_a_message_reaches_must_be_tagged_wherever_they_stand() {
    let ann = "ann@example.org";
    for input in [
        json!({"to": ann}),
        json!({"To": "Ann <ANN@example.org>", "cc": [], "subject": "to eve@example.org"}),
        json!({"recipients": [{"email": ann, "name": "Ann"}]}),
        json!({"message": {"toRecipients": [{"emailAddress": {"address": ann}}], "body": "eve@example.org"}}),
        json!({"to": [ann, "mailto:ann@example.org"], "bcc": ""}),
        json!({"to": "\"Doe, Ann\" <ann@example.org>, ann@example.org"}),
    ] {
        assert_eq!(denied("mcp__mail__send_email", input.clone(), None), None, "{input}");
    }
    for input in [
        json!({"to": ann, "cc": "eve@example.org"}),
        json!({"to": ann, "Bcc": ["eve@example.org"]}),
        json!({"to": ann, "bcc_recipients": [{"address": "eve@example.org"}]}),
        json!({"message": {"to": [ann], "headers": {"CC": "eve@example.org"}}}),
        json!({"to": "ann@example.org; eve@example.org"}),
        json!({"to": "ann@example.org\neve@example.org"}),
        json!({"to": "ann@example.org <eve@example.org>"}),
        json!({"channel": "general"}),
        json!({"user_id": 4711}),
        json!({"contact": {"email": "eve@example.org", "name": "ann@example.org"}}),
        json!({"phoneNumber": "+49 1"}),
        json!({"attendees": [ann, {"email": "eve@example.org"}]}),
        json!({"to": "bob@example.org"}),
    ] {
        assert!(denied("mcp__mail__send_email", input.clone(), None).is_some(), "{input}");
    }
    assert_eq!(denied("mcp__mail__draft_new", json!({"to": "bob@example.org"}), None), None);
}

/// G7: what a tool is called does not depend on how its server writes it.
#[test]
fn g7_tools_are_told_by_their_names_in_any_case_and_the_strictest_entry_holds() {
    for tool in ["mcp__Gmail__Send_Email", "mcp__mail__sendEmail", "mcp__outlook__SEND-MAIL"] {
        assert!(denied(tool, json!({"to": "eve@example.org"}), None).is_some(), "{tool}");
        assert!(denied(tool, json!({"to": "ann@example.org"}), Some("background")).is_some(), "{tool}");
    }
    assert!(denied("mcp__mail__send_mail_draft", json!({"to": "bob@example.org"}), None).is_some(), "it is sent");
}

/// G7: the configuration names the fields; nobody named is nobody known.
#[test]
fn g7_a_tools_own_fields_are_read_besides_and_a_tool_without_any_is_bound_by_the_mode() {
    assert!(denied("mcp__chat__post", json!({"Extra": {"deep": ["eve"]}}), None).unwrap().contains("eve"));
    assert!(denied("mcp__chat__post", json!({"text": "hello"}), None).unwrap().contains("`room`"));
    assert!(denied("mcp__chat__post", json!({"room": "ann@example.org", "cc": "eve"}), None).is_some());
    assert_eq!(denied("mcp__chat__post", json!({"room": "ann@example.org"}), None), None);
    assert_eq!(denied("mcp__feed__post", json!({"to": "eve"}), None), None, "no field of it names anybody");
    assert!(denied("mcp__feed__post", json!({}), Some("mission")).is_some());
    assert_eq!(denied("mcp__mail__send_email_status", json!({"id": "7"}), None), None, "it reaches nobody");
}

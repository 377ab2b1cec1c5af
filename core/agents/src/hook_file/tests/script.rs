//! A whole file of ours.

use super::*;
use crate::settings::Leaves;

#[test]
fn i1_a_script_is_made_brought_up_to_date_and_taken_away() {
    let made = there_and_back(&SCRIPT, "");
    let mut lines = made.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with(concat!("// taut ", env!("CARGO_PKG_VERSION"), " \"/opt/tools/taut\" -- ")), "{first}");
    assert_eq!(lines.next(), Some("export const taut = \"/opt/tools/taut\";"));
    assert_eq!(SCRIPT.remove(&made, &[]).unwrap().leaves, Leaves::NoFile);
}

#[test]
fn i1_a_script_of_an_older_version_or_with_changes_in_it_is_still_ours() {
    let old = "// taut 0.0.1 \"/b/taut\" -- whatever it said then\nlet x = 1; // mine\n";
    assert_eq!(SCRIPT.inspect(old).unwrap().entries[0].program, "/b/taut");
    assert_eq!(SCRIPT.edit(old, &plan()).unwrap().text, SCRIPT.edit("", &plan()).unwrap().text);
    assert_eq!(SCRIPT.remove(old, &[]).unwrap().text, "");
}

#[test]
fn i1_a_script_of_somebody_else_is_never_touched() {
    for text in [
        "\n", " ", "export default () => {}\n", "// taut\n", "// taut hooks of mine \"/b/taut\"\n", "// taut 1.0.0\n",
        "// taut 1.0.0 unquoted\n", "\n// taut 1.0.0 \"/b/taut\"\n", "#!/usr/bin/env node\n",
    ] {
        let why = SCRIPT.edit(text, &plan()).unwrap_err();
        assert!(why.why.contains("is not one of Taut's"), "{text:?}: {why}");
        assert_eq!(SCRIPT.remove(text, &[]).unwrap().text, text);
        assert!(SCRIPT.inspect(text).unwrap().entries.is_empty(), "{text:?}");
    }
}

#[test]
fn a_program_of_any_name_is_kept_in_the_first_line_as_it_is() {
    for command in ["/it's \"odd\"/taut", "/line\nend/taut", "/ü -- x/taut", "/*/taut"] {
        let text = SCRIPT.edit("", &SettingsPlan { command: command.into(), ..plan() }).unwrap().text;
        assert_eq!(SCRIPT.inspect(&text).unwrap().entries[0].program, command);
    }
}

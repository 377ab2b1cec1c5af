//! A patch that is applied through the shell is judged by the files it names.

use crate::common::{judged, said};

fn patch(command: &str, body: &str) -> String {
    format!("{command} <<'EOF'\n*** Begin Patch\n{body}\n*** End Patch\nEOF\n")
}

#[test]
fn g1_a_patch_through_the_shell_is_judged_by_its_files() {
    let add = |path: &str| format!("*** Add File: {path}\n+x");
    let own = add("/home/dev/.config/taut/config.toml");
    for line in [
        patch("apply_patch", &own),
        patch("applypatch", &own),
        patch("cd /home/dev && apply_patch", &add(".config/taut/config.toml")),
        patch("apply_patch", &format!("*** Update File: a.rs\n@@\n-a\n+b\n{own}")),
        patch("apply_patch", "*** Update File: a\n*** Move to: /home/dev/.config/taut/config.toml"),
        patch("apply_patch", "*** Delete File: /home/dev/.config/taut/config.toml"),
        format!("apply_patch '*** Begin Patch\n{own}\n*** End Patch'"),
        format!("bash -lc \"apply_patch <<'EOF'\n*** Begin Patch\n{own}\n*** End Patch\nEOF\n\""),
        format!("cat <<'EOF' | apply_patch\n*** Begin Patch\n{own}\n*** End Patch\nEOF\n"),
    ] {
        assert!(said(&judged(&line)).contains("deny taut-files"), "{line}: {}", said(&judged(&line)));
    }
    let hooks = patch("apply_patch", "*** Delete File: /home/dev/.codex/hooks.json");
    assert!(said(&judged(&hooks)).contains("deny agent-settings"), "{}", said(&judged(&hooks)));
}

#[test]
fn a_patch_of_the_projects_own_files_passes() {
    for body in ["*** Add File: src/a.rs\n+*** Delete File: /etc/passwd", "*** Update File: src/a.rs\n@@\n-a\n+b"] {
        assert_eq!(said(&judged(&patch("apply_patch", body))), "pass", "{body}");
    }
}

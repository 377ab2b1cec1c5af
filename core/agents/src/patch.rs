//! A patch as several agents write it: `*** Begin Patch`, files with `*** Update File: path`, lines that begin with `+`
//! or `-`. Read as far as it says which files it changes, and what it takes out and puts in.

use model::patch::patched_file;
use model::tool::ToolSubject;

/// Files, and the texts of all of them together. A patch without a file leaves nothing: it could not be read.
pub fn read(text: &str, subject: &mut ToolSubject) {
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some((_, path)) = patched_file(line) {
            if !subject.paths.iter().any(|known| known == path) {
                subject.paths.push(path.to_string());
            }
        } else if let Some(line) = line.strip_prefix('+') {
            added.push(line);
        } else if let Some(line) = line.strip_prefix('-') {
            removed.push(line);
        }
    }
    (subject.removed, subject.added) = (Some(removed.join("\n")), added.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g1_every_file_of_a_patch_is_found_with_what_changes() {
        let mut subject = ToolSubject::default();
        let text = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** Move to: src/b.rs\n\
                    *** Add File: /etc/c\r\n+x\r\n*** Delete File: d\n*** End Patch\n";
        read(text, &mut subject);
        assert_eq!(subject.paths, ["src/a.rs", "src/b.rs", "/etc/c", "d"]);
        assert_eq!((subject.removed.as_deref(), subject.added.as_str()), (Some("old"), "new\nx"));
    }
}

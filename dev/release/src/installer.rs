//! The shell installer: knows the checksum of every archive, so that whoever trusts it has to trust nothing else.

use crate::VERSION;
use crate::checksums::sha256;
use crate::pack::{NewFile, ReleaseInput, ReleasedArchive};

const SCRIPT: &str = include_str!("../files/install.sh");

pub(crate) fn script(input: &ReleaseInput, archives: &[ReleasedArchive]) -> NewFile {
    let case = |archive: &ReleasedArchive| {
        let (name, sum) = (&archive.file.name, sha256(&archive.file.bytes));
        format!("  \"{}\") archive={name} sum={sum} ;;\n", archive.target.uname)
    };
    let cases: String = archives.iter().map(case).collect();
    let text = SCRIPT.replace("@CASES@\n", &cases).replace("@URL@", &input.url).replace("@VERSION@", VERSION);
    NewFile { name: "install.sh".to_owned(), bytes: text.into_bytes() }
}

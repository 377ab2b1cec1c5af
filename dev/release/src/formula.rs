//! The Homebrew formula: where each machine's archive is, and its checksum.

use std::fmt::Write;

use crate::checksums::sha256;
use crate::pack::{NewFile, ReleaseInput, ReleasedArchive};
use crate::{PACKAGE, SUMMARY, VERSION};

const FORMULA: &str = include_str!("../files/formula.rb");

pub(crate) fn formula(input: &ReleaseInput, archives: &[ReleasedArchive]) -> NewFile {
    let mut places = String::new();
    for archive in archives {
        let (system, processor) = archive.target.brew;
        let (name, sum) = (&archive.file.name, sha256(&archive.file.bytes));
        // Writing to a string cannot fail.
        let _ = write!(
            places,
            "  {system} do\n    {processor} do\n      url \"{}/{name}\"\n      sha256 \"{sum}\"\n    end\n  end\n\n",
            input.url
        );
    }
    let home = input.home().unwrap_or(&input.url);
    let text = FORMULA
        .replace("@PLACES@\n", &places)
        .replace("@SUMMARY@", SUMMARY)
        .replace("@HOME@", home)
        .replace("@VERSION@", VERSION);
    NewFile { name: format!("{PACKAGE}.rb"), bytes: text.into_bytes() }
}

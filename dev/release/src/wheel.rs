//! The wheel: the program itself as a script of the package, without a line of Python.

use std::io;

use sha2::{Digest, Sha256};

use crate::archive::{PackedFile, zip};
use crate::pack::{NewFile, ReleaseInput};
use crate::{LICENCE, LICENCE_APACHE, LICENCE_MIT, PACKAGE, SUMMARY, TargetBinary, VERSION};

/// So that `uvx taut-cli` and `pipx run taut-cli` find a program of that name.
const SECOND_NAME: &str = "#!/bin/sh\nexec \"${0%/*}/taut\" \"$@\"\n";
const README: &str = include_str!("../files/package-readme.md");

pub(crate) fn wheel(input: &ReleaseInput, binary: &TargetBinary) -> io::Result<NewFile> {
    let name = PACKAGE.replace('-', "_");
    let tags = format!("py3-none-{}", binary.target.wheel);
    let (data, about) = (format!("{name}-{VERSION}.data"), format!("{name}-{VERSION}.dist-info"));
    let mut files = vec![
        PackedFile::program(format!("{data}/scripts/taut"), &binary.bytes),
        PackedFile::program(format!("{data}/scripts/{PACKAGE}"), SECOND_NAME.as_bytes()),
        PackedFile::text(format!("{about}/METADATA"), metadata()),
        PackedFile::text(format!("{about}/WHEEL"), wheel_file(binary)),
        PackedFile::text(format!("{about}/licenses/LICENSE-APACHE"), LICENCE_APACHE),
        PackedFile::text(format!("{about}/licenses/LICENSE-MIT"), LICENCE_MIT),
    ];
    files.extend(input.pages.shared().into_iter().map(|file| file.below(&format!("{data}/data/share"))));
    let mut record: String = files.iter().map(record_line).collect();
    record.push_str(&format!("{about}/RECORD,,\n"));
    files.push(PackedFile::text(format!("{about}/RECORD"), record));
    Ok(NewFile { name: format!("{name}-{VERSION}-{tags}.whl"), bytes: zip(&files)? })
}

fn metadata() -> String {
    format!(
        "Metadata-Version: 2.4\nName: {PACKAGE}\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense-Expression: {LICENCE}\n\
         License-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\nRequires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n{README}"
    )
}

fn wheel_file(binary: &TargetBinary) -> String {
    let tags = binary.target.wheel.split('.').map(|platform| format!("Tag: py3-none-{platform}\n"));
    format!("Wheel-Version: 1.0\nGenerator: taut\nRoot-Is-Purelib: false\n{}", tags.collect::<String>())
}

fn record_line(file: &PackedFile) -> String {
    format!("{},sha256={},{}\n", file.path, base64(&Sha256::digest(&file.bytes)), file.bytes.len())
}

/// For paths and without padding, as the format wants it.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(char::from(LETTERS[bits >> (18 - 6 * place) & 63]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn sums_are_written_as_the_format_wants_them() {
        let written: Vec<_> = ["", "f", "fo", "foo", "foob"].iter().map(|text| base64(text.as_bytes())).collect();
        assert_eq!(written, ["", "Zg", "Zm8", "Zm9v", "Zm9vYg"]);
        assert_eq!(base64(&[0xfb, 0xff]), "-_8");
    }
}

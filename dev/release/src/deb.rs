//! The Debian package: program, manual pages, completions and licence, and no script of its own.

use std::io;

use crate::archive::{PackedFile, ar, gzip, tar_gz};
use crate::pack::{NewFile, ReleaseInput};
use crate::{LICENCE_APACHE, LICENCE_MIT, PACKAGE, SUMMARY, TargetBinary, VERSION};

/// None for a machine that Debian has no word for.
pub(crate) fn package(input: &ReleaseInput, binary: &TargetBinary) -> io::Result<Option<NewFile>> {
    let Some(processor) = binary.target.debian else { return Ok(None) };
    let files = installed(input, binary)?;
    let size = files.iter().map(|file| file.bytes.len()).sum::<usize>().div_ceil(1024);
    let control = format!(
        "Package: {PACKAGE}\nVersion: {VERSION}\nArchitecture: {processor}\nMaintainer: The Taut authors\n\
         Installed-Size: {size}\nSection: utils\nPriority: optional\nDescription: {SUMMARY}\n\
         \x20One program, taut, that stops what would hurt before an agent runs it,\n\
         \x20remembers what happened, and shows which agent works, waits or is done.\n"
    );
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", tar_gz(&[PackedFile::text("control", control)], input.time)?),
        ("data.tar.gz", tar_gz(&files, input.time)?),
    ];
    Ok(Some(NewFile { name: format!("{PACKAGE}_{VERSION}_{processor}.deb"), bytes: ar(&members, input.time)? }))
}

fn installed(input: &ReleaseInput, binary: &TargetBinary) -> io::Result<Vec<PackedFile>> {
    let copyright = format!("{LICENCE_MIT}\n\nor, at your choice:\n\n{LICENCE_APACHE}");
    let mut files = vec![
        PackedFile::program("usr/bin/taut", &binary.bytes),
        PackedFile::text(format!("usr/share/doc/{PACKAGE}/copyright"), copyright),
    ];
    for file in input.pages.shared() {
        files.push(as_debian(file)?.below("usr/share"));
    }
    Ok(files)
}

/// Debian keeps manual pages compressed, and what packages bring for zsh apart from what the machine's owner puts there.
fn as_debian(file: PackedFile) -> io::Result<PackedFile> {
    if file.path.starts_with("man/") {
        return Ok(PackedFile::text(format!("{}.gz", file.path), gzip(&file.bytes)?));
    }
    let path = file.path.replace("zsh/site-functions", "zsh/vendor-completions");
    Ok(PackedFile { path, ..file })
}

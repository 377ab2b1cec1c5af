//! Archives as bytes, in both directions. What is written depends on nothing but the files and the time given.

use std::collections::BTreeSet;
use std::io::{self, Cursor, Read, Write};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackedFile {
    pub path: String,
    pub bytes: Vec<u8>,
    pub mode: u32,
}

impl PackedFile {
    pub(crate) fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: text.into(), mode: 0o644 }
    }

    pub(crate) fn program(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { path: path.into(), bytes: bytes.to_vec(), mode: 0o755 }
    }

    /// The same file below a folder.
    pub(crate) fn below(mut self, folder: &str) -> Self {
        self.path = format!("{folder}/{}", self.path);
        self
    }
}

/// The files with a row for each of their folders in front, as `dpkg` wants them.
pub(crate) fn tar_gz(files: &[PackedFile], time: u64) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let folders: BTreeSet<&str> =
        files.iter().flat_map(|file| file.path.match_indices('/').map(|(at, _)| &file.path[..at])).collect();
    for folder in folders {
        let mut header = header(0, 0o755, time);
        header.set_entry_type(EntryType::Directory);
        tar.append_data(&mut header, format!("{folder}/"), io::empty())?;
    }
    for file in files {
        let mut header = header(file.bytes.len() as u64, file.mode, time);
        tar.append_data(&mut header, &file.path, file.bytes.as_slice())?;
    }
    gzip(&tar.into_inner()?)
}

fn header(size: u64, mode: u32, time: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Without name and time, so that only the bytes count.
pub(crate) fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::default());
    packed.write_all(bytes)?;
    packed.finish()
}

pub(crate) fn gunzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain)?;
    Ok(plain)
}

/// The files only, without their folders.
pub(crate) fn read_tar_gz(bytes: &[u8]) -> io::Result<Vec<PackedFile>> {
    let mut tar = tar::Archive::new(GzDecoder::new(bytes));
    let mut files = Vec::new();
    for entry in tar.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type() != EntryType::Regular {
            continue;
        }
        let (path, mode) = (entry.path()?.to_string_lossy().into_owned(), entry.header().mode()?);
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.push(PackedFile { path, bytes, mode });
    }
    Ok(files)
}

/// Every file has the first moment that the format knows.
pub(crate) fn zip(files: &[PackedFile]) -> io::Result<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(file.mode);
        zip.start_file(&file.path, options)?;
        zip.write_all(&file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

pub(crate) fn read_zip(bytes: &[u8]) -> io::Result<Vec<PackedFile>> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut files = Vec::new();
    for at in 0..zip.len() {
        let mut entry = zip.by_index(at)?;
        let (path, mode) = (entry.name()?.into_owned(), entry.unix_mode().unwrap_or_default() & 0o777);
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.push(PackedFile { path, bytes, mode });
    }
    Ok(files)
}

/// The outer form of a Debian package.
pub(crate) fn ar(members: &[(&str, Vec<u8>)], time: u64) -> io::Result<Vec<u8>> {
    let mut ar = ar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = ar::Header::new(name.as_bytes().to_vec(), bytes.len() as u64);
        header.set_mode(0o100_644);
        header.set_mtime(time);
        ar.append(&header, bytes.as_slice())?;
    }
    ar.into_inner()
}

pub(crate) fn read_ar(bytes: &[u8]) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut ar = ar::Archive::new(bytes);
    let mut members = Vec::new();
    while let Some(entry) = ar.next_entry() {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(entry.header().identifier()).into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        members.push((name, bytes));
    }
    Ok(members)
}

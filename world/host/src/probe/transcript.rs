//! The end of a transcript: a few reads from the back, whatever the file's size.

use model::fact::TranscriptTail;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use sys::outside::{self, Rules};

/// More than this is never read of one transcript.
const MOST: u64 = 1 << 20;

/// The last bytes of a file, and its size; `None` when there is no such file
/// or it is not a plain one. What is appended meanwhile is left for the next
/// time, so that the bytes end at `size`.
pub fn tail(path: &Path, last: u64) -> Option<TranscriptTail> {
    let (size, bytes) = outside::read_end(path, last.min(MOST)).ok()?;
    Some(TranscriptTail { size, bytes })
}

/// What stands there from a place on, at most so much, and the file's size.
pub fn read_on(path: &Path, from: u64, most: u64) -> Option<TranscriptTail> {
    let (mut file, found) = outside::open(path, &Rules::up_to(u64::MAX)).ok()?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from)).ok()?;
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(TranscriptTail { size: found.len().max(from.min(found.len()) + bytes.len() as u64), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn s6_only_the_end_is_read_however_large_the_file_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let file = std::fs::File::create(&path).unwrap();
        // A sparse file: two hundred megabytes that cost nothing to make.
        file.set_len(200 << 20).unwrap();
        drop(file);
        let mut end = OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut end, b"the end").unwrap();
        let read = tail(&path, 7).unwrap();
        assert_eq!((read.size, read.bytes.as_slice()), ((200 << 20) + 7, b"the end".as_slice()));
        assert_eq!(tail(&path, u64::MAX).unwrap().bytes.len() as u64, MOST);
        assert_eq!(tail(&path, 0).unwrap().bytes.len(), 0);
    }

    #[test]
    fn s6_what_is_not_a_plain_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(tail(&folder.path().join("gone"), 10), None);
        assert_eq!(tail(folder.path(), 10), None);
        let pipe = folder.path().join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: a path that ends in a zero byte, in a folder of this test's own.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert_eq!(tail(&pipe, 10), None);
        let short = folder.path().join("short");
        std::fs::write(&short, "abc").unwrap();
        assert_eq!(tail(&short, 10), Some(TranscriptTail { size: 3, bytes: b"abc".to_vec() }));
    }
}

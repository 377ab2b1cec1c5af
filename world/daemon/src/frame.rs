//! Frames and fields as bytes; what they mean is in `protocol`.

use fast_client::limits::FRAME_BYTES;
use fast_client::wire::{FIELD_BYTES, HEADER_BYTES, MAGIC, PROTOCOL};

/// A frame being written.
pub(crate) struct Writer(Vec<u8>);

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub protocol: u8,
    pub kind: u8,
    /// Of the body.
    pub len: usize,
}

/// What the first bytes of a frame tell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head {
    Partial,
    Known(Header),
    Wrong(Wrong),
}

/// Bytes that are not a frame of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    #[error("the bytes do not begin like a frame of taut")]
    Magic,
    #[error("the frame is larger than {} MiB", FRAME_BYTES >> 20)]
    Size,
    #[error("a field is longer than its frame")]
    Field,
}

/// The fields of a body, one after another.
pub(crate) struct Fields<'a>(&'a [u8]);

impl Writer {
    pub fn new(kind: u8) -> Self {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&[PROTOCOL, kind, 0, 0, 0, 0, 0, 0]);
        Self(bytes)
    }

    pub fn field(mut self, tag: u8, value: &[u8]) -> Self {
        self.0.reserve(FIELD_BYTES + value.len());
        self.0.push(tag);
        self.0.extend_from_slice(&length(value.len()));
        self.0.extend_from_slice(value);
        self
    }

    /// The frame, or why it cannot be sent.
    pub fn finish(mut self) -> Result<Vec<u8>, Wrong> {
        let body = self.0.len() - HEADER_BYTES;
        if body > FRAME_BYTES {
            return Err(Wrong::Size);
        }
        self.0[8..HEADER_BYTES].copy_from_slice(&length(body));
        Ok(self.0)
    }
}

impl Head {
    pub fn read(bytes: &[u8]) -> Self {
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Self::Wrong(Wrong::Magic);
        }
        let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Self::Partial;
        };
        let [_, _, _, _, protocol, kind, _, _, a, b, c, d] = *head;
        let len = u32::from_le_bytes([a, b, c, d]) as usize;
        if len > FRAME_BYTES {
            return Self::Wrong(Wrong::Size);
        }
        Self::Known(Header { protocol, kind, len })
    }
}

impl<'a> Fields<'a> {
    pub fn new(body: &'a [u8]) -> Self {
        Self(body)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u8, &'a [u8]), Wrong>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&tag, rest) = self.0.split_first()?;
        let taken = rest
            .split_first_chunk::<4>()
            .and_then(|(len, rest)| rest.split_at_checked(u32::from_le_bytes(*len) as usize));
        let Some((value, rest)) = taken else {
            self.0 = &[];
            return Some(Err(Wrong::Field));
        };
        self.0 = rest;
        Some(Ok((tag, value)))
    }
}

/// Longer than `u32` is refused by `finish`, whatever is written here.
fn length(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::{Fields, Head, Header, Writer, Wrong};
    use fast_client::limits::FRAME_BYTES;

    #[test]
    fn what_is_written_is_read() {
        let frame = Writer::new(3).field(1, b"one").field(9, b"").finish().unwrap();
        assert_eq!(Head::read(&frame), Head::Known(Header { protocol: 1, kind: 3, len: 13 }));
        let fields: Vec<_> = Fields::new(&frame[12..]).collect();
        assert_eq!(fields, [Ok((1, &b"one"[..])), Ok((9, &b""[..]))]);
    }

    #[test]
    fn every_cut_of_a_frame_is_partial_and_never_wrong() {
        let frame = Writer::new(3).field(1, b"one").finish().unwrap();
        for cut in 0..12 {
            assert_eq!(Head::read(&frame[..cut]), Head::Partial);
        }
    }

    #[test]
    fn foreign_and_oversized_frames_are_refused() {
        assert_eq!(Head::read(b"GET / HTTP/1.1"), Head::Wrong(Wrong::Magic));
        assert_eq!(Head::read(b"X"), Head::Wrong(Wrong::Magic));
        assert_eq!(Head::read(b"TAUT\x01\x01\0\0\xff\xff\xff\xff"), Head::Wrong(Wrong::Size));
        assert_eq!(Writer::new(1).field(1, &vec![0; FRAME_BYTES]).finish(), Err(Wrong::Size));
    }

    #[test]
    fn a_field_that_lies_about_its_length_ends_the_reading() {
        let fields: Vec<_> = Fields::new(&[1, 0, 0, 0, 0, 2, 9, 0, 0, 0, 1]).collect();
        assert_eq!(fields, [Ok((1, &b""[..])), Err(Wrong::Field)]);
        assert_eq!(Fields::new(&[1, 0]).collect::<Vec<_>>(), [Err(Wrong::Field)]);
    }
}

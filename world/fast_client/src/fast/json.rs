//! Whether bytes hold one whole JSON object, as far as brackets and quotes tell.

/// True when an object was opened and closed and only white space follows it.
pub fn is_whole_object(bytes: &[u8]) -> bool {
    let mut depth = 0usize;
    let (mut quoted, mut escaped, mut over) = (false, false, false);
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        i += 1;
        if quoted {
            (quoted, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\');
            continue;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if over => return false,
            b'{' => depth += 1,
            _ if depth == 0 => return false,
            b'[' => depth += 1,
            b'"' => quoted = true,
            b'}' | b']' => {
                depth -= 1;
                over = depth == 0;
            }
            _ => {}
        }
    }
    over
}

#[cfg(test)]
mod tests {
    use super::is_whole_object;

    #[test]
    fn knows_a_whole_object_from_a_part_of_one() {
        for whole in [&b"{}"[..], b" {\"a\":[{}]}\n", br#"{"a":"}\"{","b":"\\"}"#] {
            assert!(is_whole_object(whole), "{whole:?}");
        }
        for part in [&b""[..], b"{", b"[]", b"{\"a\":\"}", br#"{"a":"\"}"#, b"{} {}", b"x{}", b"{}}", b"}"] {
            assert!(!is_whole_object(part), "{part:?}");
        }
    }
}

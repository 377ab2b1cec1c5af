//! Letters that deceive a reader. One list for whoever shows or quotes what an
//! agent wrote.

/// Marks of direction, and what takes no room: two texts that look alike must
/// be alike, and none may turn the line it stands in around.
pub fn deceives(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

//! Which characters hide, turn a line around, or climb over others.

/// Takes no room, looks like nothing, or moves what stands around it: marks of
/// direction, separators of lines, joiners, fillers, selectors, tags. They are
/// Unicode's ignorable characters, and those beside them that nobody sees.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{16fe4}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
    ) || u32::from(c) & 0xfffe == 0xfffe
}

/// The marks that are put on any letter, as many as somebody likes.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{34e}'
        | '\u{350}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{591}'..='\u{5bd}'
        | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}'
        | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}'
        | '\u{e31}'
        | '\u{e34}'..='\u{e3a}'
        | '\u{e47}'..='\u{e4e}'
        | '\u{eb4}'..='\u{ebc}'
        | '\u{ec8}'..='\u{ece}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{302a}'..='\u{302f}'
        | '\u{3099}' | '\u{309a}'
        | '\u{fe20}'..='\u{fe2f}'
    )
}

/// A picture that emoji are put together from.
pub(super) fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{21aa}'
        | '\u{231a}'..='\u{23ff}'
        | '\u{24c2}'
        | '\u{25aa}'..='\u{25fe}'
        | '\u{2600}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}'
        | '\u{2b05}'..='\u{2b55}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}'
    )
}

/// Whether a variation selector does something here: one, on a picture or on
/// the first character of a keycap.
pub(super) fn selects_emoji(before: char, next: Option<char>) -> bool {
    is_pictograph(before) || matches!(before, '0'..='9' | '#' | '*') && next == Some('\u{20e3}')
}

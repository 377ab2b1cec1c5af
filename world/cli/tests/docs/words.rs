//! A line of shell as words, as far as pages use it.

/// One piece of a line.
#[derive(PartialEq)]
enum Piece {
    Word(String),
    /// Between commands.
    Joint,
    /// What follows is a file.
    Redirect,
}

/// The command lines of `taut` in a line of shell, each as its words: `a | taut b > c && taut d` has two, and
/// `taut completions bash|zsh` has two.
pub fn taut_lines(line: &str) -> Vec<Vec<String>> {
    let pieces = pieces(line);
    let commands = pieces.split(|piece| *piece == Piece::Joint);
    let commands = commands.map(words_of).filter(|words| words.first().is_some_and(|first| first == "taut"));
    commands.flat_map(|words| choices(&words)).collect()
}

fn words_of(pieces: &[Piece]) -> Vec<String> {
    let mut words = Vec::new();
    let mut is_file = false;
    for piece in pieces {
        match piece {
            Piece::Word(word) if !is_file && (!words.is_empty() || !is_assignment(word)) => words.push(word.clone()),
            _ => {}
        }
        is_file = *piece == Piece::Redirect;
    }
    words
}

/// Each way to choose one of `a|b` in every word.
fn choices(words: &[String]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for word in words {
        let of_word: Vec<&str> = if word.contains([' ', '\'', '{']) { vec![word] } else { word.split('|').collect() };
        all = all
            .iter()
            .flat_map(|before: &Vec<String>| {
                of_word.iter().map(|one| before.iter().cloned().chain([(*one).to_owned()]).collect())
            })
            .collect();
    }
    all
}

fn pieces(line: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut word: Option<String> = None;
    let letters: Vec<char> = line.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        let next = letters.get(at + 1).copied().unwrap_or(' ');
        let closing = |mark: char| letters[at + 1..].iter().position(|one| *one == mark);
        match letter {
            '\'' | '"' => {
                let end = closing(letter).map_or(letters.len(), |length| at + 1 + length);
                word.get_or_insert_default().extend(&letters[at + 1..end]);
                at = end;
            }
            // A placeholder such as `<agent>`.
            '<' if next.is_alphanumeric() && closing('>').is_some() => {
                let end = at + 1 + closing('>').unwrap_or_default();
                word.get_or_insert_default().extend(&letters[at..=end]);
                at = end;
            }
            '|' if word.is_some() && next != ' ' && next != '|' => word.get_or_insert_default().push(letter),
            ' ' | '|' | '&' | ';' | '(' | ')' | '<' | '>' => {
                found.extend(word.take().map(Piece::Word));
                match letter {
                    ' ' => {}
                    '<' | '>' => found.push(Piece::Redirect),
                    _ => found.push(Piece::Joint),
                }
            }
            '[' | ']' => {}
            _ => word.get_or_insert_default().push(letter),
        }
        at += 1;
    }
    found.extend(word.map(Piece::Word));
    found
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
    })
}

#[test]
fn i5_the_command_lines_of_taut_are_found_in_a_line_of_shell() {
    let found = |line: &str| taut_lines(line).iter().map(|words| words.join("·")).collect::<Vec<_>>();
    assert_eq!(found("gh list | taut task import - > out"), ["taut·task·import·-"]);
    assert_eq!(found("A=b taut say <agent> \"a; b\" && taut top"), ["taut·say·<agent>·a; b", "taut·top"]);
    assert_eq!(
        found("taut completions bash|zsh [--json]"),
        ["taut·completions·bash·--json", "taut·completions·zsh·--json"]
    );
    assert_eq!(found("source <(taut completions bash)"), ["taut·completions·bash"]);
}

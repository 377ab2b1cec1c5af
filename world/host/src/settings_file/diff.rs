//! Shows a change of a text as a unified difference.

use std::fmt::Write;

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// Beyond this many comparisons the changed middle is shown as a whole.
const LIMIT: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

/// One line of the difference; its place is counted in lines of old and new.
struct Line<'t> {
    side: Side,
    text: &'t str,
    old: usize,
    new: usize,
}

/// The difference between two texts, empty when there is none. An absent text
/// is a file that is not there.
pub fn unified(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    if old == new {
        return String::new();
    }
    let title =
        |text: Option<&str>, side| if text.is_some() { format!("{side}{name}") } else { "/dev/null".to_owned() };
    let mut result = format!("--- {}\n+++ {}\n", title(old, ""), title(new, ""));
    let lines = compare(&split(old), &split(new));
    for hunk in hunks(&lines) {
        write_hunk(&mut result, hunk);
    }
    result
}

fn split(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split_inclusive('\n').collect()
}

fn compare<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = (old.len() - head).min(new.len() - head);
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut lines = Vec::with_capacity(old.len() + new.len());
    let (mut i, mut j) = (head, head);
    lines.extend((0..head).map(|at| Line { side: Side::Both, text: old[at], old: at, new: at }));
    let common = common_lengths(&old[head..old_end], &new[head..new_end]);
    while i < old_end || j < new_end {
        let length = |i: usize, j: usize| common.as_ref().map_or(0, |table| table[i - head][j - head]);
        let side = if i < old_end && j < new_end && old[i] == new[j] && common.is_some() {
            Side::Both
        } else if i < old_end && (j == new_end || length(i + 1, j) >= length(i, j + 1)) {
            Side::Old
        } else {
            Side::New
        };
        let text = if side == Side::New { new[j] } else { old[i] };
        lines.push(Line { side, text, old: i, new: j });
        i += usize::from(side != Side::New);
        j += usize::from(side != Side::Old);
    }
    lines.extend((0..tail).map(|at| Line {
        side: Side::Both,
        text: old[old_end + at],
        old: old_end + at,
        new: new_end + at,
    }));
    lines
}

/// The length of the longest common part of every two tails.
fn common_lengths(old: &[&str], new: &[&str]) -> Option<Vec<Vec<u32>>> {
    if old.len().saturating_mul(new.len()) > LIMIT {
        return None;
    }
    let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            table[i][j] = if old[i] == new[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    Some(table)
}

/// Runs of lines that hold changes and what is around them.
fn hunks<'l, 't>(lines: &'l [Line<'t>]) -> Vec<&'l [Line<'t>]> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.side != Side::Both) {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(lines.len()));
        match ranges.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => ranges.push((from, to)),
        }
    }
    ranges.into_iter().map(|(from, to)| &lines[from..to]).collect()
}

fn write_hunk(result: &mut String, hunk: &[Line<'_>]) {
    let Some(first) = hunk.first() else {
        return;
    };
    let count = |other: Side| hunk.iter().filter(|line| line.side != other).count();
    let (old, new) = (count(Side::New), count(Side::Old));
    let place = |start: usize, count: usize| format!("{},{count}", if count == 0 { start } else { start + 1 });
    // Writing to a String cannot fail.
    let _ = writeln!(result, "@@ -{} +{} @@", place(first.old, old), place(first.new, new));
    for line in hunk {
        result.push(match line.side {
            Side::Both => ' ',
            Side::Old => '-',
            Side::New => '+',
        });
        result.push_str(line.text);
        if !line.text.ends_with('\n') {
            result.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn shows_what_changed_with_three_lines_around() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let expected = "--- s\n+++ s\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(unified("s", Some(old), Some(new)), expected);
    }

    #[test]
    fn shows_a_file_that_comes_or_goes() {
        assert_eq!(unified("s", None, Some("{}\n")), "--- /dev/null\n+++ s\n@@ -0,0 +1,1 @@\n+{}\n");
        assert_eq!(unified("s", Some("{}\n"), None), "--- s\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-{}\n");
        assert_eq!(unified("s", Some("x"), Some("x")), "");
    }

    #[test]
    fn tells_a_missing_line_end() {
        let shown = unified("s", Some("{}"), Some("{}\n"));
        assert_eq!(shown, "--- s\n+++ s\n@@ -1,1 +1,1 @@\n-{}\n\\ No newline at end of file\n+{}\n");
    }

    #[test]
    fn changes_far_apart_are_two_pieces() {
        let old: String = (0..30).map(|line| format!("{line}\n")).collect();
        let new = old.replace("\n3\n", "\nthree\n").replace("\n25\n", "\n");
        let shown = unified("s", Some(&old), Some(&new));
        assert_eq!(shown.matches("@@ -").count(), 2, "{shown}");
        assert!(shown.contains("@@ -23,7 +23,6 @@"), "{shown}");
    }
}

//! A picture of a terminal: what commands printed, line by line as it came, as an SVG that needs nothing else.
//!
//! It follows the reader's light or dark scheme, and stands still where movement is not wanted. How long a step is shown has
//! nothing to do with how long it took, so that the same run is the same picture.

use std::fmt::Write;
use std::num::NonZero;

use vt100::{Cell, Color, Parser, Screen};

const ROWS: NonZero<u16> = NonZero::new(200).unwrap();
const CELL: f32 = 7.8;
const LINE: f32 = 19.0;
const MARGIN: f32 = 18.0;
const BAR: f32 = 34.0;
/// Between two lines of output, and before a command is typed.
const LINE_SECONDS: f32 = 0.06;
const PAUSE_SECONDS: f32 = 1.2;

const STYLE: &str = "
text{font:13px ui-monospace,SFMono-Regular,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;white-space:pre}
.box{fill:#ffffff;stroke:#d0d7de}.bar{fill:#f6f8fa}.dot{fill:#d0d7de}.title{fill:#59636e}
.d{fill:#1f2328}.dim{fill:#59636e}.b{font-weight:600}.i{font-style:italic}.u{text-decoration:underline}
.c1{fill:#c11f2e}.c2{fill:#116329}.c3{fill:#7d4e00}.c4{fill:#0550ae}.c5{fill:#8250df}.c6{fill:#1b7c83}.c7{fill:#59636e}
@media(prefers-color-scheme:dark){
.box{fill:#0d1117;stroke:#3d444d}.bar{fill:#151b23}.dot{fill:#3d444d}.title{fill:#9198a1}
.d{fill:#e6edf3}.dim{fill:#9198a1}
.c1{fill:#ff7b72}.c2{fill:#56d364}.c3{fill:#e3b341}.c4{fill:#79c0ff}.c5{fill:#d2a8ff}.c6{fill:#76e3ea}.c7{fill:#b1bac4}}
g{animation:come .12s linear both}@keyframes come{from{opacity:.12}to{opacity:1}}
@media(prefers-reduced-motion:reduce){g{animation:none}}
";

/// What was typed and printed, in order.
#[derive(Debug, Default)]
pub struct Recording {
    /// Every byte, as the terminal was sent it.
    shown: Vec<u8>,
    /// The rows on which commands stand.
    begins: Vec<u16>,
    rows: u16,
    columns: u16,
}

impl Recording {
    /// Nothing yet, at a terminal so many columns wide.
    #[must_use]
    pub fn new(columns: NonZero<u16>) -> Self {
        Self { columns: columns.get(), ..Self::default() }
    }

    /// A command, as it stands behind a prompt, and what the terminal was sent then.
    pub fn step(&mut self, command: &str, printed: &[u8]) {
        if !self.shown.is_empty() {
            self.shown.extend(b"\r\n");
        }
        let typed = if command.starts_with('#') {
            format!("\x1b[2m{command}\x1b[0m\r\n")
        } else {
            format!("\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m\r\n")
        };
        self.begins.push(self.row());
        self.shown.extend(typed.as_bytes());
        self.shown.extend(printed);
        if !printed.is_empty() && !printed.ends_with(b"\n") {
            self.shown.extend(b"\r\n");
        }
        self.rows = self.row();
    }

    /// The text of the picture.
    #[must_use]
    pub fn text(&self) -> String {
        let parser = self.parser();
        let lines = parser.screen().rows(0, self.columns).take(usize::from(self.rows));
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// The picture.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        let parser = self.parser();
        let screen = parser.screen();
        let width = f32::from(self.columns) * CELL + 2.0 * MARGIN;
        let height = f32::from(self.rows) * LINE + BAR + 2.0 * MARGIN;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{0}\">\n<title>{0}</title>\n<style>{STYLE}</style>\n",
            escaped(title)
        );
        let _ = writeln!(
            out,
            "<rect class=\"box\" x=\".5\" y=\".5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"10\"/>\n\
             <path class=\"bar\" d=\"M1 {BAR}V11A10 10 0 0 1 11 1H{:.0}a10 10 0 0 1 10 10V{BAR}z\"/>\n\
             <circle class=\"dot\" cx=\"20\" cy=\"17\" r=\"5\"/><circle class=\"dot\" cx=\"38\" cy=\"17\" r=\"5\"/>\
             <circle class=\"dot\" cx=\"56\" cy=\"17\" r=\"5\"/>\n\
             <text class=\"title\" x=\"{:.0}\" y=\"22\" text-anchor=\"middle\">{}</text>",
            width - 1.0,
            height - 1.0,
            width - 11.0,
            width / 2.0,
            escaped(title),
        );
        let mut seconds = 0.0;
        for row in 0..self.rows {
            seconds += if self.begins.contains(&row) { PAUSE_SECONDS } else { LINE_SECONDS };
            let line = line(screen, row, self.columns);
            if !line.is_empty() {
                let _ = writeln!(out, "<g style=\"animation-delay:{seconds:.2}s\">{line}</g>");
            }
        }
        out + "</svg>\n"
    }

    fn parser(&self) -> Parser {
        let mut parser = Parser::new(ROWS, NonZero::new(self.columns).unwrap_or(ROWS), 0);
        parser.process(&self.shown);
        parser
    }

    fn row(&self) -> u16 {
        self.parser().screen().cursor_position().0
    }
}

/// One row: a text for each run of the same style, at its own column, so that no font moves what follows.
fn line(screen: &Screen, row: u16, columns: u16) -> String {
    let mut out = String::new();
    let mut run: Option<(u16, String, String)> = None;
    let y = BAR + MARGIN + LINE * f32::from(row) + 10.0;
    let mut end = |run: Option<(u16, String, String)>| {
        let Some((column, class, text)) = run.filter(|(_, _, text)| !text.trim().is_empty()) else { return };
        let (x, text) = (MARGIN + CELL * f32::from(column), text.trim_end());
        let wide = CELL * text.chars().count() as f32;
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.0}\" textLength=\"{wide:.1}\">{}</text>",
            escaped(text)
        );
    };
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else { continue };
        let class = class(cell);
        let letter = if cell.has_contents() { cell.contents() } else { " " };
        match &mut run {
            Some((_, same, text)) if *same == class || letter == " " => text.push_str(letter),
            _ if letter == " " => {}
            _ => end(run.replace((column, class, letter.to_owned()))),
        }
    }
    end(run);
    out
}

fn class(cell: &Cell) -> String {
    let color = match cell.fgcolor() {
        _ if cell.dim() => "dim".to_owned(),
        Color::Idx(8) => "dim".to_owned(),
        Color::Idx(index @ 1..=7) => format!("c{index}"),
        Color::Idx(index @ 9..=15) => format!("c{}", index - 8),
        Color::Default | Color::Idx(_) | Color::Rgb(..) => "d".to_owned(),
    };
    let marks = [(cell.bold(), " b"), (cell.italic(), " i"), (cell.underline(), " u")];
    marks.iter().filter(|(is, _)| *is).fold(color, |class, (_, mark)| class + mark)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::Recording;
    use std::num::NonZero;

    #[test]
    fn i5_a_picture_has_the_text_and_the_colours_of_the_terminal() {
        let mut recording = Recording::new(NonZero::new(40).unwrap());
        recording.step("taut", b"\x1b[31mdenied\x1b[0m a < b\r\n");
        recording.step("# later", b"");
        assert_eq!(recording.text(), "$ taut\ndenied a < b\n\n# later");
        let svg = recording.svg("a & b");
        assert!(svg.contains("<title>a &amp; b</title>") && svg.contains(">a &lt; b</text>"), "{svg}");
        assert!(svg.contains("class=\"c1\"") && svg.contains(">denied</text>"), "{svg}");
    }
}

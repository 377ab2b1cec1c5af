//! Where things stand on a screen of a given size.

/// Line numbers of the parts, from the top. A part that has no room has no lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub width: u16,
    /// Title and summary, always the first line.
    pub head: u16,
    /// What stands until a person has seen to it.
    pub warning: Lines,
    /// The names of the columns.
    pub names: u16,
    pub body: Lines,
    /// The tasks' totals.
    pub tasks: Lines,
    /// The latest verdicts, their title first.
    pub verdicts: Lines,
    pub foot: Lines,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub from: u16,
    pub count: u16,
}

impl Lines {
    pub fn height(self) -> usize {
        usize::from(self.count)
    }
}

impl Layout {
    /// Of the fleet, with its strips below.
    pub fn fleet(width: u16, height: u16) -> Self {
        let tasks = u16::from(height >= 10);
        let verdicts = match height {
            ..14 => 0,
            14..20 => 3,
            20..32 => 5,
            _ => (height / 5).min(12),
        };
        Self::with(width, height, [tasks, verdicts, 1])
    }

    /// Of a picture: as high as what it shows, without keys.
    pub fn printed(width: u16, rows: u16, verdicts: u16) -> Self {
        let verdicts = if verdicts == 0 { 0 } else { verdicts.min(8) + 1 };
        Self::with(width, 3 + rows + verdicts, [1, verdicts, 0])
    }

    /// Everything but the head further down, with a warning in between.
    pub fn warned(self, lines: u16) -> Self {
        let down = |part: Lines| Lines { from: part.from + lines, ..part };
        Self {
            warning: Lines { from: 1, count: lines },
            names: self.names + lines,
            body: down(self.body),
            tasks: down(self.tasks),
            verdicts: down(self.verdicts),
            foot: down(self.foot),
            ..self
        }
    }

    pub fn height(&self) -> u16 {
        self.foot.from + self.foot.count
    }

    /// Of one list that takes the whole screen.
    pub fn list(width: u16, height: u16) -> Self {
        Self::with(width, height, [0, 0, 1])
    }

    fn with(width: u16, height: u16, [tasks, verdicts, foot]: [u16; 3]) -> Self {
        let foot = if height >= 5 { foot } else { 0 };
        let body = height.saturating_sub(2 + tasks + verdicts + foot);
        let mut next = 2 + body;
        let mut lines = |count: u16| {
            let lines = Lines { from: next, count };
            next += count;
            lines
        };
        Self {
            width,
            head: 0,
            warning: Lines::default(),
            names: 1,
            body: Lines { from: 2, count: body },
            tasks: lines(tasks),
            verdicts: lines(verdicts),
            foot: lines(foot),
        }
    }
}

//! Which columns of the fleet stand on a screen of a given width. Widths come
//! from the screen alone, never from what is shown: a live table must not jump.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Machine,
    Status,
    Agent,
    Place,
    Client,
    Project,
    Context,
    Now,
    For,
    Task,
    SubAgents,
    Messages,
    Changes,
    Cost,
    Since,
}

/// A column and how many cells it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sized {
    pub column: Column,
    pub cells: usize,
}

/// Cells between two columns.
pub(super) const GAP: usize = 2;
/// Cells before the first.
pub(super) const MARGIN: usize = 1;

impl Column {
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "MACHINE",
            Self::Status => "STATUS",
            Self::Agent => "AGENT",
            Self::Place => "WHERE",
            Self::Client => "CLIENT",
            Self::Project => "PROJECT",
            Self::Context => "CTX",
            Self::Now => "NOW",
            Self::For => "FOR",
            Self::Task => "TASK",
            Self::SubAgents => "SUB",
            Self::Messages => "MSG",
            Self::Changes => "CHANGES",
            Self::Cost => "COST",
            Self::Since => "SINCE",
        }
    }

    /// Numbers stand to the right.
    pub fn is_number(self) -> bool {
        matches!(self, Self::For | Self::SubAgents | Self::Messages | Self::Changes | Self::Cost | Self::Since)
    }

    /// The width it needs, what of the room that is left it gets (in hundredths),
    /// how wide it may get, and the width of the screen from which on it is shown.
    fn wish(self) -> Wish {
        let (least, share, most, from) = match self {
            Self::Machine => (10, 8, 20, 0),
            Self::Status => (11, 0, 11, 0),
            Self::Agent => (14, 16, 28, 0),
            Self::Place => (7, 0, 7, 130),
            Self::Client => (11, 0, 11, 76),
            Self::Project => (10, 10, 20, 110),
            Self::Context => (4, 20, 14, 56),
            Self::Now => (12, 0, usize::MAX, 50),
            Self::For => (4, 0, 4, 64),
            Self::Task => (12, 18, 34, 96),
            Self::SubAgents => (3, 0, 3, 140),
            Self::Messages => (3, 0, 3, 88),
            Self::Changes => (11, 0, 11, 150),
            Self::Cost => (8, 0, 8, 160),
            Self::Since => (5, 0, 5, 40),
        };
        Wish { least, share, most, from }
    }
}

struct Wish {
    least: usize,
    share: usize,
    most: usize,
    from: usize,
}

const ALL: [Column; 15] = [
    Column::Machine,
    Column::Status,
    Column::Agent,
    Column::Place,
    Column::Client,
    Column::Project,
    Column::Context,
    Column::Now,
    Column::For,
    Column::Task,
    Column::SubAgents,
    Column::Messages,
    Column::Changes,
    Column::Cost,
    Column::Since,
];

/// What is the same for all of them: then a column says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Differs {
    /// Agents are of more than one kind.
    pub kinds: bool,
    pub machines: bool,
}

pub(super) fn fit(width: usize, differs: Differs) -> Vec<Sized> {
    let says = |column: &Column| match column {
        Column::Client => differs.kinds,
        Column::Machine => differs.machines,
        _ => true,
    };
    let shown = ALL.into_iter().filter(|column| column.wish().from <= width && says(column));
    let mut shown: Vec<Column> = shown.collect();
    // What there is only for a mixed fleet takes the place of what needs the widest screen.
    while needed(&shown) > width
        && let Some(at) = (0..shown.len())
            .filter(|at| !matches!(shown[*at], Column::Client | Column::Machine))
            .max_by_key(|at| shown[*at].wish().from)
        && shown[at].wish().from > 0
    {
        shown.remove(at);
    }
    let room = width.saturating_sub(needed(&shown));
    let mut sized: Vec<Sized> = shown
        .iter()
        .map(|column| {
            let wish = column.wish();
            let cells = (wish.least + room * wish.share / 100).min(wish.most);
            // A bar of less than four cells says nothing that the number does not.
            let bare = *column == Column::Context && cells < 9;
            Sized { column: *column, cells: if bare { wish.least } else { cells } }
        })
        .collect();
    let taken: usize = sized.iter().map(|one| one.cells + GAP).sum::<usize>() + MARGIN;
    let left = width.saturating_sub(taken.saturating_sub(GAP));
    // What is left is for what the agent does now; without that column, for its name.
    let wide = sized.iter().position(|one| one.column == Column::Now).unwrap_or(1);
    if let Some(one) = sized.get_mut(wide) {
        one.cells += left;
    }
    sized
}

/// Of columns that are as narrow as they can be.
fn needed(shown: &[Column]) -> usize {
    (shown.iter().map(|column| column.wish().least + GAP).sum::<usize>() + MARGIN).saturating_sub(GAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_the_columns_fill_the_screen_exactly_and_the_least_important_go_first() {
        for width in 20..400 {
            for (kinds, machines) in [(false, false), (true, false), (false, true), (true, true)] {
                let sized = fit(width, Differs { kinds, machines });
                let taken: usize = sized.iter().map(|one| one.cells + GAP).sum::<usize>() + MARGIN - GAP;
                assert!(taken == width || width < 52, "{taken} of {width}");
            }
        }
        let names =
            |width| fit(width, Differs::default()).iter().map(|one| one.column.name()).collect::<Vec<_>>().join(" ");
        assert_eq!(names(80), "STATUS AGENT CTX NOW FOR SINCE");
        assert_eq!(names(120), "STATUS AGENT PROJECT CTX NOW FOR TASK MSG SINCE");
        assert_eq!(names(200), "STATUS AGENT WHERE PROJECT CTX NOW FOR TASK SUB MSG CHANGES COST SINCE");
        let mixed = Differs { kinds: true, machines: false };
        let mixed = fit(80, mixed).iter().map(|one| one.column.name()).collect::<Vec<_>>().join(" ");
        assert_eq!(mixed, "STATUS AGENT CLIENT CTX NOW FOR SINCE");
        let over = Differs { kinds: false, machines: true };
        let over = fit(80, over).iter().map(|one| one.column.name()).collect::<Vec<_>>().join(" ");
        assert_eq!(over, "MACHINE STATUS AGENT CTX NOW FOR SINCE");
    }
}

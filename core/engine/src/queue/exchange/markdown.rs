//! A plan in Markdown: a box is a task, boxes below it are its steps, or tasks it waits for where they are more than that.

use super::super::TaskLineError;
use super::{GivenSlugs, ImportedPlan, PlanText, labels, problem, slug_of};
use model::task::{Priority, TaskPlan, TaskStatus, TaskStep};

/// No plan is nested deeper.
const DEEPEST: usize = 16;
/// Nor has it more boxes, or longer ones.
const MOST_BOXES: usize = 100_000;
const LONGEST_BOX: usize = 8 << 10;

/// A box and what stands below it.
struct PlanBox {
    line: usize,
    indent: usize,
    done: bool,
    title: String,
    marks: Marks,
    headings: Vec<String>,
    text: Vec<String>,
    nested: bool,
    /// Where the boxes right below it are in the list.
    children: Vec<usize>,
}

/// What a box says of itself besides its title.
#[derive(Default)]
struct Marks {
    id: Option<String>,
    /// Its id stands in a comment, as we write it: what is below it are its steps, whatever their words look like.
    in_comment: bool,
    priority: Option<Priority>,
    category: Option<String>,
    reference: Option<String>,
    spec: Option<String>,
    deps: Vec<String>,
}

pub(super) fn read(plan: PlanText<'_>) -> Result<ImportedPlan, Vec<TaskLineError>> {
    let boxes = boxes(plan.text)?;
    let prefix = plan.name.map(prefix).unwrap_or_default();
    let taken = boxes.iter().filter_map(|one| one.marks.id.clone()).collect();
    let mut given = GivenSlugs { taken, ..GivenSlugs::default() };
    let slugs: Vec<Option<String>> = boxes
        .iter()
        .map(|one| match (&one.marks.id, one.is_task()) {
            (Some(id), _) => Some(id.clone()),
            (None, true) => Some(given.give(format!("{prefix}{}", slug_of(&one.title)))),
            (None, false) => None,
        })
        .collect();
    let mut imported = ImportedPlan::default();
    for (at, one) in boxes.iter().enumerate() {
        let Some(slug) = slugs.get(at).cloned().flatten() else { continue };
        let below = || one.children.iter().filter_map(|at| boxes.get(*at).zip(slugs.get(*at)));
        let mut deps = one.marks.deps.clone();
        deps.extend(below().filter_map(|(_, slug)| slug.clone()));
        let steps = below().filter(|(_, slug)| slug.is_none());
        let steps = steps.map(|(inner, _)| TaskStep { content: inner.title.clone(), done: inner.done }).collect();
        if one.done {
            imported.stand.insert(slug.clone(), TaskStatus::Done);
        }
        let heading = one.headings.join(" / ");
        let task = TaskPlan {
            slug,
            title: one.title.clone(),
            description: Some(dedented(&one.text)).filter(|text| !text.is_empty()),
            category: one.marks.category.clone().or_else(|| labels::category(one.headings.iter().map(String::as_str))),
            priority: one.marks.priority.unwrap_or_default(),
            spec: one.marks.spec.clone().or_else(|| plan.name.map(str::to_string)),
            reference: one.marks.reference.clone().or(Some(heading).filter(|text| !text.is_empty())),
            deps,
            steps,
            verify: None,
        };
        imported.tasks.push((one.line, task));
    }
    if imported.tasks.is_empty() {
        return Err(vec![problem(0, "file", "", "holds no box such as `- [ ] Title`")]);
    }
    Ok(imported)
}

impl PlanBox {
    /// A box of the first level, or one that is named, waits for others, or is opened further.
    fn is_task(&self) -> bool {
        !self.nested || self.marks.id.is_some() || !self.marks.deps.is_empty() || !self.children.is_empty()
    }
}

/// What the slugs of a file begin with: its name, as `docs/Plan.md` gives `plan/`.
fn prefix(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    format!("{}/", slug_of(stem))
}

fn boxes(text: &str) -> Result<Vec<PlanBox>, Vec<TaskLineError>> {
    let mut boxes: Vec<PlanBox> = Vec::new();
    // The boxes that the next one may stand below, the outermost first.
    let mut open: Vec<usize> = Vec::new();
    let (mut headings, mut fence): (Vec<(usize, String)>, Option<&str>) = (Vec::new(), None);
    for (at, raw) in text.lines().enumerate() {
        let line = raw.trim_start();
        let indent = raw.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        let inside = fence.is_some();
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if !inside && mark.is_none() {
            if let Some((level, title)) = heading(raw) {
                headings.retain(|(above, _)| *above < level);
                headings.push((level, title));
                open.clear();
                continue;
            }
            if let Some((done, title)) = list_box(line) {
                open.retain(|at| boxes.get(*at).is_some_and(|above| above.indent < indent));
                if let Some(why) = too_much(&boxes, &open, line) {
                    return Err(vec![problem(at + 1, "box", title, why)]);
                }
                let nth = boxes.len();
                if let Some(parent) = open.last().and_then(|at| boxes.get_mut(*at)) {
                    parent.children.push(nth);
                }
                let below_ours = open.last().and_then(|at| boxes.get(*at)).is_some_and(|above| above.marks.in_comment);
                let (title, marks) =
                    if below_ours && !title.contains("<!--") { (plain(title), Marks::default()) } else { marks(title) };
                let headings = headings.iter().map(|(_, title)| title.clone()).collect();
                let (text, children, nested) = (Vec::new(), Vec::new(), !open.is_empty());
                boxes.push(PlanBox { line: at + 1, indent, done, title, marks, headings, text, nested, children });
                open.push(nth);
                continue;
            }
        }
        let Some(last) = boxes.last_mut() else { continue };
        // What is not indented below a box is not about it.
        if raw.trim().is_empty() || indent > last.indent {
            last.text.push(raw.to_string());
        }
    }
    Ok(boxes)
}

fn too_much(boxes: &[PlanBox], open: &[usize], line: &str) -> Option<&'static str> {
    match () {
        () if open.len() >= DEEPEST => Some("is nested deeper than 16 boxes"),
        () if boxes.len() >= MOST_BOXES => Some("is one of more than 100000"),
        () if line.len() > LONGEST_BOX => Some("is longer than 8 KiB"),
        () => None,
    }
}

fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.chars().take_while(|c| *c == '#').count();
    let title = line.get(level..)?.strip_prefix(' ')?.trim().trim_end_matches('#').trim();
    (1..=6).contains(&level).then(|| (level, title.to_string()))
}

/// Whether it is done, and its text.
fn list_box(line: &str) -> Option<(bool, &str)> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < line.len()).then(|| digits.strip_prefix(['.', ')'])).flatten();
    let item = numbered.or_else(|| line.strip_prefix(['-', '*', '+']))?.trim_start().strip_prefix('[')?;
    let (state, title) = item.split_once(']')?;
    let done = match state {
        "x" | "X" => true,
        "" | " " | "~" | "-" | "/" => false,
        _ => return None,
    };
    Some((done, title.trim()))
}

/// Lines below a box, without what they share of blanks and quotation marks.
fn dedented(lines: &[String]) -> String {
    let bare = |line: &String| {
        let line = line.trim_start();
        line.strip_prefix('>').map(|quoted| quoted.strip_prefix(' ').unwrap_or(quoted).to_string())
    };
    if lines.iter().filter(|line| !line.trim().is_empty()).all(|line| line.trim_start().starts_with('>')) {
        let quoted: Vec<String> = lines.iter().filter_map(bare).collect();
        return quoted.join("\n").trim_end().to_string();
    }
    let shared = lines.iter().filter(|line| !line.trim().is_empty());
    let shared = shared.map(|line| line.len() - line.trim_start().len()).min().unwrap_or_default();
    let cut = |line: &String| line.get(shared..).unwrap_or_default().trim_end().to_string();
    lines.iter().map(cut).collect::<Vec<_>>().join("\n").trim().to_string()
}

/// A box's text without what it says in marks: `<!-- id: a/1; p: 0; deps: b, c -->`, `(id: a/1)`, `[P1]`, `(after: b)`.
fn marks(text: &str) -> (String, Marks) {
    let mut marks = Marks::default();
    let mut title = text.to_string();
    while let Some((before, inner, after)) = cut(&title, "<!--", "-->") {
        inner.split(';').for_each(|part| marks.take(part));
        title = format!("{before}{after}");
    }
    // Where a comment names it, it was written by us: then the rest is its title, whatever that looks like.
    if marks.id.is_some() {
        marks.in_comment = true;
        return (plain(&title), marks);
    }
    for (open, close) in [("(", ")"), ("[", "]")] {
        let mut from = String::new();
        while let Some((before, inner, after)) = cut(&title, open, close) {
            let is_link = close == "]" && after.starts_with('(');
            if is_link || !marks.takes(&inner) {
                from.push_str(&format!("{before}{open}{inner}{close}"));
            } else {
                from.push_str(&before);
            }
            title = after;
        }
        title = format!("{from}{title}");
    }
    let leading = title.trim_start().split_once(':').and_then(|(word, rest)| Some((priority(word)?, rest.to_string())));
    if let Some((priority, rest)) = leading.filter(|_| marks.priority.is_none()) {
        (marks.priority, title) = (Some(priority), rest);
    }
    (plain(&title), marks)
}

fn plain(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, open: &str, close: &str) -> Option<(String, String, String)> {
    let (before, rest) = text.split_once(open)?;
    let (inner, after) = rest.split_once(close)?;
    Some((before.to_string(), inner.to_string(), after.to_string()))
}

fn priority(word: &str) -> Option<Priority> {
    let number = word.trim().strip_prefix(['P', 'p'])?;
    number.parse().ok().filter(|number| *number <= 3).map(Priority)
}

impl Marks {
    /// Whether these words in brackets are marks, and were taken.
    fn takes(&mut self, inner: &str) -> bool {
        let known = |part: &str| {
            let key = part.split_once(':').map(|(key, _)| key.trim().to_lowercase());
            priority(part).is_some() || key.is_some_and(|key| KEYS.contains(&key.as_str()))
        };
        let all = inner.split(';').all(known);
        if all {
            inner.split(';').for_each(|part| self.take(part));
        }
        all
    }

    fn take(&mut self, part: &str) {
        if let Some(priority) = priority(part) {
            self.priority = Some(priority);
            return;
        }
        let Some((key, value)) = part.split_once(':') else { return };
        let value = value.trim();
        let text = || Some(value.to_string()).filter(|text| !text.is_empty());
        match key.trim().to_lowercase().as_str() {
            "id" => self.id = text(),
            "p" | "priority" => {
                self.priority = value
                    .parse()
                    .ok()
                    .filter(|number| *number <= 3)
                    .map(Priority)
                    .or_else(|| labels::priority([value]));
            }
            "cat" | "category" => self.category = text(),
            "ref" => self.reference = text(),
            "spec" => self.spec = text(),
            "deps" | "after" | "depends on" | "blocked by" | "needs" => {
                self.deps.extend(value.split(',').map(str::trim).filter(|dep| !dep.is_empty()).map(str::to_string));
            }
            _ => {}
        }
    }
}

const KEYS: &[&str] =
    &["id", "p", "priority", "cat", "category", "ref", "spec", "deps", "after", "depends on", "blocked by", "needs"];

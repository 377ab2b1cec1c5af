//! Prometheus' text format. Values of labels are anybody's text: cleaned, cut and escaped, and no family has more than so many
//! samples, so that nobody can make a scrape grow without end.

use std::fmt::Write;

/// Longer values of labels are cut.
const LONGEST_VALUE: usize = 120;
/// More samples of one family are left out, after those that are given first.
pub const MOST_SAMPLES: usize = 200;

/// What kind of number a family has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Gauge,
    Counter,
}

/// One number, with what it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSample {
    pub labels: Vec<(&'static str, String)>,
    pub value: f64,
}

impl MetricSample {
    pub fn plain(value: f64) -> Vec<Self> {
        vec![Self { labels: Vec::new(), value }]
    }

    pub fn of(label: &'static str, name: &str, value: f64) -> Self {
        Self { labels: vec![(label, name.to_string())], value }
    }
}

/// A page of families, each with its help and kind.
#[derive(Debug, Default)]
pub struct MetricsPage(String);

impl MetricsPage {
    /// Nothing is written of a family without samples. Values that become the same by being cut are one sample.
    pub fn family(&mut self, name: &str, kind: MetricKind, help: &str, samples: Vec<MetricSample>) {
        let word = match kind {
            MetricKind::Gauge => "gauge",
            MetricKind::Counter => "counter",
        };
        let mut lines: Vec<(String, f64)> = Vec::new();
        for sample in samples.into_iter().filter(|sample| sample.value.is_finite()) {
            let labels = labels(&sample.labels);
            if let Some((_, value)) = lines.iter_mut().find(|(known, _)| *known == labels) {
                *value += sample.value;
            } else if lines.len() < MOST_SAMPLES {
                lines.push((labels, sample.value));
            }
        }
        if lines.is_empty() {
            return;
        }
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {word}");
        for (labels, value) in lines {
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }

    pub fn text(self) -> String {
        self.0
    }
}

fn labels(labels: &[(&'static str, String)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pair = |(name, value): &(&'static str, String)| {
        let value = model::text::line(value, LONGEST_VALUE);
        format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
    };
    format!("{{{}}}", labels.iter().map(pair).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its name, its labels and its value.
    type ReadSample = (String, Vec<(String, String)>, f64);

    /// A sample as the format's own description has it; `None` for a line that is none.
    fn parsed(line: &str) -> Option<ReadSample> {
        let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))?;
        let (name, mut rest) = line.split_at(end);
        let mut labels = Vec::new();
        if let Some(inside) = rest.strip_prefix('{') {
            rest = inside;
            loop {
                let (label, after) = rest.split_once("=\"")?;
                if !label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    return None;
                }
                let (mut value, mut chars) = (String::new(), after.char_indices());
                let closed = loop {
                    match chars.next()? {
                        (at, '"') => break at,
                        (_, '\\') => value.push(match chars.next()?.1 {
                            'n' => '\n',
                            other @ ('\\' | '"') => other,
                            _ => return None,
                        }),
                        (_, other) => value.push(other),
                    }
                };
                labels.push((label.to_string(), value));
                rest = &after[closed + 1..];
                match rest.strip_prefix(',') {
                    Some(more) => rest = more,
                    None => break,
                }
            }
            rest = rest.strip_prefix('}')?;
        }
        let value = rest.strip_prefix(' ')?.parse().ok()?;
        Some((name.to_string(), labels, value))
    }

    #[test]
    fn x3_whatever_a_label_holds_the_page_can_be_read_back_and_nothing_is_added_to_it() {
        let hostile = [
            "",
            "plain",
            "a\"} 1\ntaut_daemon_up 0",
            "back\\slash\\",
            "\\\"",
            "line\nbreak\r\n",
            "# HELP x y",
            "{a=\"b\"}",
            "ünïcode \u{202e}\u{1b}[31m",
            "tab\tnul\0",
            "\\n",
            &"x".repeat(10_000),
        ];
        let mut page = MetricsPage::default();
        let samples = hostile.iter().map(|text| MetricSample::of("name", text, 1.5)).collect();
        page.family("taut_things", MetricKind::Gauge, "of \\ two\nlines", samples);
        let text = page.text();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("# HELP taut_things of \\\\ two\\nlines"));
        assert_eq!(lines.next(), Some("# TYPE taut_things gauge"));
        let read: Vec<_> = lines.map(|line| parsed(line).unwrap_or_else(|| panic!("{line}"))).collect();
        let values: Vec<String> = read.iter().map(|(_, labels, _)| labels[0].1.clone()).collect();
        let mut wanted: Vec<String> = hostile.iter().map(|text| model::text::line(text, LONGEST_VALUE)).collect();
        wanted.dedup();
        assert_eq!(values, wanted);
        assert!(read.iter().all(|(name, labels, value)| name == "taut_things" && labels.len() == 1 && *value == 1.5));
    }

    #[test]
    fn x3_a_family_is_bounded_and_an_empty_one_or_a_number_that_is_none_is_not_written() {
        let mut page = MetricsPage::default();
        page.family(
            "a",
            MetricKind::Counter,
            "a",
            (0..5_000).map(|n| MetricSample::of("n", &n.to_string(), 1.0)).collect(),
        );
        page.family("b", MetricKind::Gauge, "b", Vec::new());
        page.family("c", MetricKind::Gauge, "c", MetricSample::plain(f64::NAN));
        let twice = [" x", "x"].map(|name| MetricSample::of("n", name, 2.0)).to_vec();
        page.family("d", MetricKind::Gauge, "d", twice);
        let text = page.text();
        assert_eq!(text.lines().filter(|line| line.starts_with("a{")).count(), MOST_SAMPLES);
        assert!(!text.contains("# HELP b") && !text.contains("# HELP c") && text.ends_with('\n'));
    }
}

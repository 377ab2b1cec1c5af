//! Searching: all words first, then what only contains them, then any of them;
//! ranked by how telling the words are, by kind and by age, each text once.

use super::catch_up::{CatchUp, FOR_ALL};
use super::entry::RecallKind;
use super::excerpt::Excerpt;
use super::query::{QueryWords, WordMatch};
use super::{RecallIndex, open};
use crate::Error;
use model::Ms;
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use std::collections::HashSet;

/// What is looked for, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecallQuery {
    pub words: String,
    /// Only of this project, and facts that hold in all; `None` for all.
    pub project: Option<String>,
    pub agent: Option<String>,
    /// Our id of a session.
    pub session: Option<String>,
    pub since: Option<Ms>,
    /// Only what was before this moment.
    pub until: Option<Ms>,
    pub kind: Option<RecallKind>,
    /// Zero for the usual number.
    pub limit: usize,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecallHit {
    pub id: String,
    pub kind: RecallKind,
    pub at: Ms,
    pub project: Option<String>,
    pub agent: String,
    pub session: Option<String>,
    pub text: String,
    /// The part of the text that shows why it was found.
    pub excerpt: Excerpt,
}

const USUAL: usize = 10;
const MOST: usize = 200;

/// Of more matches than this the newest are ranked.
const RANKED: i64 = 20_000;

/// Where too few were found by words, so many of the newest texts are looked through letter by letter.
const SCANNED: i64 = 20_000;
const FEW: usize = 3;

/// After so long a thing counts half as much as one of today, as far as age counts.
const HALF_LIFE_MS: f64 = 6.0 * 7.0 * 86_400_000.0;
/// However old it is, it counts so much.
const OLD: f64 = 0.4;

/// A match before it is known whether its text is shown.
struct Match {
    id: i64,
    digest: i64,
    score: f64,
}

/// How an index is brought up to what was stored.
pub type CatchUpWith<'a> = dyn FnMut(&mut RecallIndex) -> Result<CatchUp, Error> + 'a;

/// What was found, and how far the index was by then.
pub type Recalled = (Vec<RecallHit>, CatchUp);

impl RecallIndex {
    /// Catches up, then searches. A damaged index is made again first.
    pub fn recall(
        &mut self,
        catch_up: &mut CatchUpWith<'_>,
        is_on: &mut dyn FnMut(&str) -> bool,
        asked: (&RecallQuery, Ms),
    ) -> Result<Recalled, Error> {
        match self.caught_up(catch_up, is_on, asked) {
            Err(error) if open::is_unusable(&error) => {
                self.start_over()?;
                self.caught_up(catch_up, is_on, asked)
            }
            other => other,
        }
    }

    /// By the switches as they stand now: where nothing can be written, the index knows them as they once were.
    fn caught_up(
        &mut self,
        catch_up: &mut CatchUpWith<'_>,
        is_on: &mut dyn FnMut(&str) -> bool,
        (query, now): (&RecallQuery, Ms),
    ) -> Result<Recalled, Error> {
        let caught = catch_up(self)?;
        let known: Vec<(i64, String)> = self.read(|conn| {
            conn.prepare_cached("SELECT id, path FROM projects")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })?;
        self.off = known.into_iter().filter(|(_, path)| !is_on(path)).map(|(id, _)| id).collect();
        let (hits, in_part) = self.search_in(query, now)?;
        Ok((hits, CatchUp { scanned_in_part: in_part, ..caught }))
    }

    /// The best first. Nothing is found for no words.
    pub fn search(&self, query: &RecallQuery, now: Ms) -> Result<Vec<RecallHit>, Error> {
        Ok(self.search_in(query, now)?.0)
    }

    /// And whether there are older texts that were not looked through letter by letter.
    fn search_in(&self, query: &RecallQuery, now: Ms) -> Result<(Vec<RecallHit>, bool), Error> {
        let words = QueryWords::read(&query.words);
        let limit = if query.limit == 0 { USUAL } else { query.limit.min(MOST) };
        let mut found: Vec<Match> = Vec::new();
        let mut texts = HashSet::new();
        let mut take = |matches: Vec<Match>| {
            for one in matches {
                if found.len() < limit && texts.insert(one.digest) {
                    found.push(one);
                }
            }
            found.len()
        };
        let mut in_part = false;
        let mut count = take(self.ranked(&words, WordMatch::AllWords, query, now)?);
        // A word may stand within others, and does where a script has no spaces.
        let enough = if words.0.len() == 1 || words.are_unspaced() { limit } else { limit.min(FEW) };
        if count < enough {
            let (matches, is_part) = self.scanned(&words, query)?;
            count = take(matches);
            in_part = is_part && count < enough;
        }
        if count < limit && words.0.len() > 1 {
            take(self.ranked(&words, WordMatch::AnyWord, query, now)?);
        }
        let hits = found.iter().map(|one| self.hit(one.id, &words)).collect::<Result<_, _>>()?;
        Ok((hits, in_part))
    }

    /// Of a statement over entries and their projects: only those whose memory is on.
    fn switched(&self) -> String {
        let off: Vec<String> = self.off.iter().map(i64::to_string).collect();
        format!("ifnull(projects.off, 0) = 0 AND ifnull(entries.project, 0) NOT IN ({})", off.join(","))
    }

    fn ranked(&self, words: &QueryWords, wanted: WordMatch, query: &RecallQuery, now: Ms) -> Result<Vec<Match>, Error> {
        let Some(mut asked) = words.expression(wanted) else { return Ok(Vec::new()) };
        if let Some(path) = &query.project {
            const FIND: &str = "SELECT ifnull((SELECT id FROM projects WHERE path = ?1), -1)";
            let id: i64 = self.read(|conn| conn.prepare_cached(FIND)?.query_row([path], |row| row.get(0)))?;
            asked = format!("({asked}) AND (scope : (\"p{id}\" OR \"{FOR_ALL}\"))");
        }
        if let Some(kind) = query.kind {
            asked = format!("({asked}) AND (scope : \"k{}\")", kind.name());
        }
        let mut sql = "SELECT entries.id, entries.digest, entries.kind, entries.at, bm25(words, 1.0, 0.5, 0.0)
            FROM words JOIN entries ON entries.id = words.rowid LEFT JOIN projects ON projects.id = entries.project
            WHERE words MATCH ? AND "
            .to_owned();
        sql.push_str(&self.switched());
        let mut values: Vec<Value> = vec![asked.into()];
        limit_to(query, &mut sql, &mut values);
        sql.push_str(" ORDER BY words.rowid DESC LIMIT ?");
        values.push(RANKED.into());
        let read = |row: &Row<'_>| {
            let kind = RecallKind::parse(row.get_ref(2)?.as_str()?).map_or(1.0, RecallKind::weight);
            let relevance: f64 = row.get(4)?;
            Ok(Match {
                id: row.get(0)?,
                digest: row.get(1)?,
                score: -relevance * kind * age(now.since(Ms(row.get(3)?))),
            })
        };
        let mut found: Vec<Match> =
            self.read(|conn| conn.prepare_cached(&sql)?.query_map(params_from_iter(values), read)?.collect())?;
        // Of the same score the newer one.
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
        Ok(found)
    }

    /// Texts that contain what was typed, as letters: scripts without spaces, and the middle of a word.
    fn scanned(&self, words: &QueryWords, query: &RecallQuery) -> Result<(Vec<Match>, bool), Error> {
        if words.0.is_empty() {
            return Ok((Vec::new(), false));
        }
        let mut sql =
            "SELECT entries.id, entries.digest, words.text FROM entries JOIN words ON words.rowid = entries.id
            LEFT JOIN projects ON projects.id = entries.project WHERE "
                .to_owned();
        sql.push_str(&self.switched());
        let mut values: Vec<Value> = Vec::new();
        if let Some(path) = &query.project {
            sql.push_str(
                " AND (entries.project = (SELECT id FROM projects WHERE path = ?)
                OR (entries.project IS NULL AND entries.kind = 'fact'))",
            );
            values.push(path.clone().into());
        }
        if let Some(kind) = query.kind {
            sql.push_str(" AND entries.kind = ?");
            values.push(kind.name().to_owned().into());
        }
        limit_to(query, &mut sql, &mut values);
        sql.push_str(" ORDER BY entries.id DESC LIMIT ?");
        values.push((SCANNED + 1).into());
        self.read(|conn| {
            let (mut found, mut seen) = (Vec::new(), 0);
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                seen += 1;
                if seen > SCANNED {
                    return Ok((found, true));
                }
                let text = row.get_ref(2)?.as_str().unwrap_or_default().to_lowercase();
                if words.0.iter().all(|word| text.contains(&word.typed)) {
                    found.push(Match { id: row.get(0)?, digest: row.get(1)?, score: 0.0 });
                }
            }
            Ok((found, false))
        })
    }

    fn hit(&self, id: i64, words: &QueryWords) -> Result<RecallHit, Error> {
        const FETCH: &str = "SELECT entries.source, entries.kind, entries.at, projects.path, entries.agent,
              entries.session, words.text
            FROM entries JOIN words ON words.rowid = entries.id LEFT JOIN projects ON projects.id = entries.project
            WHERE entries.id = ?1";
        self.read(|conn| {
            conn.prepare_cached(FETCH)?.query_row([id], |row| {
                let text: String = row.get(6)?;
                Ok(RecallHit {
                    id: row.get(0)?,
                    kind: RecallKind::parse(row.get_ref(1)?.as_str()?).unwrap_or(RecallKind::Message),
                    at: Ms(row.get(2)?),
                    project: row.get(3)?,
                    agent: row.get(4)?,
                    session: row.get(5)?,
                    excerpt: Excerpt::of(&text, words),
                    text,
                })
            })
        })
    }
}

fn limit_to(query: &RecallQuery, sql: &mut String, values: &mut Vec<Value>) {
    let mut also = |clause: &str, value: Option<Value>| {
        if let Some(value) = value {
            sql.push_str(clause);
            values.push(value);
        }
    };
    also(" AND entries.agent = ?", query.agent.clone().map(Value::from));
    also(" AND entries.session = ?", query.session.clone().map(Value::from));
    also(" AND entries.at >= ?", query.since.map(|at| at.0.into()));
    also(" AND entries.at < ?", query.until.map(|at| at.0.into()));
}

#[expect(clippy::cast_precision_loss, reason = "an age is not counted to the millisecond")]
fn age(millis: i64) -> f64 {
    OLD + (1.0 - OLD) * (-(millis as f64) / HALF_LIFE_MS).exp2()
}

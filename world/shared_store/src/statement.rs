//! Statements by name, each with its schema filled in. Sent unnamed, with every parameter a text that the statement
//! casts: no prepared state stays on the server, so a pooler may stand between.

/// One statement of a flight, with its parameters.
#[derive(Debug, Clone)]
pub struct Statement {
    pub sql: String,
    pub parameters: Vec<Option<String>>,
    /// Whether it begins or ends a transaction, and answers nothing.
    pub is_bare: bool,
}

/// Begins a transaction in which a name without a schema is PostgreSQL's own. By default it is looked for where the role or
/// the database says, and whoever may make a function there has it run with the rights of whoever asks.
macro_rules! begin {
    ($how:literal) => {
        concat!("BEGIN ISOLATION LEVEL ", $how, "; SET LOCAL search_path = pg_catalog, pg_temp")
    };
}
pub(crate) use begin;

impl Statement {
    /// `{s}` in the text stands for the schema, which must be a plain name.
    pub fn new(sql: &str, schema: &str, parameters: Vec<Option<String>>) -> Self {
        Self { sql: sql.replace("{s}", schema), parameters, is_bare: false }
    }

    pub(crate) fn bare(sql: &str) -> Self {
        Self { sql: sql.to_string(), parameters: Vec::new(), is_bare: true }
    }
}

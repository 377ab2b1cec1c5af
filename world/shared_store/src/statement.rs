//! Statements by name, each with its schema filled in. Sent unnamed, with every parameter a text that the statement
//! casts: no prepared state stays on the server, so a pooler may stand between.

/// One statement of a flight, with its parameters.
#[derive(Debug, Clone)]
pub struct Statement {
    pub sql: String,
    pub parameters: Vec<Option<String>>,
}

impl Statement {
    /// `{s}` in the text stands for the schema, which must be a plain name.
    pub fn new(sql: &str, schema: &str, parameters: Vec<Option<String>>) -> Self {
        Self { sql: sql.replace("{s}", schema), parameters }
    }
}

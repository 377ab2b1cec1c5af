//! Imports: which module's function a name in a script stands for.

use super::lexer::Token;
use super::values::{Names, STAR, dotted, split};

/// Notes what an import or `require` binds. The tokens it takes, when it is one.
pub(super) fn import(rest: &[Token], names: &mut Names) -> Option<usize> {
    match rest {
        [Token::Name(word), Token::Name(module), Token::Name(imports), tail @ ..]
            if word == "from" && imports == "import" =>
        {
            let end = statement(tail);
            for part in split(tail.get(..end).unwrap_or_default()) {
                match part {
                    [Token::Mark('*')] => names.modules.insert(STAR.to_string(), module.clone()),
                    [Token::Mark('('), Token::Name(name), ..]
                    | [Token::Name(name)]
                    | [Token::Name(name), Token::Mark(')')] => {
                        names.modules.insert(name.clone(), format!("{module}.{name}"))
                    }
                    [Token::Name(name), Token::Name(_), Token::Name(alias)] => {
                        names.modules.insert(alias.clone(), format!("{module}.{name}"))
                    }
                    _ => None,
                };
            }
            Some(3 + end)
        }
        // `import('fs')` is a call, and code follows it.
        [Token::Name(word), Token::Mark('('), tail @ ..] if word == "import" => {
            bind_later(tail, names);
            None
        }
        [Token::Name(word), tail @ ..] if word == "import" => {
            let end = statement(tail);
            let clause = tail.get(..end).unwrap_or_default();
            if let [.., Token::Name(from), Token::Text(module)] = clause
                && from == "from"
            {
                bind(clause, &module.shown(), names);
                return Some(1 + end);
            }
            for part in split(clause) {
                if let (path, width) = dotted(part)
                    && let Some([Token::Name(_), Token::Name(alias)]) = part.get(width..)
                {
                    names.modules.insert(alias.clone(), path);
                }
            }
            Some(1 + end)
        }
        [Token::Name(word), tail @ ..] if matches!(word.as_str(), "const" | "let" | "var") => {
            let equals = tail.iter().take(64).position(|token| *token == Token::Mark('='))?;
            let [Token::Name(require), Token::Mark('('), Token::Text(module), ..] = tail.get(equals + 1..)? else {
                return Some(1);
            };
            if require != "require" {
                return Some(1);
            }
            bind(tail.get(..equals)?, &module.shown(), names);
            Some(equals + 2)
        }
        _ => None,
    }
}

/// `import('fs').then(f => …)`: the name that the module gets.
fn bind_later(tail: &[Token], names: &mut Names) {
    let [Token::Text(module), Token::Mark(')'), Token::Mark('.'), Token::Name(then), Token::Mark('('), rest @ ..] =
        tail
    else {
        return;
    };
    let rest = rest.get(..16).unwrap_or(rest);
    let arrow = rest.iter().position(|token| *token == Token::Mark('='));
    if let Some(clause) = arrow.and_then(|at| rest.get(..at)).filter(|_| then == "then") {
        let named =
            |token: &&Token| !matches!(token, Token::Mark('(' | ')')) && **token != Token::Name("async".to_string());
        let clause: Vec<Token> = clause.iter().filter(named).cloned().collect();
        bind(&clause, &module.shown(), names);
    }
}

/// Where the statement ends, as far as is looked.
fn statement(tail: &[Token]) -> usize {
    let reach = tail.get(..64).unwrap_or(tail);
    reach.iter().position(|token| *token == Token::End).unwrap_or(reach.len())
}

/// `fs`, `{ rmSync }`, `{ exec: run }`, `* as fs` bound to a module.
fn bind(clause: &[Token], module: &str, names: &mut Names) {
    let module = module.trim_start_matches("node:");
    let braced = clause.contains(&Token::Mark('{'));
    let found: Vec<&String> = clause
        .iter()
        .filter_map(|token| match token {
            Token::Name(name) if !matches!(name.as_str(), "from" | "as") => Some(name),
            _ => None,
        })
        .collect();
    if !braced {
        if let Some(name) = found.last() {
            names.modules.insert((*name).clone(), module.to_string());
        }
        return;
    }
    for part in clause.split(|token| *token == Token::Mark(',')) {
        let mut parts = part.iter().filter_map(|token| match token {
            Token::Name(name) if !matches!(name.as_str(), "from" | "as") => Some(name),
            _ => None,
        });
        let Some(original) = parts.next() else { continue };
        let local = parts.next().unwrap_or(original);
        names.modules.insert(local.clone(), format!("{module}.{original}"));
    }
}

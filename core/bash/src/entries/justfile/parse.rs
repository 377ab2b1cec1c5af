//! The lines of a justfile: settings, assignments, aliases, recipes, imports.

/// How deep files may import each other.
const IMPORTS: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Justfile {
    pub(super) assignments: Vec<Assigned>,
    pub(super) aliases: Vec<(String, String)>,
    pub(super) recipes: Vec<Recipe>,
    /// The program of `set shell`.
    pub(super) shell: Option<String>,
    folder: Option<String>,
    file: Option<String>,
}

#[derive(Debug)]
pub(super) struct Assigned {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) file: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Recipe {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    /// Recipes that run before this one, with the texts of their arguments, and those that run after it.
    pub(super) before: Vec<(String, Vec<String>)>,
    pub(super) after: Vec<(String, Vec<String>)>,
    pub(super) body: Vec<(usize, String)>,
    /// `[script('python3')]`.
    pub(super) script: Option<String>,
    pub(super) folder: Option<String>,
    pub(super) file: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) default: Option<String>,
    pub(super) many: bool,
}

pub(super) fn read(file: &mut Justfile, text: &str, include: &mut dyn FnMut(&str) -> Option<String>, depth: usize) {
    let mut lines = text.lines().enumerate().peekable();
    let mut attributes: Vec<&str> = Vec::new();
    while let Some((index, line)) = lines.next() {
        let said = line.trim_end();
        if said.is_empty() || said.starts_with(['#', ' ', '\t']) {
            continue;
        }
        if said.starts_with('[') {
            attributes.push(said);
            continue;
        }
        let (first, rest) = said.split_once(' ').unwrap_or((said, ""));
        match first {
            "set" => setting(file, rest),
            "import" | "import?" => import(file, rest, include, depth),
            "mod" | "mod?" | "unexport" => {}
            "alias" => {
                if let Some((alias, name)) = rest.split_once(":=") {
                    file.aliases.push((alias.trim().to_string(), name.trim().to_string()));
                }
            }
            _ => match assignment(said) {
                Some((name, text)) => {
                    let (name, text) = (name.to_string(), text.to_string());
                    file.assignments.push(Assigned { name, text, line: index + 1, file: file.file.clone() });
                }
                None => {
                    let mut recipe = header(said).unwrap_or_default();
                    recipe.file = file.file.clone();
                    recipe.script = attribute(&attributes, "script");
                    recipe.folder = attribute(&attributes, "working-directory").or_else(|| file.folder.clone());
                    while let Some((index, line)) = lines.next_if(|(_, line)| indented(line)) {
                        recipe.body.push((index + 1, line.to_string()));
                    }
                    outdent(&mut recipe.body);
                    if !recipe.name.is_empty() {
                        file.recipes.push(recipe);
                    }
                }
            },
        }
        attributes.clear();
    }
}

fn indented(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with([' ', '\t'])
}

/// Takes off what all lines of a body begin with, and the empty ones at its end.
fn outdent(body: &mut Vec<(usize, String)>) {
    while body.last().is_some_and(|(_, line)| line.trim().is_empty()) {
        body.pop();
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let common = body.iter().filter(|(_, line)| !line.trim().is_empty()).map(|(_, line)| indent(line)).min();
    for (_, line) in body.iter_mut() {
        *line = line.get(common.unwrap_or_default()..).unwrap_or_default().to_string();
    }
}

/// `name := text`, also behind `export`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, text) = line.split_once(":=")?;
    let name = name.trim();
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    (plain && !name.is_empty()).then(|| (name, text.trim()))
}

fn setting(file: &mut Justfile, text: &str) {
    let Some((name, value)) = text.split_once(":=") else { return };
    let first = value.split(['"', '\'']).nth(1).map(str::to_string);
    match name.trim() {
        "shell" => file.shell = first,
        "working-directory" => file.folder = first,
        _ => {}
    }
}

/// The text in `[name('text')]` or `[name: 'text']`.
fn attribute(attributes: &[&str], name: &str) -> Option<String> {
    let line = attributes.iter().find(|line| line.contains(name))?;
    let behind = line.split_once(name)?.1;
    Some(behind.split(['"', '\'']).nth(1).unwrap_or("sh").to_string())
}

fn import(file: &mut Justfile, text: &str, include: &mut dyn FnMut(&str) -> Option<String>, depth: usize) {
    let Some(name) = text.split(['"', '\'']).nth(1).filter(|_| depth < IMPORTS) else { return };
    if let Some(text) = include(name) {
        let outer = file.file.replace(name.to_string());
        read(file, &text, include, depth + 1);
        file.file = outer;
    }
}

/// `@name param='x' *rest: dep (dep 'arg') && after`
fn header(line: &str) -> Option<Recipe> {
    let words = words(line.trim_start_matches('@'));
    let mut recipe = Recipe::default();
    let mut part = 0;
    for word in words {
        match (part, word.as_str()) {
            (_, "&&") => part = 2,
            (0, ":") => part = 1,
            (0, word) if recipe.name.is_empty() => recipe.name = word.to_string(),
            (0, word) => recipe.parameters.push(parameter(word)),
            (part, word) => {
                let list = if part == 1 { &mut recipe.before } else { &mut recipe.after };
                list.push(dependency(word));
            }
        }
    }
    (part > 0).then_some(recipe)
}

fn parameter(word: &str) -> Parameter {
    let many = word.starts_with(['*', '+']);
    let (name, default) = match word.split_once('=') {
        Some((name, default)) => (name, Some(default.to_string())),
        None => (word, None),
    };
    Parameter { name: name.trim_matches(['*', '+', '$']).to_string(), default, many }
}

fn dependency(word: &str) -> (String, Vec<String>) {
    match word.strip_prefix('(').map(|rest| rest.strip_suffix(')').unwrap_or(rest)) {
        Some(inside) => {
            let mut words = words(inside).into_iter();
            (words.next().unwrap_or_default(), words.collect())
        }
        None => (word.to_string(), Vec::new()),
    }
}

/// Words outside quotes and brackets; the colon of a header is one of its own, a comment ends the line.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut depth, mut quote) = (0usize, None);
    let mut letters = text.chars();
    let end = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    let mut seen_colon = false;
    while let Some(letter) = letters.by_ref().next() {
        match (quote, letter) {
            (Some(open), _) => {
                word.push(letter);
                if letter == open {
                    quote = None;
                }
            }
            (None, '\'' | '"' | '`') => {
                quote = Some(letter);
                word.push(letter);
            }
            (None, '#') if depth == 0 => break,
            (None, ':') if depth == 0 && !seen_colon => {
                seen_colon = true;
                end(&mut word, &mut words);
                words.push(":".to_string());
            }
            (None, ' ' | '\t') if depth == 0 => end(&mut word, &mut words),
            (None, _) => {
                match letter {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                word.push(letter);
            }
        }
    }
    end(&mut word, &mut words);
    words
}

//! Where our entries stand in a file of JSON, and how far up a removal reaches.

use super::entry;
use super::json_hooks::{EntryShape, JsonHooks};
use super::jsonc::{Document, Node};
use super::splice::{Row, Splice};
use crate::settings::CommandForm;

/// One of our handlers and the way to it.
pub(super) struct HandlerPlace<'d> {
    pub event: &'d str,
    pub handler: &'d Node,
    pub program: String,
    pub form: CommandForm,
    pub matcher: Option<&'d str>,
    way: Way<'d>,
}

/// A node below two members of the root, the last of their names.
pub(crate) struct NodePlace<'d> {
    pub node: &'d Node,
    way: Way<'d>,
}

/// The containers from the root down, each with the element to follow.
struct Way<'d> {
    steps: Vec<Step<'d>>,
    end: End,
}

#[derive(Clone, Copy)]
struct Step<'d> {
    container: &'d Node,
    index: usize,
    /// Members right behind the element that were put in with it.
    with: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Containers we made go with their last element.
    Climbs,
    /// The last container holds something of the user's and stays.
    Stays,
}

/// What has to be done to take something out.
pub(crate) enum Removal {
    Splices(Vec<Splice>),
    /// The settings hold nothing else: all of them were made by us.
    Everything,
}

/// All our handlers, in the order of the text.
pub(super) fn all<'d>(hooks: &JsonHooks, document: &'d Document<'_>) -> Vec<HandlerPlace<'d>> {
    let mut places = Vec::new();
    for (holder, trunk) in holders(hooks, document) {
        for (event_index, event) in holder.members().unwrap_or_default().iter().enumerate() {
            let name = event.key.as_deref().unwrap_or_default();
            for (index, entry) in event.node.items().unwrap_or_default().iter().enumerate() {
                places.extend(in_entry(hooks, document, entry).into_iter().map(|found| {
                    let mut steps: Vec<_> = trunk.into_iter().collect();
                    steps.push(Step::to(holder, event_index));
                    steps.push(Step::to(&event.node, index));
                    let end = if found.inner.is_some() { End::Stays } else { End::Climbs };
                    steps.extend(found.inner);
                    let (program, form) = found.ours;
                    let matcher = entry.member("matcher").and_then(|matcher| matcher.node.text());
                    let way = Way { steps, end };
                    HandlerPlace { event: name, handler: found.handler, program, form, matcher, way }
                }));
            }
        }
    }
    places
}

/// The objects that are keyed by event, and the step from the root to each.
fn holders<'d>(hooks: &JsonHooks, document: &'d Document<'_>) -> Vec<(&'d Node, Option<Step<'d>>)> {
    let Some(root) = &document.root else { return Vec::new() };
    let Some(key) = hooks.holder else { return vec![(root, None)] };
    let members = root.members().unwrap_or_default();
    let named = members.iter().enumerate().filter(|(_, member)| member.key.as_deref() == Some(key));
    named
        .map(|(index, member)| {
            let with = hooks.head_behind(document, members.get(index..).unwrap_or_default());
            (&member.node, Some(Step { container: root, index, with }))
        })
        .collect()
}

struct InEntry<'d> {
    handler: &'d Node,
    ours: (String, CommandForm),
    /// The list of handlers, when the group does not go with this one.
    inner: Option<Step<'d>>,
}

fn in_entry<'d>(hooks: &JsonHooks, document: &Document<'_>, entry: &'d Node) -> Vec<InEntry<'d>> {
    if hooks.shape == EntryShape::Plain {
        let ours = entry::recognise(entry, hooks.words);
        return ours.into_iter().map(|ours| InEntry { handler: entry, ours, inner: None }).collect();
    }
    let list = entry.member("hooks").map(|member| &member.node);
    let handlers = list.and_then(Node::items).unwrap_or_default();
    let found = handlers.iter().enumerate().filter_map(|(index, handler)| {
        let ours = entry::recognise(handler, hooks.words)?;
        let whole = handlers.len() == 1 && is_only_frame(document, entry, handler);
        let inner = if whole { None } else { list.map(|list| Step::to(list, index)) };
        Some(InEntry { handler, ours, inner })
    });
    found.collect()
}

/// Whether a group is nothing but a frame around its handler.
fn is_only_frame(document: &Document<'_>, group: &Node, handler: &Node) -> bool {
    let known = |key: &str| matches!(key, "hooks" | "matcher");
    let around = [group.span.start..handler.span.start, handler.span.end..group.span.end];
    group.members().unwrap_or_default().iter().all(|member| member.key.as_deref().is_some_and(known))
        && !around.iter().any(|span| document.is_commented(span))
}

/// A member of the root, as it was put in whole.
pub(crate) fn root_member<'d>(document: &'d Document<'_>, key: &str) -> Option<NodePlace<'d>> {
    let root = document.root.as_ref()?;
    let (index, node) = last_member(root, key)?;
    Some(NodePlace { node, way: Way { steps: vec![Step::to(root, index)], end: End::Climbs } })
}

/// A member of a member of the root.
pub(crate) fn member<'d>(document: &'d Document<'_>, path: [&str; 2]) -> Option<NodePlace<'d>> {
    let [outer, inner] = path;
    let root = document.root.as_ref()?;
    let (first, holder) = last_member(root, outer)?;
    let (second, node) = last_member(holder, inner)?;
    let steps = vec![Step::to(root, first), Step::to(holder, second)];
    Some(NodePlace { node, way: Way { steps, end: End::Climbs } })
}

/// The items of the list that is a member of a member of the root.
pub(crate) fn items<'d>(document: &'d Document<'_>, path: [&str; 2]) -> Vec<NodePlace<'d>> {
    let Some(NodePlace { node: list, way }) = member(document, path) else { return Vec::new() };
    let items = list.items().unwrap_or_default().iter().enumerate();
    let place = |(index, node)| {
        let steps = way.steps.iter().copied().chain([Step::to(list, index)]).collect();
        NodePlace { node, way: Way { steps, end: End::Climbs } }
    };
    items.map(place).collect()
}

fn last_member<'d>(node: &'d Node, key: &str) -> Option<(usize, &'d Node)> {
    let mut members = node.members()?.iter().enumerate();
    members.rfind(|(_, member)| member.key.as_deref() == Some(key)).map(|(index, member)| (index, &member.node))
}

impl HandlerPlace<'_> {
    pub fn removal(&self, document: &Document<'_>) -> Removal {
        self.way.removal(document)
    }
}

impl NodePlace<'_> {
    pub fn removal(&self, document: &Document<'_>) -> Removal {
        self.way.removal(document)
    }
}

impl<'d> Step<'d> {
    fn to(container: &'d Node, index: usize) -> Self {
        Self { container, index, with: 0 }
    }
}

impl Way<'_> {
    fn removal(&self, document: &Document<'_>) -> Removal {
        for step in self.steps.iter().rev() {
            let Some(row) = Row::of(step.container) else {
                break;
            };
            let row = row.joined(step.index, step.with);
            let goes = self.end == End::Climbs && row.is_made_by_us() && row.holds_only(document, step.index);
            if !goes {
                return Removal::Splices(row.detach(document, step.index));
            }
        }
        Removal::Everything
    }
}

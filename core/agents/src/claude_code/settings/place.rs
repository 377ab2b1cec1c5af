//! Where our entries stand in the settings, and how far up a removal reaches.

use super::jsonc::{Document, Node};
use super::splice::{Row, Splice};
use super::{CommandForm, entry};

/// One of our handlers and the way to it.
pub(super) struct HandlerPlace<'d> {
    pub event: &'d str,
    pub handler: &'d Node,
    pub program: String,
    pub form: CommandForm,
    pub matcher: Option<&'d str>,
    way: Way<'d>,
}

/// The containers from the root down, each with the element to follow.
struct Way<'d> {
    steps: Vec<(&'d Node, usize)>,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Containers we made go with their last element.
    Climbs,
    /// The last container holds something of the user's and stays.
    Stays,
}

/// What has to be done to take something out.
pub(super) enum Removal {
    Splices(Vec<Splice>),
    /// The settings hold nothing else: all of them were made by us.
    Everything,
}

/// All our handlers, in the order of the text.
pub(super) fn all<'d>(document: &'d Document<'_>) -> Vec<HandlerPlace<'d>> {
    let mut places = Vec::new();
    let Some(root) = &document.root else {
        return places;
    };
    for (hooks_index, hooks) in root.members().unwrap_or_default().iter().enumerate() {
        if hooks.key.as_deref() != Some("hooks") {
            continue;
        }
        for (event_index, event) in hooks.node.members().unwrap_or_default().iter().enumerate() {
            let trunk = [(root, hooks_index), (&hooks.node, event_index)];
            for (group_index, group) in event.node.items().unwrap_or_default().iter().enumerate() {
                let name = event.key.as_deref().unwrap_or_default();
                places.extend(in_group(document, group).map(|found| {
                    let mut steps = trunk.to_vec();
                    steps.push((&event.node, group_index));
                    steps.extend(found.inner);
                    let end = if found.inner.is_some() { End::Stays } else { End::Climbs };
                    let (program, form) = found.ours;
                    let matcher = group.member("matcher").and_then(|matcher| matcher.node.text());
                    HandlerPlace {
                        event: name,
                        handler: found.handler,
                        program,
                        form,
                        matcher,
                        way: Way { steps, end },
                    }
                }));
            }
        }
    }
    places
}

struct InGroup<'d> {
    handler: &'d Node,
    ours: (String, CommandForm),
    /// The list of handlers, when the group does not go with this one.
    inner: Option<(&'d Node, usize)>,
}

fn in_group<'d>(document: &'d Document<'_>, group: &'d Node) -> impl Iterator<Item = InGroup<'d>> {
    let list = group.member("hooks").map(|member| &member.node);
    let handlers = list.and_then(Node::items).unwrap_or_default();
    handlers.iter().enumerate().filter_map(move |(index, handler)| {
        let ours = entry::recognise(handler)?;
        let whole = handlers.len() == 1 && is_only_frame(document, group, handler);
        let inner = if whole { None } else { list.map(|list| (list, index)) };
        Some(InGroup { handler, ours, inner })
    })
}

/// Whether a group is nothing but a frame around its handler.
fn is_only_frame(document: &Document<'_>, group: &Node, handler: &Node) -> bool {
    let known = |key: &str| matches!(key, "hooks" | "matcher");
    let around = [group.span.start..handler.span.start, handler.span.end..group.span.end];
    group.members().unwrap_or_default().iter().all(|member| member.key.as_deref().is_some_and(known))
        && !around.iter().any(|span| document.is_commented(span))
}

/// The entries of `permissions.allow` that are among the given ones.
pub(super) fn allowed<'d>(document: &'d Document<'_>, rules: &[String]) -> Vec<Allowed<'d>> {
    let find = || {
        let root = document.root.as_ref()?;
        let (first, permissions) = last_member(root, "permissions")?;
        let (second, allow) = last_member(permissions, "allow")?;
        let trunk = [(root, first), (permissions, second)];
        let found = allow.items()?.iter().enumerate().filter_map(|(index, item)| {
            let rule = item.text().filter(|text| rules.iter().any(|rule| rule == text))?;
            let steps = trunk.iter().copied().chain([(allow, index)]).collect();
            Some(Allowed { rule, way: Way { steps, end: End::Climbs } })
        });
        Some(found.collect())
    };
    find().unwrap_or_default()
}

pub(super) struct Allowed<'d> {
    pub rule: &'d str,
    way: Way<'d>,
}

/// A member of a member of the root, the last of its name.
pub(super) struct MemberPlace<'d> {
    pub node: &'d Node,
    way: Way<'d>,
}

pub(super) fn member<'d>(document: &'d Document<'_>, path: [&str; 2]) -> Option<MemberPlace<'d>> {
    let [outer, inner] = path;
    let root = document.root.as_ref()?;
    let (first, holder) = last_member(root, outer)?;
    let (second, node) = last_member(holder, inner)?;
    Some(MemberPlace { node, way: Way { steps: vec![(root, first), (holder, second)], end: End::Climbs } })
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

impl MemberPlace<'_> {
    pub fn removal(&self, document: &Document<'_>) -> Removal {
        self.way.removal(document)
    }
}

impl Allowed<'_> {
    pub fn removal(&self, document: &Document<'_>) -> Removal {
        self.way.removal(document)
    }
}

impl Way<'_> {
    fn removal(&self, document: &Document<'_>) -> Removal {
        for (container, index) in self.steps.iter().rev() {
            let Some(row) = Row::of(container) else {
                break;
            };
            let goes = self.end == End::Climbs && row.is_made_by_us() && row.holds_only(document, *index);
            if !goes {
                return Removal::Splices(row.detach(document, *index));
            }
        }
        Removal::Everything
    }
}

//! A map that is copied for nothing: subshells and branches keep the whole state of the shell, and a line may have
//! thousands of both. Copies share what neither has changed, so a change and a comparison cost what has changed.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

/// A search tree by name that is a heap by rank. Ranks are random, so no line can choose names that make it deep.
#[derive(Debug, Clone)]
pub(crate) struct Map<V> {
    root: Tree<V>,
    ranks: RandomState,
}

type Tree<V> = Option<Rc<Node<V>>>;

#[derive(Debug)]
struct Node<V> {
    name: Rc<str>,
    value: Rc<V>,
    rank: u64,
    left: Tree<V>,
    right: Tree<V>,
}

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self { root: None, ranks: RandomState::new() }
    }
}

impl<V> Map<V> {
    pub(crate) fn get(&self, name: &str) -> Option<&Rc<V>> {
        let mut at = self.root.as_deref();
        while let Some(node) = at {
            at = match name.cmp(&node.name) {
                Ordering::Less => node.left.as_deref(),
                Ordering::Greater => node.right.as_deref(),
                Ordering::Equal => return Some(&node.value),
            };
        }
        None
    }

    /// Whether the two are copies of one map, and neither has changed since.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (&self.root, &other.root) {
            (Some(one), Some(other)) => Rc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    pub(crate) fn insert(&mut self, name: &str, value: V) {
        let (left, found, right) = split(&self.root, name);
        let name = found.map_or_else(|| Rc::from(name), |node| node.name.clone());
        let rank = self.ranks.hash_one(&*name);
        let fresh = Rc::new(Node { name, value: Rc::new(value), rank, left: None, right: None });
        self.root = join(join(left, Some(fresh)), right);
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Rc<V>> {
        let value = self.get(name)?.clone();
        let (left, _, right) = split(&self.root, name);
        self.root = join(left, right);
        Some(value)
    }
}

impl<V: PartialEq> Map<V> {
    /// The names whose values the two do not share. Both must come from copies of one map.
    pub(crate) fn differing(&self, other: &Self) -> Vec<Rc<str>> {
        let mut names = Vec::new();
        differing(&self.root, &other.root, &mut names);
        names
    }
}

/// What stands before `name`, at it, and behind it.
fn split<V>(tree: &Tree<V>, name: &str) -> (Tree<V>, Tree<V>, Tree<V>) {
    let Some(node) = tree else { return (None, None, None) };
    match name.cmp(&node.name) {
        Ordering::Equal => (node.left.clone(), Some(node.clone()), node.right.clone()),
        Ordering::Less => {
            let (before, found, behind) = split(&node.left, name);
            (before, found, with(node, behind, node.right.clone()))
        }
        Ordering::Greater => {
            let (before, found, behind) = split(&node.right, name);
            (with(node, node.left.clone(), before), found, behind)
        }
    }
}

/// Two trees as one; every name of the first comes before those of the second.
fn join<V>(first: Tree<V>, second: Tree<V>) -> Tree<V> {
    match (first, second) {
        (None, tree) | (tree, None) => tree,
        (Some(a), Some(b)) if a.rank >= b.rank => with(&a, a.left.clone(), join(a.right.clone(), Some(b))),
        (Some(a), Some(b)) => with(&b, join(Some(a), b.left.clone()), b.right.clone()),
    }
}

fn with<V>(node: &Node<V>, left: Tree<V>, right: Tree<V>) -> Tree<V> {
    Some(Rc::new(Node { name: node.name.clone(), value: node.value.clone(), rank: node.rank, left, right }))
}

fn differing<V: PartialEq>(first: &Tree<V>, second: &Tree<V>, names: &mut Vec<Rc<str>>) {
    match (first, second) {
        (None, None) => {}
        (Some(a), Some(b)) if Rc::ptr_eq(a, b) => {}
        (Some(only), None) | (None, Some(only)) => {
            differing(&only.left, &None, names);
            names.push(only.name.clone());
            differing(&only.right, &None, names);
        }
        (Some(a), Some(b)) => {
            let (root, other) = if a.rank >= b.rank { (a, second) } else { (b, first) };
            let (before, found, behind) = split(other, &root.name);
            differing(&root.left, &before, names);
            let same = found.is_some_and(|found| Rc::ptr_eq(&found.value, &root.value) || found.value == root.value);
            if !same {
                names.push(root.name.clone());
            }
            differing(&root.right, &behind, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Map;

    #[test]
    fn copies_do_not_see_each_others_changes() {
        let mut map = Map::default();
        for at in 0..500 {
            map.insert(&format!("n{at}"), at);
        }
        let mut copy = map.clone();
        copy.insert("n7", 0);
        copy.insert("new", 1);
        assert_eq!(copy.remove("n9").as_deref(), Some(&9));
        let value = |map: &Map<i32>, name: &str| map.get(name).map(|value| **value);
        assert_eq!((value(&map, "n7"), value(&map, "new"), value(&map, "n9")), (Some(7), None, Some(9)));
        assert_eq!((value(&copy, "n7"), value(&copy, "n9")), (Some(0), None));
        assert!((0..500).all(|at| value(&map, &format!("n{at}")) == Some(at)));
    }

    #[test]
    fn only_what_differs_is_named() {
        let mut map = Map::default();
        for at in 0..500 {
            map.insert(&format!("n{at}"), at);
        }
        let mut copy = map.clone();
        copy.insert("n3", 3);
        assert!(map.differing(&copy).is_empty(), "the same value set again is no difference");
        copy.insert("n3", 4);
        copy.insert("new", 1);
        copy.remove("n5");
        map.insert("own", 1);
        let mut names: Vec<String> = map.differing(&copy).iter().map(|name| name.to_string()).collect();
        names.sort();
        assert_eq!(names, ["n3", "n5", "new", "own"]);
    }
}

//! Lists against vectors and deques.

extern crate std;

use super::*;
use core::iter::successors;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::vec::Vec;

struct Item<'a> {
    number: usize,
    link: Link<&'a Item<'a>>,
}

impl<'a> Linked for &'a Item<'a> {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Push(usize),
    PushFirst(usize),
    Remove(usize),
    Pop,
    Rotate,
    Replace(usize, usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (0..8usize).prop_map(Operation::Push),
        (0..8usize).prop_map(Operation::PushFirst),
        (0..8usize).prop_map(Operation::Remove),
        Just(Operation::Pop),
        Just(Operation::Rotate),
        (0..8usize, 0..8usize).prop_map(|(i, by)| Operation::Replace(i, by)),
    ]
}

fn contents<'a>(list: &List<&'a Item<'a>>) -> Vec<usize> {
    list.iter().map(|item| item.number).collect()
}

proptest! {
    #[test]
    fn inserts_in_order_and_fairly(keys in prop::collection::vec(0..5usize, 0..12)) {
        let items: Vec<Item> = keys.iter().map(|&number| Item { number, link: Link::new() }).collect();
        let list = List::new();
        let mut model: Vec<&Item> = Vec::new();
        for item in &items {
            list.insert(item, |a, b| a.number < b.number);
            model.push(item);
            model.sort_by_key(|item| item.number);
        }
        for expected in model {
            prop_assert!(list.pop().is_some_and(|item| item.is(&expected)));
        }
    }

    #[test]
    fn behaves_like_a_deque(operations in prop::collection::vec(operation(), 0..64)) {
        let items: Vec<Item> = (0..8).map(|number| Item { number, link: Link::new() }).collect();
        let list = List::new();
        let mut model = VecDeque::new();
        for operation in operations {
            match operation {
                Operation::Push(i) => {
                    if !model.contains(&i) {
                        list.push(&items[i]);
                        model.push_back(i);
                    }
                }
                Operation::PushFirst(i) => {
                    if !model.contains(&i) {
                        list.push_first(&items[i]);
                        model.push_front(i);
                    }
                }
                Operation::Remove(i) => {
                    list.remove(&items[i]);
                    model.retain(|&other| other != i);
                }
                Operation::Pop => {
                    prop_assert_eq!(list.pop().map(|item| item.number), model.pop_front());
                }
                Operation::Replace(i, by) => {
                    if let (Some(at), false) = (model.iter().position(|&it| it == i), model.contains(&by)) {
                        list.replace(&items[i], &items[by]);
                        model[at] = by;
                    }
                }
                Operation::Rotate => {
                    let first = list.rotate().map(|item| item.number);
                    if !model.is_empty() {
                        model.rotate_left(1);
                    }
                    prop_assert_eq!(first, model.front().copied());
                }
            }
            prop_assert_eq!(list.ends().map(|(_, last)| last.number), model.back().copied());
            let only = list.only().map(|item| item.number);
            prop_assert_eq!(only, model.front().copied().filter(|_| model.len() == 1));
            prop_assert_eq!(contents(&list), model.iter().copied().collect::<Vec<_>>());
            for (i, item) in items.iter().enumerate() {
                prop_assert_eq!(item.is_linked(), model.contains(&i));
                let neighbours = model.contains(&i) && model.len() > 1;
                prop_assert_eq!(item.has_neighbours(), neighbours);
            }
        }
    }

    #[test]
    fn a_sorted_list_is_in_order_and_fair(
        operations in prop::collection::vec((0..3u8, 0..8usize, 0..4usize), 0..64),
    ) {
        let items: Vec<Item> = (0..8).map(|number| Item { number, link: Link::new() }).collect();
        let keys: Vec<Cell<usize>> = (0..8).map(|_| Cell::new(0)).collect();
        let (list, mut model) = (SortedList::new(), Vec::<usize>::new());
        for (kind, i, key) in operations {
            match (kind, model.contains(&i)) {
                (0, false) => {
                    keys[i].set(key);
                    list.insert(&items[i], |a, b| keys[a.number].get() < keys[b.number].get());
                    let place = model.iter().position(|&other| key < keys[other].get());
                    model.insert(place.unwrap_or(model.len()), i);
                }
                (0, true) => {
                    list.remove(&items[i]);
                    model.retain(|&other| other != i);
                }
                (1, false) if model.iter().all(|&other| keys[other].get() <= key) => {
                    keys[i].set(key);
                    list.push(&items[i]);
                    model.push(i);
                }
                (2, _) => {
                    if let Some(first) = list.first() {
                        list.pop_first(first);
                        prop_assert_eq!(first.number, model.remove(0));
                    }
                }
                _ => {}
            }
            let all = successors(list.first(), |&item| list.after(item));
            prop_assert_eq!(all.map(|item| item.number).collect::<Vec<_>>(), &model[..]);
        }
    }
}

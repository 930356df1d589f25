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
            prop_assert_eq!(list.is_empty(), model.is_empty());
            prop_assert_eq!(list.first().map(|item| item.number), model.front().copied());
            prop_assert_eq!(list.ends().map(|(_, last)| last.number), model.back().copied());
            let only = list.only().map(|item| item.number);
            prop_assert_eq!(only, model.front().copied().filter(|_| model.len() == 1));
            prop_assert_eq!(contents(&list), model.iter().copied().collect::<Vec<_>>());
            for (i, item) in items.iter().enumerate() {
                prop_assert_eq!(item.is_linked(), model.contains(&i));
                let place = model.iter().position(|&other| other == i);
                let next = place.map(|place| model[(place + 1) % model.len()]);
                prop_assert_eq!(item.link().next().map(|item| item.number), next);
                let neighbours = model.contains(&i) && model.len() > 1;
                prop_assert_eq!(item.has_neighbours(), neighbours);
            }
        }
    }

    #[test]
    fn a_drained_circle_yields_the_others_in_order(
        circle in prop::sample::subsequence((0..8usize).collect::<Vec<_>>(), 1..8),
        from in 0..8usize,
        removals in prop::collection::vec(prop::option::of(0..8usize), 0..16),
    ) {
        let items: Vec<Item> = (0..8).map(|number| Item { number, link: Link::new() }).collect();
        let list = List::new();
        circle.iter().for_each(|&i| list.push(&items[i]));
        let from = from % circle.len();
        let drained = DrainList::new();
        prop_assert!(drained.is_empty());
        drained.take_others(&items[circle[from]]);
        let mut model: VecDeque<_> = circle.iter().copied().collect();
        model.rotate_left(from);
        model.pop_front();
        for removal in removals {
            prop_assert_eq!(drained.is_empty(), model.is_empty());
            match removal {
                Some(i) if model.contains(&i) => {
                    drained.remove(&items[i]);
                    model.retain(|&other| other != i);
                }
                Some(_) => {}
                None => prop_assert_eq!(drained.pop().map(|item| item.number), model.pop_front()),
            }
        }
        for i in model {
            prop_assert_eq!(drained.pop().map(|item| item.number), Some(i));
        }
        prop_assert!(drained.is_empty() && drained.pop().is_none());
        for item in &items {
            prop_assert!(item.link().next().is_none(), "an element that left has no neighbour");
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

#[test]
fn an_element_leaves_a_circle_as_it_leaves_a_drained_one() {
    let items: Vec<Item> = (0..3)
        .map(|number| Item {
            number,
            link: Link::new(),
        })
        .collect();
    let (list, drained) = (List::new(), DrainList::new());
    items.iter().for_each(|item| list.push(item));
    drained.remove(&items[1]);
    assert_eq!(contents(&list), [0, 2]);
    assert!(drained.is_empty() && !(&items[1]).is_linked());
}

#[test]
fn the_only_element_can_be_popped_and_pushed_again() {
    let item = Item {
        number: 0,
        link: Link::new(),
    };
    let list = List::new();
    for _ in 0..2 {
        list.push_only(&item);
        assert!(list.only().is_some_and(|only| only.is(&&item)));
        list.pop_only(&item);
        assert!(list.is_empty() && !(&item).is_linked());
    }
}

#[test]
fn a_sorted_insertion_at_the_front_compares_once() {
    let items: Vec<Item> = (0..8)
        .map(|number| Item {
            number,
            link: Link::new(),
        })
        .collect();
    let list = SortedList::new();
    for item in items.iter().rev() {
        let comparisons = Cell::new(0);
        list.insert(item, |a, b| {
            comparisons.set(comparisons.get() + 1);
            a.number < b.number
        });
        assert!(comparisons.get() <= 1, "however long the list is");
    }
}

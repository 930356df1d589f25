//! Search of a flattened device tree for a property of a node below the root (Devicetree Specification,
//! 5).

use core::ops::Range;

const MAGIC: u32 = 0xd00d_feed;
/// Tokens of the structure block (5.4.1).
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROPERTY: u32 = 3;
pub const NOP: u32 = 4;

/// Bytes of the header that are read, and of a tree at most.
pub const HEADER: usize = 40;
pub const MOST: usize = 1 << 20;

/// Size of the tree with this header, if it is one.
pub fn size(header: &[u8]) -> Option<usize> {
    let size = cell(header, 4)? as usize;
    (cell(header, 0)? == MAGIC && (HEADER..=MOST).contains(&size)).then_some(size)
}

/// A property: the range of all of it, and that of its value, as offsets in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    pub whole: Range<usize>,
    pub value: Range<usize>,
}

/// The property `name` of `/chosen`.
pub fn chosen(tree: &[u8], name: &str) -> Option<Property> {
    property(tree, "chosen", name)
}

/// The property `name` of the child `of` of the root. Every offset of the tree is checked.
pub fn property(tree: &[u8], of: &str, name: &str) -> Option<Property> {
    let strings = cell(tree, 12)? as usize;
    let mut at = cell(tree, 8)? as usize;
    let (mut depth, mut inside) = (0usize, false);
    loop {
        let token = cell(tree, at)?;
        let start = at;
        at += 4;
        match token {
            BEGIN_NODE => {
                let node = text(tree, at)?;
                depth += 1;
                // The root has depth 1 and an empty name.
                inside = depth == 2 && node == of.as_bytes();
                at = (at + node.len() + 1).next_multiple_of(4);
            }
            END_NODE => {
                inside = false;
                depth = depth.checked_sub(1)?;
            }
            PROPERTY => {
                let length = cell(tree, at)? as usize;
                let known = strings.checked_add(cell(tree, at + 4)? as usize)?;
                let value = at + 8..(at + 8).checked_add(length)?;
                tree.get(value.clone())?;
                at = value.end.next_multiple_of(4);
                if inside && text(tree, known)? == name.as_bytes() {
                    return Some(Property {
                        whole: start..at,
                        value,
                    });
                }
            }
            NOP => {}
            // The end, or no token.
            _ => return None,
        }
    }
}

fn cell(tree: &[u8], at: usize) -> Option<u32> {
    let bytes = tree.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// The string at an offset, without its zero.
fn text(tree: &[u8], at: usize) -> Option<&[u8]> {
    let rest = tree.get(at..)?;
    rest.get(..rest.iter().position(|byte| *byte == 0)?)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(block: &mut Vec<u8>, words: &[u32]) {
        block.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    }

    /// A tree in which the node of this name, behind another one, has these properties.
    pub fn tree(node: &str, properties: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut structure, mut strings) = (Vec::new(), Vec::new());
        put(&mut structure, &[BEGIN_NODE, 0, BEGIN_NODE]);
        structure.extend(b"other\0\0\0");
        for here in [false, true] {
            if here {
                put(&mut structure, &[END_NODE, NOP, BEGIN_NODE]);
                structure.extend(node.as_bytes());
                structure.resize((structure.len() + 1).next_multiple_of(4), 0);
            }
            for (name, value) in properties {
                put(
                    &mut structure,
                    &[PROPERTY, value.len() as u32, strings.len() as u32],
                );
                structure.extend(*value);
                structure.resize(structure.len().next_multiple_of(4), 0);
                strings.extend(name.as_bytes());
                strings.push(0);
            }
        }
        put(&mut structure, &[END_NODE, END_NODE, 9]);
        let (start, end) = (HEADER, HEADER + structure.len());
        let total = end + strings.len();
        let mut tree = Vec::new();
        put(&mut tree, &[MAGIC, total as u32, start as u32, end as u32]);
        tree.resize(HEADER, 0);
        tree.extend(structure);
        tree.extend(strings);
        tree
    }

    #[test]
    fn finds_the_property_of_chosen_alone() {
        let tree = tree(
            "chosen",
            &[("bootargs", b"quiet\0"), ("rng-seed", &[7; 16])],
        );
        assert_eq!(size(&tree), Some(tree.len()));
        let found = chosen(&tree, "rng-seed").unwrap();
        assert_eq!(tree[found.value.clone()], [7; 16]);
        assert_eq!(found.whole, found.value.start - 12..found.value.end);
        let first = tree.windows(16).position(|bytes| bytes == [7; 16]);
        assert_ne!(first, Some(found.value.start), "that of the other node");
        let args = chosen(&tree, "bootargs").unwrap();
        assert_eq!((args.value.len(), args.whole.len()), (6, 20));
        assert_eq!(chosen(&tree, "kaslr-seed"), None);
        assert_eq!(chosen(&tree, "rng-see"), None);
    }

    #[test]
    fn anything_else_is_no_tree() {
        for header in [&b"\x7fELF"[..], &[], &[0; HEADER]] {
            assert_eq!(size(header), None);
        }
        let mut huge = tree("chosen", &[]);
        huge[4] = 0xff;
        assert_eq!(size(&huge), None);
    }

    proptest! {
        #[test]
        fn a_broken_tree_is_searched_within_its_bounds(
            at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
        ) {
            let mut tree = tree("chosen", &[("bootargs", b"quiet\0"), ("rng-seed", &[7; 16])]);
            let at = at.index(tree.len());
            tree[at] = byte;
            let cut = cut.index(tree.len());
            if let Some(found) = chosen(&tree[..cut], "rng-seed") {
                prop_assert!(found.value.end <= cut);
            }
            let _ = chosen(&tree, "rng-seed");
        }
    }
}

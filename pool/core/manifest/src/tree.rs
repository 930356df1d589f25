//! A flattened device tree, read in place (Devicetree Specification 0.4, chapter 5).
//!
//! The whole structure is walked once, by [`root`]: behind that every token is whole, every node's
//! name a text and every node closed, so that what is looked for is found or is not there.

const MAGIC: u32 = 0xd00d_feed;
/// The version of the format that is read (5.2).
const VERSION: u32 = 17;

/// The tokens (5.4.1).
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;

/// How many bytes the tree at the start of `bytes` says it has; nothing if it is none.
pub(crate) fn size(bytes: &[u8]) -> Option<usize> {
    let size = || word(bytes.get(4..)?);
    (word(bytes)? == MAGIC)
        .then(size)
        .flatten()
        .map(|size| size as usize)
}

/// The root of the tree at the start of `bytes`, which may be longer than the tree; nothing if it is
/// none.
pub(crate) fn root(bytes: &[u8]) -> Option<Node<'_>> {
    let field = |index: usize| word(bytes.get(index * 4..)?);
    let [magic, size, structure, strings] = [field(0)?, field(1)?, field(2)?, field(3)?];
    let [version, oldest] = [field(5)?, field(6)?];
    if magic != MAGIC || version < VERSION || oldest > VERSION {
        return None;
    }
    let whole = bytes.get(..size as usize)?;
    let block = |start: u32, size: u32| whole.get(start as usize..)?.get(..size as usize);
    let strings = block(strings, field(8)?)?;
    // Then every name in it ends (5.5).
    if strings.last().is_some_and(|&byte| byte != 0) {
        return None;
    }
    let mut tokens = Tokens {
        structure: block(structure, field(9)?)?,
        strings,
    };
    let Token::Begin(name) = tokens.next()? else {
        return None;
    };
    let root = Node { name, tokens };
    let (mut depth, mut behind_nodes) = (1, false);
    while depth > 0 {
        match tokens.next()? {
            Token::Begin(_) => (depth, behind_nodes) = (depth + 1, false),
            Token::End => (depth, behind_nodes) = (depth - 1, true),
            // A node's properties stand before the nodes in it (5.4.2).
            Token::Property(..) if !behind_nodes => {}
            Token::Property(..) | Token::Last => return None,
        }
    }
    matches!(tokens.next()?, Token::Last).then_some(root)
}

/// The cell at the start of `bytes`.
fn word(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().copied().map(u32::from_be_bytes)
}

/// The text that ends in a NUL at the start of `bytes`.
fn text(bytes: &[u8]) -> Option<&str> {
    let size = bytes.iter().position(|&byte| byte == 0)?;
    core::str::from_utf8(bytes.get(..size)?).ok()
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    name: &'a str,
    /// What stands behind its name.
    tokens: Tokens<'a>,
}

impl<'a> Node<'a> {
    /// Its name; that of the root is empty.
    pub(crate) const fn name(&self) -> &'a str {
        self.name
    }

    /// The value of a property.
    pub(crate) fn value(&self, property: &str) -> Option<&'a [u8]> {
        let mut tokens = self.tokens;
        while let Some(Token::Property(name, value)) = tokens.next() {
            let behind = name.strip_prefix(property.as_bytes());
            if behind.is_some_and(|behind| behind.first() == Some(&0)) {
                return Some(value);
            }
        }
        None
    }

    /// The nodes in it.
    pub(crate) const fn children(&self) -> Children<'a> {
        Children {
            tokens: self.tokens,
            depth: 0,
        }
    }
}

/// The nodes in a node.
pub(crate) struct Children<'a> {
    tokens: Tokens<'a>,
    /// Nodes that are open: the last one that was given and those in it.
    depth: usize,
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        loop {
            match self.tokens.next()? {
                Token::Begin(name) => {
                    self.depth += 1;
                    if self.depth == 1 {
                        let tokens = self.tokens;
                        return Some(Node { name, tokens });
                    }
                }
                Token::End => self.depth = self.depth.checked_sub(1)?,
                Token::Property(..) => {}
                Token::Last => return None,
            }
        }
    }
}

/// A token, with what belongs to it.
enum Token<'a> {
    Begin(&'a str),
    /// Its name, with what follows that in its block, and its value.
    Property(&'a [u8], &'a [u8]),
    End,
    Last,
}

/// What is left of the structure, and the names of properties.
#[derive(Clone, Copy, Debug)]
struct Tokens<'a> {
    structure: &'a [u8],
    strings: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// The next token; nothing if it is none, or not whole.
    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            match word(self.take(4)?)? {
                BEGIN_NODE => {
                    let name = text(self.structure)?;
                    self.take(name.len() + 1)?;
                    return Some(Token::Begin(name));
                }
                PROP => {
                    let size = word(self.take(4)?)? as usize;
                    let name = word(self.take(4)?)? as usize;
                    let name = self.strings.get(name..).filter(|name| !name.is_empty())?;
                    return Some(Token::Property(name, self.take(size)?));
                }
                END_NODE => return Some(Token::End),
                END => return Some(Token::Last),
                NOP => {}
                _ => return None,
            }
        }
    }

    /// The next so many bytes; what follows them begins at a cell.
    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self
            .structure
            .split_at_checked(size.checked_next_multiple_of(4)?)?;
        self.structure = rest;
        taken.get(..size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u32 = u32::from_be_bytes(*b"a\0\0\0");
    /// A property `p` of one byte, `x`, which is filled up to a cell.
    const P: [u32; 4] = [PROP, 1, 0, u32::from_be_bytes(*b"x\0\0\0")];

    /// A tree of these cells of structure, and the name `p`.
    fn tree(structure: &[u32]) -> Vec<u8> {
        let size = structure.len() as u32 * 4;
        let header = [MAGIC, 42 + size, 40, 40 + size, 0, VERSION, 16, 0, 2, size];
        let cells = header.iter().chain(structure);
        let mut bytes: Vec<u8> = cells.flat_map(|cell| cell.to_be_bytes()).collect();
        bytes.extend(b"p\0");
        bytes
    }

    #[test]
    fn what_is_in_a_tree_is_found() {
        let inner = [&[BEGIN_NODE, A], &P[..], &[END_NODE, NOP]].concat();
        let nested = [&[BEGIN_NODE, A, NOP], &inner[..], &[END_NODE]].concat();
        let whole = [&[BEGIN_NODE, 0], &P[..], &nested, &inner, &[END_NODE, END]].concat();
        let mut bytes = tree(&whole);
        bytes.extend([0xff; 8]);
        let root = root(&bytes).expect("it is whole, and what follows does not matter");
        assert_eq!((root.name(), root.value("p")), ("", Some(&b"x"[..])));
        let own = |node: Node| (node.value("p").is_some(), node.children().count());
        let children: Vec<_> = root.children().map(own).collect();
        assert_eq!(children, [(false, 1), (true, 0)]);
        assert_eq!(
            [root.value("q"), root.value(""), root.value("pp")],
            [None; 3]
        );
    }

    #[test]
    fn what_is_not_whole_is_no_tree() {
        let inner = [BEGIN_NODE, A, END_NODE];
        let structures: [&[u32]; 9] = [
            &[],
            &[END],
            &P,
            &[BEGIN_NODE, 0, END_NODE],
            &[BEGIN_NODE, 0, END],
            &[BEGIN_NODE, 0, END_NODE, END_NODE, END],
            &[&[BEGIN_NODE, 0], &inner[..], &P, &[END_NODE, END]].concat(),
            &[BEGIN_NODE, 0, PROP, 1, 7, 0, END_NODE, END],
            &[BEGIN_NODE, 0, PROP, 99, 0, 0, END_NODE, END],
        ];
        for structure in structures {
            assert!(root(&tree(structure)).is_none(), "{structure:x?}");
        }
        let whole = tree(&[BEGIN_NODE, 0, END_NODE, END]);
        assert!(root(&whole).is_some());
        assert_eq!(
            (size(&whole), size(&whole[..8])),
            (Some(whole.len()), Some(whole.len()))
        );
        assert_eq!((size(&whole[..7]), size(&[0; 8])), (None, None));
        for length in 0..whole.len() {
            assert!(root(&whole[..length]).is_none(), "{length} bytes");
        }
        let mut endless = whole.clone();
        *endless.last_mut().unwrap() = b'q';
        assert!(root(&endless).is_none(), "a name without an end");
        for (byte, other) in [(0, 0), (23, 16), (27, 18)] {
            let mut bytes = whole.clone();
            bytes[byte] = other;
            assert!(root(&bytes).is_none(), "byte {byte}");
        }
    }
}

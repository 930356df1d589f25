//! Typed access to a node's properties.

use crate::{Error, Set, tree};
use core_memory::{PAGE_SIZE, Range};
use heapless::Vec;

/// Bytes of a cell.
const CELL: usize = 4;

/// A node that knows how to complain about its properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    node: tree::Node<'a>,
    name: &'a str,
}

impl<'a> Node<'a> {
    /// The root of the tree at the start of `bytes`, which may be longer than the tree.
    pub(crate) fn root(bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        tree::root(bytes).map(Self::new).ok_or(Error::Tree)
    }

    /// A node that is called by its own name, `/` for the root.
    fn new(node: tree::Node<'a>) -> Self {
        let own = node.name();
        Self {
            node,
            name: if own.is_empty() { "/" } else { own },
        }
    }

    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    pub(crate) fn invalid(&self, property: &'static str, must: &'static str) -> Error<'a> {
        Error::Invalid {
            node: self.name,
            property,
            must,
        }
    }

    pub(crate) fn too_many(&self, name: &'static str, limit: usize) -> Error<'a> {
        Error::TooMany {
            node: self.name,
            name,
            limit,
        }
    }

    fn missing(&self, name: &'static str) -> Error<'a> {
        Error::Missing {
            node: self.name,
            name,
        }
    }

    pub(crate) fn children(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        self.node.children().map(Node::new)
    }

    pub(crate) fn find_child(&self, name: &str) -> Option<Node<'a>> {
        self.children().find(|child| child.name == name)
    }

    pub(crate) fn child(&self, name: &'static str) -> Result<Node<'a>, Error<'a>> {
        self.find_child(name).ok_or(self.missing(name))
    }

    /// What a property's value is read as, if it is there.
    fn value<T>(
        &self,
        property: &'static str,
        read: impl FnOnce(&'a [u8]) -> Option<T>,
        must: &'static str,
    ) -> Result<Option<T>, Error<'a>> {
        let read = |value| read(value).ok_or(self.invalid(property, must));
        self.node.value(property).map(read).transpose()
    }

    /// The root's kind: `expected` has to be what `compatible` says.
    pub(crate) fn require_compatible(&self, expected: &'static str) -> Result<(), Error<'a>> {
        match self.find_text("compatible") {
            Ok(Some(found)) if found == expected => Ok(()),
            _ => Err(Error::Foreign { expected }),
        }
    }

    pub(crate) fn find_text(&self, property: &'static str) -> Result<Option<&'a str>, Error<'a>> {
        let text = |value: &'a [u8]| match value.split_last()? {
            (0, text) if !text.contains(&0) => str::from_utf8(text).ok(),
            _ => None,
        };
        self.value(property, text, "be a text")
    }

    pub(crate) fn text(&self, property: &'static str) -> Result<&'a str, Error<'a>> {
        self.find_text(property)?.ok_or(self.missing(property))
    }

    /// Each text of a list, if the property is there.
    pub(crate) fn find_texts(
        &self,
        property: &'static str,
    ) -> Option<impl Iterator<Item = &'a str> + use<'a>> {
        // Each ends in a NUL (Devicetree Specification, 2.2.4); what is no text is no name.
        let list = self.node.value(property);
        let texts = list.map(|list| list.split_inclusive(|&byte| byte == 0));
        let text = |bytes: &'a [u8]| {
            let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
            str::from_utf8(text).unwrap_or_default()
        };
        texts.map(|texts| texts.map(text))
    }

    /// One of several words, as what it stands for.
    pub(crate) fn word<T: Copy>(
        &self,
        property: &'static str,
        words: &[(&str, T)],
        must: &'static str,
    ) -> Result<T, Error<'a>> {
        let text = self.text(property)?;
        let found = words.iter().find(|(word, _)| *word == text);
        found
            .map(|(_, meaning)| *meaning)
            .ok_or(self.invalid(property, must))
    }

    pub(crate) fn number(&self, property: &'static str) -> Result<u32, Error<'a>> {
        let cell = |value: &'a [u8]| value.try_into().ok().map(u32::from_be_bytes);
        let value = self.value(property, cell, "be one cell")?;
        value.ok_or(self.missing(property))
    }

    pub(crate) fn wide(&self, property: &'static str) -> Result<u64, Error<'a>> {
        let cells = |value: &'a [u8]| value.try_into().ok().map(u64::from_be_bytes);
        let value = self.value(property, cells, "be two cells")?;
        value.ok_or(self.missing(property))
    }

    /// Each tuple of fields of so many cells, none if the property is absent.
    pub(crate) fn tuples<const N: usize>(
        &self,
        property: &'static str,
        cells: [usize; N],
    ) -> Result<impl Iterator<Item = [u64; N]> + use<'a, N>, Error<'a>> {
        let size = CELL * cells.iter().sum::<usize>();
        let tuples = |value: &'a [u8]| {
            let tuples = value.chunks_exact(size);
            tuples.remainder().is_empty().then_some(tuples)
        };
        let tuples = self.value(property, tuples, "hold whole tuples of cells")?;
        let fields = move |tuple: &[u8]| {
            let mut bytes = tuple.iter();
            // No field has more than two cells, which a `u64` holds.
            cells.map(|cells| {
                let field = bytes.by_ref().take(CELL * cells);
                field.fold(0, |number, &byte| number << 8 | u64::from(byte))
            })
        };
        Ok(tuples.into_iter().flatten().map(fields))
    }

    /// Each cell as a number small enough for its use; none if the property is absent.
    pub(crate) fn numbers<T: TryFrom<u64>, const LIMIT: usize>(
        &self,
        property: &'static str,
        must: &'static str,
    ) -> Result<Vec<T, LIMIT>, Error<'a>> {
        let mut numbers = Vec::new();
        for [number] in self.tuples(property, [1])? {
            let number = T::try_from(number).map_err(|_| self.invalid(property, must))?;
            numbers
                .push(number)
                .map_err(|_| self.too_many(property, LIMIT))?;
        }
        Ok(numbers)
    }

    /// So many cells, no more and no fewer.
    pub(crate) fn cells<const N: usize>(
        &self,
        property: &'static str,
    ) -> Result<[u32; N], Error<'a>> {
        let cells = |value: &'a [u8]| {
            let (cells, rest) = value.as_chunks();
            let cells: &[_; N] = cells.try_into().ok()?;
            rest.is_empty().then(|| cells.map(u32::from_be_bytes))
        };
        let value = self.value(property, cells, "be so many cells")?;
        value.ok_or(self.missing(property))
    }

    /// Numbers below 64.
    pub(crate) fn set(&self, property: &'static str) -> Result<Set, Error<'a>> {
        let mut set = Set::default();
        for [number] in self.tuples(property, [1])? {
            if number >= u64::from(u64::BITS) {
                return Err(self.invalid(property, "be numbers below 64"));
            }
            set.add(number as usize);
        }
        Ok(set)
    }

    /// A range out of two numbers, both multiples of the page size.
    pub(crate) fn pages<Space>(
        &self,
        property: &'static str,
        start: u64,
        size: u64,
    ) -> Result<Range<Space>, Error<'a>> {
        Range::new(start, size)
            .filter(|range| range.is_aligned(PAGE_SIZE))
            .ok_or(self.invalid(property, "be whole pages within the address space"))
    }

    /// The single range of pages a property holds, if it is there.
    pub(crate) fn find_range<Space>(
        &self,
        property: &'static str,
    ) -> Result<Option<Range<Space>>, Error<'a>> {
        let mut tuples = self.tuples(property, [2, 2])?;
        match (tuples.next(), tuples.next()) {
            (Some([start, size]), None) => self.pages(property, start, size).map(Some),
            (Some(_), Some(_)) => Err(self.too_many(property, 1)),
            _ => Ok(None),
        }
    }

    pub(crate) fn range<Space>(&self, property: &'static str) -> Result<Range<Space>, Error<'a>> {
        self.find_range(property)?.ok_or(self.missing(property))
    }
}

//! Typed access to a node's properties.

use crate::{Error, Set};
use core_memory::{PAGE_SIZE, Range};
use dtoolkit::fdt::{FdtNode, FdtProperty};
use dtoolkit::{FromPropertyValue, Node as _, Property as _, ToCellInt as _};
use heapless::Vec;

/// A node that knows how to complain about its properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    node: FdtNode<'a>,
    name: &'a str,
}

impl<'a> Node<'a> {
    /// A node that is called by its own name, `/` for the root.
    pub(crate) fn new(node: FdtNode<'a>) -> Self {
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
        self.node.child(name).map(Node::new)
    }

    pub(crate) fn child(&self, name: &'static str) -> Result<Node<'a>, Error<'a>> {
        self.find_child(name).ok_or(self.missing(name))
    }

    fn find(&self, property: &str) -> Option<FdtProperty<'a>> {
        self.node.property(property)
    }

    fn value<T: FromPropertyValue<'a>>(
        &self,
        property: &'static str,
        must: &'static str,
    ) -> Result<Option<T>, Error<'a>> {
        let value = self.find(property).map(|found| found.value_as::<T>());
        value.transpose().map_err(|_| self.invalid(property, must))
    }

    /// The root's kind: `expected` has to be what `compatible` says.
    pub(crate) fn require_compatible(&self, expected: &'static str) -> Result<(), Error<'a>> {
        match self.find_text("compatible") {
            Ok(Some(found)) if found == expected => Ok(()),
            _ => Err(Error::Foreign { expected }),
        }
    }

    pub(crate) fn find_text(&self, property: &'static str) -> Result<Option<&'a str>, Error<'a>> {
        self.value(property, "be a text")
    }

    pub(crate) fn text(&self, property: &'static str) -> Result<&'a str, Error<'a>> {
        self.find_text(property)?.ok_or(self.missing(property))
    }

    /// Each text of a list, if the property is there.
    pub(crate) fn find_texts(
        &self,
        property: &'static str,
    ) -> Result<Option<impl Iterator<Item = &'a str> + use<'a>>, Error<'a>> {
        let list = self.value::<&'a [u8]>(property, "be a list of texts")?;
        // Each ends in a NUL (Devicetree Specification, 2.2.4); what is no text is no name.
        let texts = list.map(|list| list.split_inclusive(|&byte| byte == 0));
        let text = |bytes: &'a [u8]| {
            let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
            str::from_utf8(text).unwrap_or_default()
        };
        Ok(texts.map(|texts| texts.map(text)))
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
        let value = self.value(property, "be one cell")?;
        value.ok_or(self.missing(property))
    }

    pub(crate) fn wide(&self, property: &'static str) -> Result<u64, Error<'a>> {
        let value = self.value(property, "be two cells")?;
        value.ok_or(self.missing(property))
    }

    /// Each tuple of fields of so many cells, none if the property is absent.
    pub(crate) fn tuples<const N: usize>(
        &self,
        property: &'static str,
        cells: [usize; N],
    ) -> Result<impl Iterator<Item = [u64; N]> + use<'a, N>, Error<'a>> {
        let must = "hold whole tuples of cells";
        let tuples = match self.find(property) {
            Some(found) => {
                let array = found.as_prop_encoded_array(cells);
                Some(array.map_err(|_| self.invalid(property, must))?)
            }
            None => None,
        };
        // No field has more than two cells, which a `u64` holds.
        let fields =
            |tuple: [_; N]| tuple.map(|cells: dtoolkit::Cells| cells.to_int().unwrap_or(0));
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
        let value = self.value(property, "be so many cells")?;
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

//! Extended attributes of inodes in a [`FileSystem`]: names with values, in an object of their own.
//!
//! The object has a record behind the other for each [`Attribute`]: a header, the name, the value.

use crate::{Error, FileSystem};
use tenon_frames::{Frames, Object};

/// Bytes of all records of an inode at most: the longest value of Linux, and a page.
const MOST: u64 = 0x1_1000;
/// Bytes in front of a name: its length, that of the value.
const HEADER: u64 = 8;
/// Bytes that are moved or compared at a time.
const PIECE: usize = 256;

/// The place of an extended attribute among those of its inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    at: u64,
    /// Bytes of its name.
    pub name: usize,
    /// Bytes of its value.
    pub length: usize,
}

impl Attribute {
    fn value(&self) -> u64 {
        self.at + HEADER + self.name as u64
    }

    fn end(&self) -> u64 {
        self.value() + self.length as u64
    }
}

impl FileSystem {
    fn attribute_bytes(&self, number: u32) -> Result<Option<&Object>, Error> {
        Ok(self.inode(number)?.attributes.as_ref())
    }

    /// The attribute behind another one, or the first one.
    pub fn next_attribute(
        &self,
        number: u32,
        after: Option<&Attribute>,
    ) -> Result<Option<Attribute>, Error> {
        let at = after.map_or(0, Attribute::end);
        let Some(bytes) = self.attribute_bytes(number)? else {
            return Ok(None);
        };
        let mut header = [0; HEADER as usize];
        if bytes.read(at, &mut header) < header.len() {
            return Ok(None);
        }
        let [n0, n1, n2, n3, v0, v1, v2, v3] = header;
        Ok(Some(Attribute {
            at,
            name: u32::from_le_bytes([n0, n1, n2, n3]) as usize,
            length: u32::from_le_bytes([v0, v1, v2, v3]) as usize,
        }))
    }

    /// The attribute of a name.
    pub fn attribute(&self, number: u32, name: &[u8]) -> Result<Option<Attribute>, Error> {
        let mut last = None;
        while let Some(attribute) = self.next_attribute(number, last.as_ref())? {
            if attribute.name == name.len() && self.is_named(number, &attribute, name)? {
                return Ok(Some(attribute));
            }
            last = Some(attribute);
        }
        Ok(None)
    }

    fn is_named(&self, number: u32, attribute: &Attribute, name: &[u8]) -> Result<bool, Error> {
        let mut own = [0; PIECE];
        let own = own.get_mut(..name.len()).ok_or(Error::Name)?;
        self.read_attribute_name(number, attribute, own)?;
        Ok(own == name)
    }

    /// Copies the name of an attribute; returns how many bytes.
    pub fn read_attribute_name(
        &self,
        number: u32,
        attribute: &Attribute,
        to: &mut [u8],
    ) -> Result<usize, Error> {
        let bytes = self.attribute_bytes(number)?.ok_or(Error::NotFound)?;
        let length = to.len().min(attribute.name);
        Ok(bytes.read(attribute.at + HEADER, &mut to[..length]))
    }

    /// Copies a part of the value of an attribute; returns how many bytes.
    pub fn read_attribute(
        &self,
        number: u32,
        attribute: &Attribute,
        from: usize,
        to: &mut [u8],
    ) -> Result<usize, Error> {
        let bytes = self.attribute_bytes(number)?.ok_or(Error::NotFound)?;
        let length = to.len().min(attribute.length.saturating_sub(from));
        Ok(bytes.read(attribute.value() + from as u64, &mut to[..length]))
    }

    /// Begins an attribute, the value of which is [written](Self::write_attribute) next; then it is
    /// [finished](Self::finish_attribute) or [cut off](Self::cut_attribute).
    pub fn begin_attribute(
        &mut self,
        number: u32,
        name: &[u8],
        length: usize,
        frames: &mut Frames,
    ) -> Result<Attribute, Error> {
        let replaced = self.attribute(number, name)?;
        let replaced = replaced.map_or(0, |replaced| replaced.end() - replaced.at);
        let inode = self.inode_mut(number)?;
        if inode.attributes.is_none() {
            inode.attributes = Some(frames.create_object(&[]).ok_or(Error::NoSpace)?);
        }
        let bytes = inode.attributes.as_ref().ok_or(Error::NoSpace)?;
        let attribute = Attribute {
            at: bytes.size(),
            name: name.len(),
            length,
        };
        if attribute.end() - replaced > MOST {
            return Err(Error::NoSpace);
        }
        let mut header = [0; HEADER as usize];
        header[..4].copy_from_slice(&(name.len() as u32).to_le_bytes());
        header[4..].copy_from_slice(&(length as u32).to_le_bytes());
        let written = frames.write_object(bytes, attribute.at, &header)
            + frames.write_object(bytes, attribute.at + HEADER, name);
        if written < header.len() + name.len() {
            self.cut_attribute(number, &attribute, frames);
            return Err(Error::NoSpace);
        }
        Ok(attribute)
    }

    /// Writes a part of the value of an attribute that has begun.
    pub fn write_attribute(
        &mut self,
        number: u32,
        attribute: &Attribute,
        to: usize,
        part: &[u8],
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let bytes = self.attribute_bytes(number)?.ok_or(Error::NotFound)?;
        let written = frames.write_object(bytes, attribute.value() + to as u64, part);
        (written == part.len()).then_some(()).ok_or(Error::NoSpace)
    }

    /// Ends what has begun without an effect.
    pub fn cut_attribute(&mut self, number: u32, attribute: &Attribute, frames: &mut Frames) {
        if let Ok(Some(bytes)) = self.attribute_bytes(number) {
            while !frames.resize_object(bytes, attribute.at) {}
        }
    }

    /// Ends an attribute: the records behind it move to its place.
    pub fn remove_attribute(
        &mut self,
        number: u32,
        attribute: &Attribute,
        frames: &mut Frames,
    ) -> Result<(), Error> {
        let bytes = self.attribute_bytes(number)?.ok_or(Error::NotFound)?;
        let (mut to, mut from) = (attribute.at, attribute.end());
        let mut piece = [0; PIECE];
        loop {
            let count = bytes.read(from, &mut piece);
            if count == 0 {
                break;
            }
            // Bytes of records have a frame.
            frames.write_object(bytes, to, &piece[..count]);
            (to, from) = (to + count as u64, from + count as u64);
        }
        while !frames.resize_object(bytes, to) {}
        Ok(())
    }
}

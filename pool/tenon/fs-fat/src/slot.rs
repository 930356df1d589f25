//! Slots of directories, 32 bytes each (FATGEN103, directory structure): what [`Entry`](crate::Entry) is
//! made of.

/// The longest name in bytes.
pub const NAME: usize = 255;

/// Bytes of a slot.
pub(crate) const SLOT: usize = 32;

/// First bytes of slots: behind the last one, and of a free one.
pub(crate) const END: u8 = 0;
pub(crate) const FREE: u8 = 0xe5;

/// Attributes: label of the volume, directory, file since its last backup, part of a long name.
pub(crate) const VOLUME: u8 = 0x08;
pub(crate) const DIRECTORY: u8 = 0x10;
pub(crate) const FILE: u8 = 0x20;
pub(crate) const LONG: u8 = 0x0f;

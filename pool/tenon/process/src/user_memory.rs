//! Values in the memory of the calling process.

use crate::{Caller, State, with_state};
use tenon_program::Errno;
use tenon_vfs::Path;

/// Copies bytes from the calling process.
pub fn read(state: &mut State, caller: &Caller, from: usize, to: &mut [u8]) -> Result<(), Errno> {
    let (process, frames, _) = caller.parts(state)?;
    Ok(process.space()?.read(from, to, frames)?)
}

/// Copies bytes to the calling process.
pub fn write(state: &mut State, caller: &Caller, to: usize, from: &[u8]) -> Result<(), Errno> {
    let (process, frames, _) = caller.parts(state)?;
    Ok(process.space()?.write(to, from, frames)?)
}

/// Reads a path.
pub fn path(state: &mut State, caller: &Caller, from: usize, to: &mut Path) -> Result<(), Errno> {
    let (process, frames, _) = caller.parts(state)?;
    let space = process.space()?;
    to.set(|room| Ok::<_, Errno>(space.read_string(from, room, frames)?))
}

/// Reads 64-bit words.
pub fn words<const N: usize>(caller: &Caller, from: usize) -> Result<[u64; N], Errno> {
    let mut bytes = [[0; 8]; N];
    with_state(|state| read(state, caller, from, bytes.as_flattened_mut()))?;
    Ok(bytes.map(u64::from_le_bytes))
}

/// Writes 64-bit words.
pub fn put_words<const N: usize>(caller: &Caller, to: usize, words: [u64; N]) -> Result<(), Errno> {
    let bytes = words.map(u64::to_le_bytes);
    with_state(|state| write(state, caller, to, bytes.as_flattened()))
}

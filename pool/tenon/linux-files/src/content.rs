//! Bytes of processes in files without names: content of messages.

use tenon_process::{Caller, Errno, State, user_memory};

/// Bytes that are copied at a time.
const PIECE: usize = 512;

/// Copies bytes of the caller to a place in a file. `ENOMEM` without room for them.
pub fn copy_in(
    state: &mut State,
    caller: &Caller,
    from: usize,
    (file, start): (u32, u64),
    length: usize,
) -> Result<(), Errno> {
    for done in (0..length).step_by(PIECE) {
        let mut piece = [0; PIECE];
        let piece = &mut piece[..(length - done).min(PIECE)];
        user_memory::read(state, caller, from.wrapping_add(done), piece)?;
        let files = &mut state.files.tree.files;
        let count = files.write(file, start + done as u64, piece, &mut state.frames)?;
        if count < piece.len() {
            return Err(Errno::ENOMEM);
        }
    }
    Ok(())
}

/// Copies bytes from a place in a file to the caller.
pub fn copy_out(
    state: &mut State,
    caller: &Caller,
    (file, start): (u32, u64),
    to: usize,
    length: usize,
) -> Result<(), Errno> {
    for done in (0..length).step_by(PIECE) {
        let mut piece = [0; PIECE];
        let piece = &mut piece[..(length - done).min(PIECE)];
        let files = &state.files.tree.files;
        files.read(file, start + done as u64, piece)?;
        user_memory::write(state, caller, to.wrapping_add(done), piece)?;
    }
    Ok(())
}

//! Copies between files or pipes and the memory of a process, page by page, without a buffer of the
//! kernel.

use crate::transfer::{Step, set_offset};
use tenon_linux_files::event;
use tenon_linux_files::names::clock;
use tenon_process::{Access, Caller, Errno, Files, Frames, Space, State};

/// Bytes that are copied at a time; in between, the mutex of the state is free.
const STEP: usize = 8 << 12;

/// A place in a file: its inode, the offset, and whether that is the descriptor's own.
pub(crate) type Place = (u32, u64, bool);

/// Reads from a file into the memory of the caller.
pub(crate) fn read(
    state: &mut State,
    caller: &Caller,
    (to, length): (usize, usize),
    (inode, offset, own): Place,
) -> Result<Step, Errno> {
    let length = length.min(STEP);
    let now = clock(state).now;
    let (process, frames, files) = caller.parts(state)?;
    let files = &mut files.tree.files;
    let file = files.reader(inode)?;
    // A buffer behind the end of the file need not exist.
    let wanted = length.min(file.rest(offset));
    let mut done = 0;
    let copied = process.space()?.try_each_page(
        (to, wanted),
        Access::Write,
        frames,
        |frame, at, part, frames| {
            let (from, copier) = (offset + part.start as u64, frames.copier());
            let count = file.read_to(from, (frame, at), part.len(), copier);
            done += count;
            Ok::<_, Errno>(count == part.len())
        },
    );
    if done == 0 {
        copied?;
    }
    files.inode_mut(inode)?.accessed = now;
    if done > 0 {
        let (files, frames) = (&mut state.files, &mut state.frames);
        files.changed(inode, event::ACCESS, frames);
    }
    if own {
        set_offset(state, caller, caller.int(0), offset + done as u64)?;
    }
    Ok(if done < length {
        Step::Whole(done)
    } else {
        Step::Done(done)
    })
}

/// Writes to a file from the memory of the caller; returns how many bytes, and whether no step
/// follows.
pub(crate) fn write(
    state: &mut State,
    caller: &Caller,
    (from, length): (usize, usize),
    (inode, offset, own): Place,
) -> Result<(usize, bool), Errno> {
    let length = length.min(STEP);
    clock(state);
    let (process, frames, files) = caller.parts(state)?;
    let files = &mut files.tree.files;
    if length == 0 {
        return Ok((0, true));
    }
    let space = process.space()?;
    let done = files.write_with(inode, (offset, length), frames, |content, most, frames| {
        let mut done = 0;
        let copied = space.try_each_page(
            (from, most),
            Access::Read,
            frames,
            |frame, at, part, frames| {
                let to = offset + part.start as u64;
                let count = frames.write_object_from(content, to, (frame, at), part.len());
                done += count;
                Ok::<_, Errno>(count == part.len())
            },
        );
        if done == 0 {
            copied?;
        }
        Ok::<_, Errno>(done)
    })?;
    let (files, frames) = (&mut state.files, &mut state.frames);
    files.changed(inode, event::MODIFY, frames);
    if own {
        set_offset(state, caller, caller.int(0), offset + done as u64)?;
    }
    Ok((done, done < length))
}

/// Memory of a process: its address space, an address and a length.
type Buffer<'a> = (&'a mut Space, usize, usize);

/// Reads from a pipe into a buffer; `None` if that has to wait.
pub(crate) fn read_pipe(
    (space, to, length): Buffer<'_>,
    (files, index): (&mut Files, u32),
    frames: &mut Frames,
) -> Option<Result<usize, Errno>> {
    let most = length.min(STEP);
    files.read_pipe_with(index, most, frames, |frame, at, part, frames| {
        let to = to.wrapping_add(part.start);
        Ok(space.write_from_frame(to, (frame, at), part.len(), frames)?)
    })
}

/// Writes a buffer to a pipe, if `at_once` as a whole; `None` if that has to wait.
pub(crate) fn write_pipe(
    (space, from, length): Buffer<'_>,
    (files, index): (&mut Files, u32),
    at_once: bool,
    frames: &mut Frames,
) -> Option<Result<usize, Errno>> {
    if length == 0 {
        return Some(Ok(0));
    }
    let most = (length.min(STEP), at_once);
    files.write_pipe_with(index, most, frames, |frame, at, part, frames| {
        let from = from.wrapping_add(part.start);
        Ok(space.read_to_frame(from, (frame, at), part.len(), frames)?)
    })
}

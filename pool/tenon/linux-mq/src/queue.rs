//! [`mq_open`], [`mq_unlink`] and [`mq_getsetattr`]: queues and their attributes.

use crate::order::MESSAGES;
use crate::table::{NAME, Queue, description, with};
use tenon_fs_proc::Setting;
use tenon_linux_files::flag::{ACCESS, CREATE, EXCLUSIVE, NONBLOCK};
use tenon_linux_files::names::reclaim;
use tenon_process::{Caller, Errno, READ, State, WRITE, capability, user_memory, with_state};

/// Messages and their bytes that a queue has without attributes, and those that each process can give
/// it.
const DEFAULT: (i64, i64) = (10, 8192);
/// The largest message.
const LARGEST: i64 = 65_536;
/// `RLIMIT_MSGQUEUE`.
const LIMIT: usize = 12;

/// Reads a name; returns its length.
fn name(state: &mut State, caller: &Caller, to: &mut [u8; NAME + 2]) -> Result<usize, Errno> {
    let (process, frames, _) = caller.parts(state)?;
    let from = caller.address(0);
    let length = process.space()?.read_string(from, to, frames)?;
    match to.get(..length).unwrap_or_default() {
        [] => Err(Errno::ENOENT),
        name if name.contains(&b'/') || name == b"." || name == b".." => Err(Errno::EACCES),
        name if name.len() > NAME => Err(Errno::ENAMETOOLONG),
        _ => Ok(length),
    }
}

/// A new queue of the caller, with attributes.
fn create(
    state: &mut State,
    caller: &Caller,
    name: &[u8],
    (mode, attributes): (u32, Option<[u64; 8]>),
) -> Result<u32, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    let ids = &process.credentials;
    let owner = (ids.user().files, ids.group().files);
    let privileged = ids.has(capability::SYS_RESOURCE);
    let (count, used) = with(|table| Ok(table.usage(owner.0)))?;
    if count >= Setting::MessageQueues.limit() && !privileged {
        return Err(Errno::ENOSPC);
    }
    let (most, size) = attributes.map_or(DEFAULT, |words| (words[1] as i64, words[2] as i64));
    let limits = if privileged {
        (MESSAGES as i64, LARGEST)
    } else {
        DEFAULT
    };
    if !(1..=limits.0).contains(&most) || !(1..=limits.1).contains(&size) {
        return Err(Errno::EINVAL);
    }
    let (most, size) = (most as u32, size as u32);
    if used.saturating_add(Queue::bytes(most, size)) > process.limits.soft(LIMIT) {
        return Err(Errno::EMFILE);
    }
    let mode = mode & 0o7777 & !process.mask;
    let file = files.tree.files.create_unnamed(0, frames)?;
    let inserted = with(|table| {
        let mut queue = Queue::new(owner, mode, (most, size), file);
        queue.set_name(name);
        table.insert(queue, frames)
    });
    if inserted.is_err() {
        files.tree.files.let_go(file, frames);
    }
    inserted
}

/// `mq_open`.
pub fn mq_open(caller: &Caller) -> Result<u64, Errno> {
    let (flags, mode) = (caller.argument(1) as u32, caller.argument(2) as u32);
    let attributes = match caller.address(3) {
        0 => None,
        from => Some(user_memory::words(caller, from)?),
    };
    let opened = with_state(|state| {
        let mut bytes = [0; NAME + 2];
        let length = name(state, caller, &mut bytes)?;
        let name = bytes.get(..length).unwrap_or_default();
        let found = with(|table| Ok(table.find(name)))?;
        let number = match found {
            None if flags & CREATE == 0 => return Err(Errno::ENOENT),
            None => create(state, caller, name, (mode, attributes))?,
            Some(_) if flags & CREATE != 0 && flags & EXCLUSIVE != 0 => {
                return Err(Errno::EEXIST);
            }
            Some(number) => {
                let wanted = match flags & ACCESS {
                    0 => READ,
                    1 => WRITE,
                    2 => READ | WRITE,
                    _ => return Err(Errno::EINVAL),
                };
                let (owner, mode) = with(|table| {
                    let queue = table.get(number)?;
                    Ok((queue.owner, queue.mode))
                })?;
                let credentials = &caller.parts(state)?.0.credentials;
                if !credentials.permits(owner, (mode, false), wanted) {
                    return Err(Errno::EACCES);
                }
                number
            }
        };
        let opened = open(state, caller, number, flags);
        if opened.is_err() && found.is_none() {
            let (_, frames, files) = caller.parts(state)?;
            with(|table| {
                table.unlink(number, files, frames);
                Ok(())
            })?;
        }
        opened
    });
    if opened.is_err() {
        reclaim();
    }
    opened
}

/// Gives the caller a descriptor of a queue.
fn open(state: &mut State, caller: &Caller, number: u32, flags: u32) -> Result<u64, Errno> {
    let (process, frames, files) = caller.parts(state)?;
    let user = process.credentials.user().real;
    let (operations, opened) = with(|table| table.open(number, user, frames))?;
    let status = flags & (ACCESS | NONBLOCK);
    match files.open_special(operations, opened, status, frames) {
        Ok((file, source)) => {
            with(|table| {
                table.set_source(opened, source);
                Ok(())
            })?;
            caller.install(state, file, true)
        }
        Err(error) => {
            (operations.close)(files, opened, frames);
            Err(error)
        }
    }
}

/// `mq_unlink`.
pub fn mq_unlink(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let mut bytes = [0; NAME + 2];
        let length = name(state, caller, &mut bytes)?;
        let name = bytes.get(..length).unwrap_or_default();
        let (number, owner) = with(|table| {
            let number = table.find(name).ok_or(Errno::ENOENT)?;
            Ok((number, table.get(number)?.owner.0))
        })?;
        let (process, frames, files) = caller.parts(state)?;
        if !process.credentials.owns(owner) {
            return Err(Errno::EPERM);
        }
        with(|table| {
            table.unlink(number, files, frames);
            Ok(())
        })
    })?;
    reclaim();
    Ok(0)
}

/// `mq_getsetattr`.
pub fn mq_getsetattr(caller: &Caller) -> Result<u64, Errno> {
    let (from, to) = (caller.address(1), caller.address(2));
    let flags = match from {
        0 => None,
        from => Some(user_memory::words::<8>(caller, from)?[0]),
    };
    if flags.is_some_and(|flags| flags & !u64::from(NONBLOCK) != 0) {
        return Err(Errno::EINVAL);
    }
    let before = with_state(|state| {
        let (special, status) = description(state, caller)?;
        let before = with(|table| {
            let queue = table.of(special.number)?;
            let count = queue.order.len() as u64;
            let flags = u64::from(status & NONBLOCK);
            Ok([
                flags,
                queue.most.into(),
                queue.size.into(),
                count,
                0,
                0,
                0,
                0,
            ])
        })?;
        if let Some(flags) = flags {
            let (process, _, files) = caller.parts(state)?;
            let file = &process.descriptor(caller.int(0))?.file;
            files.get(file)?.flags = status & !NONBLOCK | flags as u32;
        }
        Ok::<_, Errno>(before)
    })?;
    if to != 0 {
        user_memory::put_words(caller, to, before)?;
    }
    Ok(0)
}

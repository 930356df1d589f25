//! Attributes of files: status, size, permissions, times.

use crate::event;
use crate::limit::check_size;
use crate::names::{WORKING_DIRECTORY, clock, inode};
use crate::path::found;
use tenon_fs_proc::LinkTarget;
use tenon_linux_credentials::permission::{allowed_mode, check, check_owner, take_privileges};
use tenon_linux_lock::lease;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Object, Special, State, WRITE, with_state};
use tenon_vfs::{Inode, Kind};

/// `AT_SYMLINK_NOFOLLOW`.
const NO_FOLLOW: u64 = 0x100;
/// `AT_EMPTY_PATH`.
const EMPTY_PATH: u64 = 0x1000;
/// `AT_NO_AUTOMOUNT`, which has no effect.
const NO_AUTOMOUNT: u64 = 0x800;
const PAGE: u64 = 4096;
const SECOND: u64 = 1_000_000_000;

/// The type in `st_mode`.
pub fn kind_bits(kind: Kind) -> u32 {
    match kind {
        Kind::Pipe => 0o01 << 12,
        Kind::Device(..) => 0o02 << 12,
        Kind::Directory => 0o04 << 12,
        Kind::Block(..) => 0o06 << 12,
        Kind::File => 0o10 << 12,
        Kind::Link => 0o12 << 12,
        Kind::Socket => 0o14 << 12,
    }
}

/// What `stat` reports of a file.
struct Status {
    mode: u32,
    links: u32,
    owner: [u32; 2],
    number: u64,
    size: u64,
    device: (u32, u32),
    /// Access, change of the content, change of the attributes.
    times: [u64; 3],
}

/// The object that a status is of.
enum Subject {
    Inode(u32),
    Pipe(u32),
    /// What has no inode.
    Special(Special),
}

impl Subject {
    /// The object of a descriptor.
    fn of_descriptor(state: &mut State, caller: &Caller, number: i32) -> Result<Self, Errno> {
        let (process, _, files) = caller.parts(state)?;
        let object = &files.get(&process.descriptor(number)?.file)?.object;
        Ok(match *object {
            Object::Pipe(_, _, Some(inode)) => Self::Inode(inode),
            Object::Pipe(index, ..) => Self::Pipe(index),
            Object::Special(special) => Self::Special(special),
            Object::Device(_, inode) | Object::File(inode) | Object::Directory(inode) => {
                Self::Inode(inode)
            }
        })
    }

    /// The object of a descriptor that is not open with `O_PATH`.
    fn of_opened(state: &mut State, caller: &Caller) -> Result<Self, Errno> {
        let (process, _, files) = caller.parts(state)?;
        let description = files.get(&process.descriptor(caller.int(0))?.file)?;
        if description.flags & crate::flag::PATH != 0 {
            return Err(Errno::EBADF);
        }
        Self::of_descriptor(state, caller, caller.int(0))
    }

    /// The inode or descriptor that the first two arguments of a call state.
    fn of_arguments(state: &mut State, caller: &Caller, flags: u64) -> Result<Self, Errno> {
        let (number, from) = (caller.int(0), caller.address(1));
        if flags & EMPTY_PATH != 0 {
            let mut first = [0];
            if from != 0 {
                user_memory::read(state, caller, from, &mut first)?;
            }
            if first == [0] && number >= 0 {
                return Self::of_descriptor(state, caller, number);
            }
        }
        let follow = flags & NO_FOLLOW == 0;
        let found = found(state, caller, (number, from), follow)?;
        let inode = found.inode()?;
        // One of `/proc` that is followed leads to an object.
        if follow
            && found.link
            && let Some(origin) = state.files.tree.files.inode(inode)?.origin
            && let LinkTarget::Object(object, _) = tenon_fs_proc::target(state, &origin)?
        {
            match object {
                Object::Pipe(index, ..) => return Ok(Self::Pipe(index)),
                Object::Special(special) => return Ok(Self::Special(special)),
                _ => {}
            }
        }
        Ok(Self::Inode(inode))
    }

    /// The inode; what is no file has none that is changed.
    fn inode(self) -> Result<u32, Errno> {
        match self {
            Self::Inode(inode) => Ok(inode),
            Self::Pipe(_) | Self::Special(_) => Err(Errno::EINVAL),
        }
    }

    fn status(&self, state: &State) -> Result<Status, Errno> {
        Ok(match *self {
            Self::Inode(number) => {
                let inode = state.files.tree.files.inode(number)?;
                Status {
                    mode: kind_bits(inode.kind) | inode.permissions,
                    links: inode.links,
                    owner: [inode.user, inode.group],
                    number: u64::from(number) + 1,
                    // As in Linux, what is generated has no size.
                    size: match inode.origin {
                        Some(_) => 0,
                        None => inode.size,
                    },
                    device: match inode.kind {
                        Kind::Device(major, minor) | Kind::Block(major, minor) => (major, minor),
                        _ => (0, 0),
                    },
                    times: [inode.accessed, inode.modified, inode.changed],
                }
            }
            Self::Pipe(_) | Self::Special(_) => Status {
                mode: match self {
                    Self::Special(special) => special.operations.mode,
                    _ => kind_bits(Kind::Pipe) | 0o600,
                },
                links: 1,
                owner: [0; 2],
                number: match *self {
                    Self::Pipe(index) => u64::from(index) + 1,
                    Self::Special(special) => u64::from(special.source) + 1,
                    Self::Inode(_) => 1,
                },
                size: 0,
                device: (0, 0),
                times: [0; 3],
            },
        })
    }
}

/// Little-endian words at their places in a structure.
fn structure<const N: usize>(fields: &[(usize, usize, u64)]) -> [u8; N] {
    let mut bytes = [0; N];
    for (at, size, word) in fields {
        if let Some(place) = bytes.get_mut(*at..at + size) {
            place.copy_from_slice(&word.to_le_bytes()[..*size]);
        }
    }
    bytes
}

impl Status {
    /// `struct stat` of AArch64.
    fn bytes(&self) -> [[u8; 8]; 16] {
        let [accessed, modified, changed] = self.times;
        // The lower 8 bits of the minor number are below the major one.
        let (major, minor) = self.device;
        let device = minor & 0xff | major << 8 | (minor & !0xff) << 12;
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            1,
            self.number,
            pair(self.mode, self.links),
            pair(self.owner[0], self.owner[1]),
            device.into(),
            0,
            self.size,
            PAGE,
            self.size.div_ceil(512),
            accessed / SECOND,
            accessed % SECOND,
            modified / SECOND,
            modified % SECOND,
            changed / SECOND,
            changed % SECOND,
            0,
        ];
        words.map(u64::to_le_bytes)
    }

    /// `struct statx`.
    fn extended_bytes(&self) -> [u8; 256] {
        const BASIC: u64 = 0x7ff;
        /// `STATX_MNT_ID`, of the one mount.
        const MOUNT: u64 = 0x1000;
        let [accessed, modified, changed] = self.times;
        structure(&[
            (0, 4, BASIC | MOUNT),
            (4, 4, PAGE),
            (16, 4, self.links.into()),
            (20, 4, self.owner[0].into()),
            (24, 4, self.owner[1].into()),
            (28, 2, self.mode.into()),
            (32, 8, self.number),
            (40, 8, self.size),
            (48, 8, self.size.div_ceil(512)),
            (64, 8, accessed / SECOND),
            (72, 4, accessed % SECOND),
            (96, 8, changed / SECOND),
            (104, 4, changed % SECOND),
            (112, 8, modified / SECOND),
            (120, 4, modified % SECOND),
            (128, 4, self.device.0.into()),
            (132, 4, self.device.1.into()),
            (140, 4, 1),
            (144, 8, 1),
        ])
    }
}

/// Fails with `EINVAL` where flags have others than the known ones.
fn known(flags: u64, known: u64) -> Result<(), Errno> {
    (flags & !known == 0).then_some(()).ok_or(Errno::EINVAL)
}

/// `newfstatat`.
pub fn newfstatat(caller: &Caller) -> Result<u64, Errno> {
    known(caller.argument(3), NO_FOLLOW | EMPTY_PATH | NO_AUTOMOUNT)?;
    with_state(|state| {
        let subject = Subject::of_arguments(state, caller, caller.argument(3))?;
        let words = subject.status(state)?.bytes();
        user_memory::write(state, caller, caller.address(2), words.as_flattened())?;
        Ok(0)
    })
}

/// `statx`: the basic fields.
pub fn statx(caller: &Caller) -> Result<u64, Errno> {
    /// `STATX__RESERVED`.
    const RESERVED: u64 = 0x8000_0000;
    /// `AT_STATX_SYNC_TYPE`: both at once are none.
    const SYNC_TYPE: u64 = 0x6000;
    let flags = caller.argument(2);
    known(flags, NO_FOLLOW | EMPTY_PATH | NO_AUTOMOUNT | SYNC_TYPE)?;
    if flags & SYNC_TYPE == SYNC_TYPE || caller.argument(3) & RESERVED != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let subject = Subject::of_arguments(state, caller, caller.argument(2))?;
        let bytes = subject.status(state)?.extended_bytes();
        user_memory::write(state, caller, caller.address(4), &bytes)?;
        Ok(0)
    })
}

/// `fstat`.
pub fn fstat(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let subject = Subject::of_descriptor(state, caller, caller.int(0))?;
        let words = subject.status(state)?.bytes();
        user_memory::write(state, caller, caller.address(1), words.as_flattened())?;
        Ok(0)
    })
}

/// Writes `struct statfs` of the file system.
fn put_file_system(state: &mut State, caller: &Caller, to: usize) -> Result<u64, Errno> {
    /// `TMPFS_MAGIC`.
    const MAGIC: u64 = 0x0102_1994;
    let (total, free, _) = state.usage();
    let files = &state.files.tree.files;
    let bytes: [u8; 120] = structure(&[
        (0, 8, MAGIC),
        (8, 8, PAGE),
        (16, 8, total as u64 / PAGE),
        (24, 8, free as u64 / PAGE),
        (32, 8, free as u64 / PAGE),
        (40, 8, tenon_vfs::INODES.into()),
        (48, 8, (tenon_vfs::INODES - files.count()).into()),
        (56, 8, 1),
        (64, 8, tenon_vfs::NAME as u64),
        (72, 8, PAGE),
    ]);
    user_memory::write(state, caller, to, &bytes)?;
    Ok(0)
}

/// `statfs`.
pub fn statfs(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        inode(state, caller, (WORKING_DIRECTORY, caller.address(0)), true)?;
        put_file_system(state, caller, caller.address(1))
    })
}

/// `fstatfs`.
pub fn fstatfs(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        Subject::of_descriptor(state, caller, caller.int(0))?;
        put_file_system(state, caller, caller.address(1))
    })
}

/// Changes attributes of an inode.
fn change(
    state: &mut State,
    subject: Subject,
    action: impl FnOnce(&mut Inode),
) -> Result<u64, Errno> {
    let number = subject.inode()?;
    let files = clock(state);
    let now = files.now;
    let inode = files.inode_mut(number)?;
    action(inode);
    inode.changed = now;
    let (files, frames) = (&mut state.files, &mut state.frames);
    files.changed(number, event::ATTRIBUTES, frames);
    Ok(0)
}

/// Sets permissions, as far as the caller may.
fn set_mode(state: &mut State, caller: &Caller, subject: Subject, mode: u32) -> Result<u64, Errno> {
    let number = subject.inode()?;
    check_owner(state, caller, number)?;
    let (process, _, files) = caller.parts(state)?;
    let inode = files.tree.files.inode(number)?;
    let mode = allowed_mode(&process.credentials, inode, mode);
    change(state, Subject::Inode(number), |inode| {
        inode.permissions = mode
    })
}

/// `fchmod`.
pub fn fchmod(caller: &Caller) -> Result<u64, Errno> {
    let mode = caller.argument(1) as u32 & 0o7777;
    with_state(|state| {
        let subject = Subject::of_opened(state, caller)?;
        set_mode(state, caller, subject, mode)
    })
}

/// `fchmodat`.
pub fn fchmodat(caller: &Caller) -> Result<u64, Errno> {
    let mode = caller.argument(2) as u32 & 0o7777;
    with_state(|state| {
        let subject = Subject::of_arguments(state, caller, 0)?;
        set_mode(state, caller, subject, mode)
    })
}

/// Sets the owner; -1 leaves it as it is.
fn set_owner(
    state: &mut State,
    caller: &Caller,
    subject: Subject,
    (user, group): (i32, i32),
) -> Result<u64, Errno> {
    let number = subject.inode()?;
    let (process, _, files) = caller.parts(state)?;
    let inode = files.tree.files.inode(number)?;
    let (before, chosen) = ((inode.user, inode.group), |new: i32, old: u32| {
        if new == -1 { old } else { new.cast_unsigned() }
    });
    let after = (chosen(user, before.0), chosen(group, before.1));
    if !process.credentials.may_give(before, after) {
        return Err(Errno::EPERM);
    }
    change(state, Subject::Inode(number), |inode| {
        (inode.user, inode.group) = after;
        take_privileges(inode);
    })
}

/// `fchown`.
pub fn fchown(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let subject = Subject::of_opened(state, caller)?;
        set_owner(state, caller, subject, (caller.int(1), caller.int(2)))
    })
}

/// `fchownat`.
pub fn fchownat(caller: &Caller) -> Result<u64, Errno> {
    known(caller.argument(4), NO_FOLLOW | EMPTY_PATH)?;
    with_state(|state| {
        let subject = Subject::of_arguments(state, caller, caller.argument(4))?;
        set_owner(state, caller, subject, (caller.int(2), caller.int(3)))
    })
}

/// `utimensat`.
pub fn utimensat(caller: &Caller) -> Result<u64, Errno> {
    const NOW: u64 = 0x3fff_ffff;
    const OMIT: u64 = 0x3fff_fffe;
    known(caller.argument(3), NO_FOLLOW | EMPTY_PATH)?;
    let now = tenon_process::real_nanoseconds();
    let [accessed, modified] = if caller.argument(2) == 0 {
        [Some(now); 2]
    } else {
        let words: [u64; 4] = user_memory::words(caller, caller.address(2))?;
        let mut times = [None; 2];
        for (time, pair) in times.iter_mut().zip(words.chunks(2)) {
            *time = match *pair {
                [_, NOW] => Some(now),
                [_, OMIT] => None,
                [seconds, nanoseconds] if nanoseconds < SECOND => {
                    Some(seconds.saturating_mul(SECOND).saturating_add(nanoseconds))
                }
                _ => return Err(Errno::EINVAL),
            };
        }
        times
    };
    with_state(|state| {
        let subject = if caller.argument(1) == 0 {
            Subject::of_descriptor(state, caller, caller.int(0))?
        } else {
            Subject::of_arguments(state, caller, caller.argument(3))?
        };
        let number = subject.inode()?;
        let touched = [accessed, modified] == [Some(now); 2];
        if let Err(error) = check_owner(state, caller, number) {
            // The present time is a change that writing makes too.
            if !touched {
                return Err(error);
            }
            check(state, caller, number, WRITE)?;
        }
        change(state, Subject::Inode(number), |inode| {
            inode.accessed = accessed.unwrap_or(inode.accessed);
            inode.modified = modified.unwrap_or(inode.modified);
        })
    })
}

/// The inode of a descriptor that is open for writing.
fn writable(state: &mut State, caller: &Caller, number: i32) -> Result<u32, Errno> {
    use crate::flag;
    let (process, _, files) = caller.parts(state)?;
    let description = files.get(&process.descriptor(number)?.file)?;
    let path = description.flags & flag::PATH != 0;
    let reads = path || description.flags & flag::ACCESS == flag::READ_ONLY;
    match description.object {
        Object::File(_) if reads => Err(Errno::EBADF),
        Object::File(inode) => Ok(inode),
        _ => Err(Errno::EINVAL),
    }
}

/// Changes the size of a file by a step; returns whether that is done.
fn resize_inode(state: &mut State, inode: u32, size: u64) -> Result<bool, Errno> {
    let done = state.resize_file(inode, size)?;
    if done {
        let (files, frames) = (&mut state.files, &mut state.frames);
        files.changed(inode, event::MODIFY, frames);
    }
    Ok(done)
}

/// Changes the size of an open file, in steps.
pub fn resize(caller: &Caller, number: i32, size: u64) -> Result<u64, Errno> {
    loop {
        let done = with_state(|state| {
            let inode = {
                let (process, _, files) = caller.parts(state)?;
                match files.get(&process.descriptor(number)?.file)?.object {
                    Object::File(inode) => inode,
                    _ => return Err(Errno::EINVAL),
                }
            };
            clock(state);
            // What is generated has no size.
            if state.files.tree.files.inode(inode)?.origin.is_some() {
                return Ok(true);
            }
            resize_inode(state, inode, size)
        })?;
        if done {
            return Ok(0);
        }
    }
}

/// `ftruncate`.
pub fn ftruncate(caller: &Caller) -> Result<u64, Errno> {
    let size = u64::try_from(caller.argument(1) as i64).map_err(|_| Errno::EINVAL)?;
    with_state(|state| {
        writable(state, caller, caller.int(0))?;
        check_size(state, caller, size)
    })?;
    resize(caller, caller.int(0), size)
}

/// `truncate`.
pub fn truncate(caller: &Caller) -> Result<u64, Errno> {
    let size = u64::try_from(caller.argument(1) as i64).map_err(|_| Errno::EINVAL)?;
    let mut waiting = lease::Access::new(caller, true);
    loop {
        let done = with_state(|state| {
            let at = (WORKING_DIRECTORY, caller.address(0));
            let inode = inode(state, caller, at, true)?;
            let files = clock(state);
            if files.inode(inode)?.kind == Kind::Directory {
                return Err(Errno::EISDIR);
            }
            check(state, caller, inode, WRITE)?;
            crate::busy::check_not_executed(state, inode)?;
            if state.files.tree.files.inode(inode)?.origin.is_some() {
                return Ok((true, None));
            }
            check_size(state, caller, size)?;
            if lease::holds(state, inode, (true, true))? {
                return Ok((false, Some(inode)));
            }
            Ok((resize_inode(state, inode, size)?, None))
        })?;
        match done {
            (true, _) => return Ok(0),
            (_, Some(leased)) => waiting.wait(leased)?,
            _ => {}
        }
    }
}

/// `fallocate`: reserves memory, with `FALLOC_FL_KEEP_SIZE` beyond the size.
pub fn fallocate(caller: &Caller) -> Result<u64, Errno> {
    const KEEP_SIZE: u64 = 1;
    let (offset, length) = (caller.argument(2), caller.argument(3));
    if offset > i64::MAX as u64 || length == 0 || length > i64::MAX as u64 {
        return Err(Errno::EINVAL);
    }
    if caller.argument(1) & !KEEP_SIZE != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let (mut at, end) = (offset, offset + length);
    with_state(|state| {
        writable(state, caller, caller.int(0))?;
        check_size(state, caller, end)
    })?;
    while at < end {
        at = with_state(|state| {
            let inode = writable(state, caller, caller.int(0))?;
            clock(state);
            let (_, frames, files) = caller.parts(state)?;
            let grows = caller.argument(1) & KEEP_SIZE == 0;
            let done = files.tree.files.reserve(inode, (at, end), grows, frames)?;
            if done >= end {
                files.changed(inode, event::MODIFY, frames);
            }
            Ok::<_, Errno>(done)
        })?;
    }
    Ok(0)
}

/// `fsync`, `fdatasync`: files are in memory alone.
pub fn fsync(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        match files.get(&process.descriptor(caller.int(0))?.file)?.object {
            Object::File(_) | Object::Directory(_) => Ok(0),
            _ => Err(Errno::EINVAL),
        }
    })
}

/// `syncfs`: as for `fsync`.
pub fn syncfs(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| Subject::of_descriptor(state, caller, caller.int(0)))?;
    Ok(0)
}

/// `sync_file_range`: as for `fsync`.
pub fn sync_file_range(caller: &Caller) -> Result<u64, Errno> {
    const KNOWN: u64 = 7;
    let [from, length] = [1, 2].map(|index| caller.argument(index) as i64);
    let valid = from >= 0 && length >= 0 && from.checked_add(length).is_some();
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        match files.get(&process.descriptor(caller.int(0))?.file)?.object {
            _ if !valid || caller.argument(3) & !KNOWN != 0 => Err(Errno::EINVAL),
            Object::File(_) | Object::Directory(_) => Ok(0),
            _ => Err(Errno::ESPIPE),
        }
    })
}

/// `sync`: as for `fsync`.
pub fn sync(_: &Caller) -> Result<u64, Errno> {
    Ok(0)
}

//! Programs and end of processes.

use tenon_linux_credentials::permission::check;
use tenon_linux_files::busy::check_not_written;
use tenon_linux_files::names::{WORKING_DIRECTORY, inode};
use tenon_process::user_memory;
use tenon_process::{BEGUN, Caller, EXECUTE, End, Errno, State, with_state};
use tenon_vfs::{Kind, Path};

/// `AT_SYMLINK_NOFOLLOW`.
const NO_FOLLOW: u64 = 0x100;
/// `AT_EMPTY_PATH`.
const EMPTY_PATH: u64 = 0x1000;

/// `exit`: ends the thread.
pub fn exit(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| caller.exit_thread(state, caller.int(0) as u8))?;
    Ok(0)
}

/// `exit_group`: ends the process with all its threads.
pub fn exit_group(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| caller.exit(state, End::Exit(caller.int(0) as u8)))?;
    Ok(0)
}

/// `execve`: the other threads of the process end.
pub fn execve(caller: &Caller) -> Result<u64, Errno> {
    run(caller, (WORKING_DIRECTORY, caller.address(0)), 0, 1)
}

/// `execveat`.
pub fn execveat(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(4);
    if flags & !(NO_FOLLOW | EMPTY_PATH) != 0 {
        return Err(Errno::EINVAL);
    }
    run(caller, (caller.int(0), caller.address(1)), flags, 2)
}

/// Runs a program; its arguments and its environment are at the argument `first` and the next one.
fn run(caller: &Caller, at: (i32, usize), flags: u64, first: usize) -> Result<u64, Errno> {
    let attempt = |state: &mut State| {
        let mut path = Path::new();
        read_path(state, caller, at, flags, &mut path)?;
        state.strings.clear();
        collect(state, caller, caller.address(first), false)?;
        if state.strings.is_empty() {
            // As in Linux, a program has a name in any case.
            state.strings.push(b"", false)?;
        }
        collect(state, caller, caller.address(first + 1), true)?;
        let path = text(&path)?;
        // What can be refused is refused before they end.
        state.check_program(caller.slot().0, path)?;
        if !caller.end_others(state)? {
            // By then, what was read may be another one.
            return Ok(None);
        }
        state.execute(caller.slot().0, path)?;
        state.wake();
        Ok(Some(()))
    };
    caller.wait_killable(attempt)?;
    BEGUN
}

/// Reads the path of a program, which no description has open for writing.
fn read_path(
    state: &mut State,
    caller: &Caller,
    (directory, from): (i32, usize),
    flags: u64,
    path: &mut Path,
) -> Result<(), Errno> {
    let is_long = match user_memory::path(state, caller, from, path) {
        Err(Errno::ENAMETOOLONG) => true,
        read => read.map(|()| false)?,
    };
    let inode = if !is_long && path.is_empty() && flags & EMPTY_PATH != 0 {
        let (process, _, files) = caller.parts(state)?;
        let object = &files.get(&process.descriptor(directory)?.file)?.object;
        object.inode().ok_or(Errno::EACCES)?
    } else {
        let follow = flags & NO_FOLLOW == 0;
        inode(state, caller, (directory, from), follow)?
    };
    if state.files.tree.files.inode(inode)?.kind == Kind::Link {
        return Err(Errno::ELOOP);
    }
    check(state, caller, inode, EXECUTE)?;
    check_not_written(state, inode)?;
    if is_long
        || flags != 0
        || directory != WORKING_DIRECTORY && !path.is_absolute()
        || path.bytes().starts_with(b"/proc/")
    {
        // The path of what a descriptor or a link there leads to, or a shorter one.
        let (process, _, files) = caller.parts(state)?;
        let (root, tree) = (process.root, &files.tree);
        path.set(|room| {
            let found = tree.path_from(root, inode, room);
            let (start, below) = found.map_err(|_| Errno::ENOENT)?;
            below.then_some(()).ok_or(Errno::ENOENT)?;
            room.copy_within(start.., 0);
            Ok::<_, Errno>(room.len() - start)
        })?;
    }
    Ok(())
}

/// The path of a program: names of programs are UTF-8.
fn text(path: &Path) -> Result<&str, Errno> {
    core::str::from_utf8(path.bytes()).map_err(|_| Errno::ENOENT)
}

/// Copies the strings of a vector of pointers.
fn collect(
    state: &mut State,
    caller: &Caller,
    mut vector: usize,
    environment: bool,
) -> Result<(), Errno> {
    if vector == 0 {
        return Ok(());
    }
    loop {
        let mut bytes = [0; 8];
        user_memory::read(state, caller, vector, &mut bytes)?;
        let string = u64::from_le_bytes(bytes) as usize;
        if string == 0 {
            return Ok(());
        }
        caller.push_string(state, string, environment)?;
        vector = vector.wrapping_add(8);
    }
}

/// `set_tid_address`: the word that the end of the thread clears. Returns the thread's number.
pub fn set_tid_address(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        caller.thread(state)?.clear_number = caller.address(0);
        Ok(caller.number().into())
    })
}

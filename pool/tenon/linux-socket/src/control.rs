//! [`Control`]: what goes with messages, as programs state it: descriptors and credentials.

use crate::table::{OPERATIONS, with};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Ids, State, capability};
use tenon_socket::{Credentials, Received};

/// Bytes of a `struct cmsghdr`.
const HEADER: usize = 16;
/// `SOL_SOCKET`.
const SOCKET: u32 = 1;
/// `SCM_RIGHTS`.
const RIGHTS: u32 = 1;
/// `SCM_CREDENTIALS`.
const CREDENTIALS: u32 = 2;
/// Descriptors of a message at most.
const MOST: usize = 253;
/// Bytes of all that a message states at most.
const SIZE: usize = 20480;

/// `MSG_CTRUNC`.
pub(crate) const TRUNCATED: u32 = 0x8;

/// What goes with a message that is sent.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) passed: u32,
    pub(crate) credentials: Option<Credentials>,
}

impl Control {
    pub(crate) const NONE: Self = Self {
        passed: u32::MAX,
        credentials: None,
    };

    /// Reads what the caller states for a message. What was read goes with an error.
    pub(crate) fn read(
        state: &mut State,
        caller: &Caller,
        (from, length): (usize, usize),
    ) -> Result<Self, Errno> {
        let mut control = Self::NONE;
        match control.read_all(state, caller, (from, length)) {
            Ok(()) => Ok(control),
            Err(error) => {
                control.discard(state, caller);
                Err(error)
            }
        }
    }

    fn read_all(
        &mut self,
        state: &mut State,
        caller: &Caller,
        (from, length): (usize, usize),
    ) -> Result<(), Errno> {
        if length > SIZE {
            return Err(Errno::ENOBUFS);
        }
        let mut at = 0;
        while at + HEADER <= length {
            let mut header = [0; HEADER];
            user_memory::read(state, caller, from.wrapping_add(at), &mut header)?;
            let word = |place: usize| {
                let mut bytes = [0; 4];
                bytes.copy_from_slice(&header[place..place + 4]);
                u32::from_le_bytes(bytes)
            };
            let size = word(0) as usize;
            if word(4) != 0 || size < HEADER || size > length - at {
                return Err(Errno::EINVAL);
            }
            let place = (from.wrapping_add(at + HEADER), size - HEADER);
            match (word(8), word(12)) {
                (SOCKET, RIGHTS) => self.read_rights(state, caller, place)?,
                (SOCKET, CREDENTIALS) => self.read_credentials(state, caller, place)?,
                (SOCKET, _) => return Err(Errno::EINVAL),
                _ => {}
            }
            at += size.next_multiple_of(8);
        }
        Ok(())
    }

    fn read_rights(
        &mut self,
        state: &mut State,
        caller: &Caller,
        (from, length): (usize, usize),
    ) -> Result<(), Errno> {
        let count = length / 4;
        if count > MOST {
            return Err(Errno::EINVAL);
        }
        // The list grows at its front.
        for index in (0..count).rev() {
            let mut bytes = [0; 4];
            user_memory::read(state, caller, from.wrapping_add(4 * index), &mut bytes)?;
            let (process, frames, files) = caller.parts(state)?;
            let number = i32::from_le_bytes(bytes);
            let file = files.share(&process.descriptor(number)?.file);
            let owner = process.number;
            let mut refused = None;
            with(|sockets| {
                let parts = (&mut *files, &mut *frames);
                refused =
                    { sockets.pass(&mut self.passed, (file, owner), parts, &OPERATIONS) }.err();
                Ok(())
            })?;
            if let Some(file) = refused {
                files.close(file, frames);
                return Err(Errno::ETOOMANYREFS);
            }
        }
        Ok(())
    }

    /// A process states itself, with a user and a group that it has, or any if it is privileged.
    fn read_credentials(
        &mut self,
        state: &mut State,
        caller: &Caller,
        (from, length): (usize, usize),
    ) -> Result<(), Errno> {
        let mut words = [[0; 4]; 3];
        if length != words.len() * 4 {
            return Err(Errno::EINVAL);
        }
        user_memory::read(state, caller, from, words.as_flattened_mut())?;
        let [process, user, group] = words.map(u32::from_le_bytes);
        let own = &caller.parts(state)?.0.credentials;
        let is_of = |ids: &Ids, number| [ids.real, ids.effective, ids.saved].contains(&number);
        let may = (process == caller.process() || own.has(capability::SYS_ADMIN))
            && (is_of(own.user(), user) || own.has(capability::SETUID))
            && (is_of(own.group(), group) || own.has(capability::SETGID));
        if !may {
            return Err(Errno::EPERM);
        }
        if state.process_of(process).is_none() {
            return Err(Errno::ESRCH);
        }
        self.credentials = Some(Credentials {
            process,
            user,
            group,
        });
        Ok(())
    }

    /// Closes what is not sent.
    pub(crate) fn discard(&mut self, state: &mut State, caller: &Caller) {
        let passed = core::mem::replace(&mut self.passed, u32::MAX);
        if passed == u32::MAX {
            return;
        }
        if let Ok((_, frames, files)) = caller.parts(state) {
            let discarded = with(|sockets| {
                sockets.discard_passed(passed);
                Ok(())
            });
            debug_assert!(discarded.is_ok());
            crate::table::tidy(files, frames);
        }
    }
}

/// A place where what goes with a message is written for the caller.
struct Place {
    at: usize,
    room: usize,
    used: usize,
    flags: u32,
}

impl Place {
    /// Writes a header and what follows it; as much as there is room for.
    fn put(
        &mut self,
        state: &mut State,
        caller: &Caller,
        kind: u32,
        content: &[u8],
    ) -> Result<(), Errno> {
        let room = self.room - self.used;
        if room < HEADER {
            self.flags |= TRUNCATED;
            return Ok(());
        }
        let part = content.len().min(room - HEADER);
        if part < content.len() {
            self.flags |= TRUNCATED;
        }
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&((HEADER + part) as u64).to_le_bytes());
        header[8..12].copy_from_slice(&SOCKET.to_le_bytes());
        header[12..].copy_from_slice(&kind.to_le_bytes());
        let at = self.at.wrapping_add(self.used);
        user_memory::write(state, caller, at, &header)?;
        user_memory::write(state, caller, at.wrapping_add(HEADER), &content[..part])?;
        self.used += (HEADER + part).next_multiple_of(8).min(room);
        Ok(())
    }
}

/// Writes what was received with a message for the caller, which has its descriptors then; returns how
/// many bytes were written, and `MSG_CTRUNC` if something is missing.
pub(crate) fn write(
    state: &mut State,
    caller: &Caller,
    received: &mut Received,
    (shows_credentials, close_on_exec): (bool, bool),
    (at, room): (usize, usize),
) -> Result<(usize, u32), Errno> {
    let mut place = Place {
        at,
        room: if at == 0 { 0 } else { room },
        used: 0,
        flags: 0,
    };
    if shows_credentials {
        let from = received.credentials.unwrap_or(Credentials::NOBODY);
        let words = [from.process, from.user, from.group].map(u32::to_le_bytes);
        place.put(state, caller, CREDENTIALS, words.as_flattened())?;
    }
    if received.passed != u32::MAX {
        let room = place.room - place.used;
        let most = (room.saturating_sub(HEADER) / 4).min(MOST);
        let mut bytes = [[0; 4]; MOST];
        let mut count = 0;
        while count < most && received.passed != u32::MAX {
            let (_, frames, files) = caller.parts(state)?;
            let parts = (files, frames);
            let file =
                with(|sockets| Ok(sockets.take_passed(&mut received.passed, parts, &OPERATIONS)))?;
            let Some(file) = file else { break };
            match caller.install(state, file, close_on_exec) {
                Ok(number) => bytes[count] = (number as u32).to_le_bytes(),
                Err(_) => {
                    place.flags |= TRUNCATED;
                    break;
                }
            }
            count += 1;
        }
        if received.passed != u32::MAX {
            place.flags |= TRUNCATED;
        }
        if count > 0 {
            let bytes = &bytes[..count];
            place.put(state, caller, RIGHTS, bytes.as_flattened())?;
        }
    }
    Ok((place.used, place.flags))
}

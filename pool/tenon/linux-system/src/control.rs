//! [`prctl`] and other calls that change how a process runs.

use tenon_process::user_memory;
use tenon_process::{Caller, Errno, NAME, capability, with_state};

/// Options of `prctl`.
mod option {
    pub const SET_DEATH_SIGNAL: u64 = 1;
    pub const GET_DEATH_SIGNAL: u64 = 2;
    pub const GET_DUMPABLE: u64 = 3;
    pub const SET_DUMPABLE: u64 = 4;
    pub const GET_KEEP: u64 = 7;
    pub const SET_KEEP: u64 = 8;
    pub const GET_TIMING: u64 = 13;
    pub const SET_TIMING: u64 = 14;
    pub const SET_NAME: u64 = 15;
    pub const GET_NAME: u64 = 16;
    pub const GET_SECCOMP: u64 = 21;
    pub const READ_BOUNDING: u64 = 23;
    pub const DROP_BOUNDING: u64 = 24;
    pub const GET_SECURE_BITS: u64 = 27;
    pub const SET_SECURE_BITS: u64 = 28;
    pub const SET_SLACK: u64 = 29;
    pub const GET_SLACK: u64 = 30;
    pub const SET_ADOPTS: u64 = 36;
    pub const GET_ADOPTS: u64 = 37;
    pub const SET_NO_PRIVILEGES: u64 = 38;
    pub const GET_NO_PRIVILEGES: u64 = 39;
    pub const GET_THREAD_NUMBER_ADDRESS: u64 = 40;
    pub const SET_HUGE_DISABLED: u64 = 41;
    pub const GET_HUGE_DISABLED: u64 = 42;
    pub const AMBIENT: u64 = 47;
}

/// `prctl`.
pub fn prctl(caller: &Caller) -> Result<u64, Errno> {
    const SIGNALS: u64 = 64;
    const LAST: u64 = tenon_process::capability::LAST as u64;
    let (option, value) = (caller.argument(0), caller.argument(1));
    let rest = [2, 3, 4].map(|index| caller.argument(index));
    let address = caller.address(1);
    with_state(|state| {
        let (process, frames, _) = caller.parts(state)?;
        let credentials = &mut process.credentials;
        match option {
            option::SET_NAME => {
                let mut bytes = [0; NAME - 1];
                let length = process.space()?.read_string(address, &mut bytes, frames)?;
                let name = bytes.get(..length).unwrap_or_default();
                process.set_name(core::str::from_utf8(name).map_err(|_| Errno::EINVAL)?);
                Ok(0)
            }
            option::GET_NAME => {
                let mut bytes = [0; NAME];
                let name = process.name();
                bytes[..name.len()].copy_from_slice(name.as_bytes());
                user_memory::write(state, caller, address, &bytes)?;
                Ok(0)
            }
            option::GET_DUMPABLE => Ok(credentials.dumpable.into()),
            option::SET_DUMPABLE if value <= 1 => {
                credentials.dumpable = value == 1;
                Ok(0)
            }
            option::GET_KEEP => Ok(credentials.capabilities().keep.into()),
            option::SET_KEEP if value <= 1 => {
                credentials.capabilities_mut().keep = value == 1;
                Ok(0)
            }
            option::READ_BOUNDING if value <= LAST => {
                Ok(credentials.capabilities().bounding() >> value & 1)
            }
            option::DROP_BOUNDING if value <= LAST => {
                credentials.capabilities_mut().drop_bounding(value as u32)?;
                Ok(0)
            }
            option::SET_DEATH_SIGNAL if value <= SIGNALS => {
                process.death_signal = value as u8;
                Ok(0)
            }
            option::GET_DEATH_SIGNAL => {
                let signal = u32::from(process.death_signal).to_le_bytes();
                user_memory::write(state, caller, address, &signal)?;
                Ok(0)
            }
            option::SET_ADOPTS => {
                process.adopts = value != 0;
                Ok(0)
            }
            option::GET_ADOPTS => {
                let adopts = u32::from(process.adopts).to_le_bytes();
                user_memory::write(state, caller, address, &adopts)?;
                Ok(0)
            }
            // Of statistics, which is the only one.
            option::GET_TIMING => Ok(0),
            option::SET_TIMING if value == 0 => Ok(0),
            option::SET_SECURE_BITS if !credentials.has(capability::SETPCAP) => Err(Errno::EPERM),
            option::SET_SECURE_BITS if value == 0 => Ok(0),
            option::GET_THREAD_NUMBER_ADDRESS => {
                let address_of = caller.thread(state)?.clear_number as u64;
                user_memory::write(state, caller, address, &address_of.to_le_bytes())?;
                Ok(0)
            }
            option::GET_SECCOMP | option::GET_SECURE_BITS => Ok(0),
            option::GET_HUGE_DISABLED if value == 0 && rest == [0; 3] => Ok(0),
            // Pages have one size in any case.
            option::SET_HUGE_DISABLED if rest == [0; 3] => Ok(0),
            option::SET_SLACK => {
                let initial = process.slack.1;
                process.slack.0 = if value == 0 || value > i64::MAX as u64 {
                    initial
                } else {
                    value
                };
                Ok(0)
            }
            option::GET_SLACK => Ok(process.slack.0.min(i32::MAX as u64)),
            option::SET_NO_PRIVILEGES if value == 1 && rest == [0; 3] => {
                credentials.no_new_privileges = true;
                Ok(0)
            }
            option::GET_NO_PRIVILEGES if value == 0 && rest == [0; 3] => {
                Ok(credentials.no_new_privileges.into())
            }
            option::AMBIENT => {
                const IS_SET: u64 = 1;
                const RAISE: u64 = 2;
                const LOWER: u64 = 3;
                const CLEAR: u64 = 4;
                let capabilities = credentials.capabilities_mut();
                match (value, rest) {
                    (CLEAR, [0, 0, 0]) => {
                        for capability in 0..=LAST {
                            capabilities.set_ambient(capability as u32, false)?;
                        }
                        Ok(0)
                    }
                    (IS_SET, [capability, 0, 0]) if capability <= LAST => {
                        Ok(capabilities.ambient() >> capability & 1)
                    }
                    (RAISE | LOWER, [capability, 0, 0]) if capability <= LAST => {
                        capabilities.set_ambient(capability as u32, value == RAISE)?;
                        Ok(0)
                    }
                    _ => Err(Errno::EINVAL),
                }
            }
            _ => Err(Errno::EINVAL),
        }
    })
}

/// `vhangup`: no terminal is hung up.
pub fn vhangup(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let credentials = &caller.parts(state)?.0.credentials;
        let may = credentials.has(capability::SYS_TTY_CONFIG);
        may.then_some(0).ok_or(Errno::EPERM)
    })
}

/// `syslog`: of a log without messages, which are those of the VM's console.
pub fn syslog(caller: &Caller) -> Result<u64, Errno> {
    /// Reading the log, and the last of these.
    const READ: i32 = 2;
    const READ_AND_CLEAR: i32 = 4;
    const SET_LEVEL: i32 = 8;
    /// The size of the log.
    const LAST: i32 = 10;
    let (kind, buffer, length) = (caller.int(0), caller.address(1), caller.int(2));
    with_state(|state| {
        let credentials = &caller.parts(state)?.0.credentials;
        if !credentials.has(capability::SYSLOG) && !credentials.has(capability::SYS_ADMIN) {
            return Err(Errno::EPERM);
        }
        match kind {
            READ..=READ_AND_CLEAR if buffer == 0 || length < 0 => Err(Errno::EINVAL),
            SET_LEVEL if !(1..=8).contains(&length) => Err(Errno::EINVAL),
            0..=LAST => Ok(0),
            _ => Err(Errno::EINVAL),
        }
    })
}

/// `personality`: a number that is kept, without effect.
pub fn personality(caller: &Caller) -> Result<u64, Errno> {
    let wanted = caller.argument(0) as u32;
    with_state(|state| {
        let (process, ..) = caller.parts(state)?;
        let before = process.personality;
        if wanted != u32::MAX {
            process.personality = wanted;
        }
        Ok(before.into())
    })
}

/// `membarrier`: all threads of processes run on one core, where each interrupt is a barrier.
pub fn membarrier(caller: &Caller) -> Result<u64, Errno> {
    /// Global ones, expedited or not, private ones and those of instructions, with their
    /// registrations.
    const SERVED: u64 = 0b111_1111;
    /// Private ones and those of instructions, each in front of its registration.
    const PRIVATE: u64 = 0b010_1000;
    let (command, flags) = (caller.argument(0), caller.argument(1));
    match command {
        _ if flags != 0 => Err(Errno::EINVAL),
        0 => Ok(SERVED),
        command if command.is_power_of_two() && command & SERVED != 0 => with_state(|state| {
            let (process, ..) = caller.parts(state)?;
            let (program, registered) = &mut process.barriers;
            // A new program has none.
            if *program != process.executions {
                (*program, *registered) = (process.executions, 0);
            }
            if command & PRIVATE != 0 && *registered & command as u8 == 0 {
                return Err(Errno::EPERM);
            }
            *registered |= (command >> 1) as u8 & PRIVATE as u8;
            Ok(0)
        }),
        _ => Err(Errno::EINVAL),
    }
}

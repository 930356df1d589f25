//! Execution of a thread at EL0: its system calls and aborts.

use crate::call::{Caller, Function, is_begun};
#[cfg(feature = "strace")]
use crate::state::report;
use crate::state::{State, attend, with_state};
use tenon_process_slot::{Fault, Slot};
use tenon_program::Errno;
use tenon_signal::Info;
#[cfg(feature = "strace")]
use tenon_strace as strace;
use tenon_user::{self as user, Cause};

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `statics!` defines it with this type, and no code writes it.
    safe static TENON_SYSTEM_CALLS: &'static [Option<Function>];
}

fn function(number: u64) -> Option<Function> {
    #[cfg(target_os = "none")]
    let calls = TENON_SYSTEM_CALLS;
    #[cfg(not(target_os = "none"))]
    let calls: &[Option<Function>] = &[];
    calls.get(usize::try_from(number).ok()?).copied().flatten()
}

/// The body of a process's thread.
pub(crate) fn live(slot: &'static Slot) {
    // SAFETY: `spawn` had the base set to tables of the process, which stay until `State::finish`.
    unsafe { user::bind(Some(&slot.space), slot.space.base()) };
    loop {
        if slot.has_attention() && !attend(slot, None) {
            break;
        }
        // SAFETY: the thread is bound to the address space of its process, and the context is its
        // own.
        match unsafe { user::run(slot.context()) } {
            Cause::Exception(esr, _) if esr >> 26 == user::SUPERVISOR_CALL => serve(slot),
            Cause::Exception(esr, far) => fault(slot, esr, far as usize),
            Cause::Interrupt => {}
        }
    }
    State::finish(slot);
}

/// Serves a system call.
#[inline(always)]
fn serve(slot: &'static Slot) {
    // SAFETY: the thread itself calls this.
    let number = unsafe { slot.register(8) };
    #[cfg(feature = "strace")]
    let call = begin_line(slot, number);
    let result = match function(number) {
        Some(function) => function(&Caller::new(slot)),
        None => refuse(slot, number),
    };
    #[cfg(feature = "strace")]
    write_line(slot, call, number, &result);
    if is_begun(&result) {
        // `execve` has set all registers.
        return;
    }
    let value = match result {
        Ok(value) => value,
        Err(Errno(number)) if number >= Errno::ERESTARTSYS.0 => {
            attend(slot, Some(Errno(number)));
            return;
        }
        Err(Errno(number)) => 0u64.wrapping_sub(number.into()),
    };
    // SAFETY: the thread itself is not at EL0.
    unsafe { (*slot.context()).x[0] = value };
}

/// The call of a thread as text, before it is served.
#[cfg(feature = "strace")]
fn begin_line(slot: &'static Slot, number: u64) -> strace::Call {
    let arguments = core::array::from_fn(|index| {
        // SAFETY: the thread itself calls this.
        unsafe { slot.register(index) }
    });
    strace::begin(number, &arguments, |from, to, string| {
        with_state(|state| {
            let (process, frames, _) = state.parts(slot).ok()?;
            let space = process.space().ok()?;
            let from = from as usize;
            if string {
                return space.read_string(from, to, frames).ok();
            }
            space.read(from, to, frames).ok().map(|()| to.len())
        })
    })
}

/// Writes a call with its result on the console. A process that ended has none.
#[cfg(feature = "strace")]
fn write_line(
    slot: &'static Slot,
    mut call: strace::Call,
    number: u64,
    result: &Result<u64, Errno>,
) {
    let outcome = match result {
        _ if slot.is_ended() => strace::Outcome::None,
        _ if is_begun(result) => strace::Outcome::Value(0),
        Ok(value) => strace::Outcome::Value(*value),
        Err(error) => strace::Outcome::Error(error),
    };
    strace::end(&mut call, number, &outcome);
    report(format_args!("[pid {}] {}", slot.number(), call.as_str()));
}

/// Reports the first call of a number that no library serves.
#[cold]
fn refuse(slot: &'static Slot, number: u64) -> Result<u64, Errno> {
    with_state(|state| state.report_unserved(slot, number));
    Err(Errno::ENOSYS)
}

/// Serves an abort of EL0, or delivers the signal that Linux has for an exception.
#[cold]
fn fault(slot: &'static Slot, esr: u64, far: usize) {
    // SAFETY: the thread itself is not at EL0.
    let pc = unsafe { (*slot.context()).pc };
    let (signal, code, address) = match Fault::of(esr, pc, far as u64) {
        Fault::Signal(signal, code, address) => (signal, code, address),
        Fault::Access(access) => match with_state(|state| state.fault(slot, far, access)) {
            Ok(()) => return,
            Err(denied) => {
                let (signal, code) = Fault::signal_of(denied);
                (signal, code, far as u64)
            }
        },
    };
    let info = Info::of_fault(signal, code, address);
    with_state(|state| state.force(slot, &info, (address, esr)));
}

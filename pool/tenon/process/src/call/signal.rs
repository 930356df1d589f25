//! Signals of the thread that calls.

use super::{Caller, with_state};
use crate::state::{State, wait_until};
use tenon_process_slot::Waiting;
use tenon_program::Errno;
use tenon_signal::{Action, Info, Set, Target, code};
use tenon_thread::time::{Duration, Instant};

impl Caller {
    /// The indices of the process and of the thread, by which [`State::signals`] has what is theirs.
    pub fn indices(&self, state: &State) -> Result<(usize, usize), Errno> {
        state.indices(self.slot)
    }

    /// [Sets](State::set_action) the action of a signal.
    pub fn set_action(&self, state: &mut State, signal: u8, action: Action) -> Result<(), Errno> {
        state.set_action(self.slot, signal, action)
    }

    /// [Sets](State::set_mask) the mask of signals.
    pub fn set_mask(&self, state: &mut State, mask: Set) -> Result<(), Errno> {
        state.set_mask(self.slot, mask)
    }

    /// Makes a call that waits with another mask of signals, if one is stated. A handler that
    /// interrupts it restores the mask, else its end does.
    pub fn with_mask<R>(
        &self,
        mask: Option<Set>,
        call: impl FnOnce() -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        let Some(mask) = mask else { return call() };
        with_state(|state| state.set_mask_for_wait(self.slot, mask))?;
        let result = call();
        if !result.as_ref().is_err_and(|error| error.is_interruption()) {
            with_state(|state| state.restore_mask(self.slot))?;
        }
        result
    }

    /// Sends a signal to the thread itself, as the kernel does.
    pub fn raise(&self, state: &mut State, signal: u8) -> Result<(), Errno> {
        let info = Info::of_sender(signal, code::USER, self.process(), 0);
        state.send(Target::Thread(None, self.number()), &info)
    }

    /// The stack pointer at EL0.
    #[must_use]
    pub fn stack_pointer(&self) -> u64 {
        // SAFETY: the thread itself is not at EL0.
        unsafe { (*self.slot.context()).sp }
    }

    /// [Continues](State::return_from_handler) behind a handler.
    pub fn return_from_handler(&self, state: &mut State) -> Result<(), Errno> {
        state.return_from_handler(self.slot)
    }

    /// As [`wait`](Self::wait), and only the end of the process interrupts it.
    pub fn wait_killable<R>(
        &self,
        attempt: impl FnMut(&mut State) -> Result<Option<R>, Errno>,
    ) -> Result<R, Errno> {
        let waited = wait_until(self.slot, None, Waiting::Killable, attempt)?;
        waited.ok_or(Errno::EINTR)
    }

    /// The deadline of a wait of some duration from now on; that of the call that was interrupted, if
    /// this is the same one again.
    #[must_use]
    pub fn deadline(&self, duration: Duration) -> Instant {
        match self.slot.take_resumption() {
            Some(deadline) => Instant::from_nanoseconds(deadline),
            None => Instant::now() + duration,
        }
    }

    /// The error of a wait until a deadline that a signal has interrupted: the call is made again with
    /// that deadline, unless a handler is called.
    #[must_use]
    pub fn resume_until(&self, deadline: Instant, error: Errno) -> Errno {
        if error != Errno::ERESTARTSYS {
            return error;
        }
        self.slot.set_resumption(deadline.nanoseconds());
        Errno::ERESTART_RESTARTBLOCK
    }

    /// Whether the thread is to end: a long transfer ends before its last byte then.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.slot.is_ended()
    }
}

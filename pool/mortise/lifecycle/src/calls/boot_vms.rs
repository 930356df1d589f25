//! Restart and destruction of VMs made at boot, in resumable steps.
//!
//! After each step the call checks for pending interrupts. Its progress names the next step. As the
//! guest controls that register, each step requires the state that the first one set, and may be
//! executed again.

use crate::{
    Error,
    calls::CallContext,
    executor::poll,
    stop::{Stop, check_pending},
};
use mortise_instance::{Event, Handle, State};
use mortise_partition::Vm;

/// Steps after the change of state, which is step 0.
const STOP: u32 = 1;
const RELEASE: u32 = 2;
const RESTART: u32 = 3;
const AWAIT: u32 = 4;

impl CallContext<'_> {
    /// Restarts a VM made at boot.
    pub(crate) fn restart_boot_vm(&self, handle: Handle, vm: &'static Vm) -> Result<(), Stop> {
        let machine = self.executor.machine;
        let mut next = self.call.progress();
        if next == 0 {
            check_pending(next)?;
            self.event(handle, Event::Restart)?;
            next = RELEASE;
            check_pending(next)?;
        }
        if next == RELEASE {
            self.while_in(State::Running, handle, RELEASE, || {
                // A VM that turned itself off while it was paused is held as well.
                if vm.hold_requested() {
                    vm.release(machine);
                }
            })?;
            check_pending(RESTART)?;
        }
        if next != AWAIT {
            self.while_in(State::Running, handle, RESTART, || vm.restart(machine))?;
            check_pending(AWAIT)?;
        }
        // Waits until its vCPUs have stopped, or the cores that do not answer are known.
        poll(|| !vm.awaits_cores(machine)).or_again(AWAIT)
    }

    /// Destroys a VM made at boot. Its memory, which is not from the reserve, is withdrawn and not
    /// reused.
    pub(crate) fn destroy_boot_vm(&self, handle: Handle, vm: &'static Vm) -> Result<(), Stop> {
        let machine = self.executor.machine;
        let mut next = self.call.progress();
        match self.state(handle)? {
            State::Destroying => {}
            _ if next == 0 => {
                self.event(handle, Event::Destroy)?;
                vm.set_state(core_statistics::State::Destroying);
            }
            _ => return Err(Error::Busy.into()),
        }
        if next == 0 {
            next = STOP;
            check_pending(next)?;
        }
        if next == STOP {
            vm.stop(machine);
            next = RELEASE;
            check_pending(next)?;
        }
        if next == RELEASE {
            vm.release(machine);
            check_pending(AWAIT)?;
        }
        poll(|| vm.is_over() || !vm.awaits_cores(machine) && vm.abandon()).or_again(AWAIT)?;
        if !vm.is_over() {
            // The memory is withdrawn. The rest is completed when the lost core wakes.
            return Ok(());
        }
        vm.withdraw();
        vm.set_state(core_statistics::State::Destroyed);
        let slot = usize::from(handle.slot);
        Ok(self
            .executor
            .registry
            .lock()
            .empty(slot, Event::Destroyed)?)
    }
}

//! Calls about a VM of the manifest that take it from its run, order by order: behind each the call
//! looks at what is pending, and its progress is the order that is next.
//!
//! Progress is a register of the caller's. So each order is given in the state that the first one led
//! to, and may be given again.

use crate::{
    Failure,
    calls::Conversation,
    carry::wait,
    stop::{Stop, look},
};
use mortise_instance::{Event, Handle, State};
use mortise_partition::Vm;

/// Orders, the state's behind which they come being given at 0.
const STOP: u32 = 1;
const RELEASE: u32 = 2;
const RESTART: u32 = 3;
const AWAIT: u32 = 4;

impl Conversation<'_> {
    /// Has one begin anew.
    pub(crate) fn restart_resident(&self, handle: Handle, vm: &'static Vm) -> Result<(), Stop> {
        let machine = self.site.machine;
        let mut next = self.call.progress();
        if next == 0 {
            look(next)?;
            self.event(handle, Event::Restart)?;
            next = RELEASE;
            look(next)?;
        }
        if next == RELEASE {
            self.while_in(State::Running, handle, RELEASE, || {
                // One that turned itself off while it was paused is held as well.
                if vm.hold_requested() {
                    vm.release(machine);
                }
            })?;
            look(RESTART)?;
        }
        if next != AWAIT {
            self.while_in(State::Running, handle, RESTART, || vm.restart(machine))?;
            look(AWAIT)?;
        }
        // Until its vCPUs rest, or it is known which do not.
        wait(|| !vm.awaits_cores(machine)).or_again(AWAIT)
    }

    /// Ends one for good. Its memory, which is not the reserve's, is withdrawn from it and given to
    /// nobody.
    pub(crate) fn destroy_resident(&self, handle: Handle, vm: &'static Vm) -> Result<(), Stop> {
        let machine = self.site.machine;
        let mut next = self.call.progress();
        match self.state(handle)? {
            State::Destroying => {}
            _ if next == 0 => {
                self.event(handle, Event::Destroy)?;
                vm.note_state(core_statistics::State::Destroying);
            }
            _ => return Err(Failure::Busy.into()),
        }
        if next == 0 {
            next = STOP;
            look(next)?;
        }
        if next == STOP {
            vm.stop(machine);
            next = RELEASE;
            look(next)?;
        }
        if next == RELEASE {
            vm.release(machine);
            look(AWAIT)?;
        }
        wait(|| vm.is_over() || !vm.awaits_cores(machine) && vm.abandon()).or_again(AWAIT)?;
        if !vm.is_over() {
            // Its memory is withdrawn; the rest is done when its core wakes.
            return Ok(());
        }
        vm.withdraw();
        vm.note_state(core_statistics::State::Destroyed);
        let slot = usize::from(handle.slot);
        Ok(self.site.registry.lock().empty(slot, Event::Destroyed)?)
    }
}

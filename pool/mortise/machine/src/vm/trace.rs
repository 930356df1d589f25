//! Trace of a VM's state.

use crate::{Core, Vm, trace::recorded};
use core_statistics::State;
use core_trace::Event;

impl Vm {
    /// Records a new state of the VM, on the core that sets it.
    #[inline(always)]
    pub(crate) fn record_state(&self, state: State) {
        if recorded() {
            let number = (self.index as u64) << 8 | state as u64;
            Core::current().record(Event::State, number);
        }
    }
}

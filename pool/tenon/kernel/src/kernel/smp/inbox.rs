//! Requests between cores: post, kick and inbox processing.

use super::core::{Core, KICK_SGI, request};
use super::placement::Origin;
use crate::kernel::{EXPIRY_STEPS, Kernel};
use crate::thread::Thread;
use ::core::sync::atomic::Ordering;
use tenon_machine::gic::LinkedDrivers;
use tenon_machine::object_lock::PI_CHAIN_LOCK;
use tenon_machine::options;

impl Kernel {
    /// The shared state of this core; none in an image for one core.
    #[inline(always)]
    pub fn core(&self) -> Option<&'static Core> {
        self.cores().get(self.index())
    }

    /// Whether this core is the home core of `thread`.
    #[inline(always)]
    pub(crate) fn is_home_core_of(&self, thread: &Thread) -> bool {
        options::cores() == 1 || thread.smp().home() == self.index()
    }

    /// Whether there is a core with that number.
    pub fn has_core(&self, number: usize) -> bool {
        number == self.index() || self.cores().get(number).is_some_and(Core::is_present)
    }

    /// Posts `requests` for `thread` to its home core.
    #[cold]
    pub(crate) fn post(&self, thread: &'static Thread, requests: u32) {
        if let Some(core) = self.cores().get(thread.smp().home())
            && core.inbox.post(thread, requests)
        {
            self.kick(core);
        }
    }

    /// Interrupts a core, which then observes all earlier stores of this one.
    pub(super) fn kick(&self, core: &Core) {
        if let Some(target) = core.target.get() {
            self.interrupts
                .controller()
                .send::<LinkedDrivers>(KICK_SGI, target);
        }
    }

    /// Handles the requests of other cores. One interrupt handles at most as many requests as it
    /// may expire timers; the core kicks itself for the rest.
    pub(crate) fn process_inbox(&self) {
        let Some(core) = self.core() else {
            return;
        };
        let mut batch = core.batch.take();
        if batch.is_empty() {
            batch = core.inbox.collect();
        }
        for (thread, requests) in batch.by_ref().take(EXPIRY_STEPS) {
            self.handle_requests(thread, requests);
        }
        let over = batch.is_empty() && core.inbox.is_empty();
        core.batch.set(batch);
        if !over {
            self.kick(core);
        }
        if core.pull_requested.swap(false, Ordering::AcqRel) {
            self.balance();
        }
    }

    fn handle_requests(&self, thread: &'static Thread, requests: u32) {
        if !self.is_home_core_of(thread) {
            // It has migrated: forward the requests.
            return self.post(thread, requests);
        }
        if requests & request::PRIORITY != 0 {
            PI_CHAIN_LOCK.locked(|| thread.apply_priority(self, thread.smp().priority()));
        }
        if requests & request::WAKE != 0 {
            self.cancel_timer(thread.timer());
            thread.wake_local(self);
        }
        if requests & request::ARRIVE != 0 {
            self.place(thread, Origin::Migrated);
        }
        if requests & request::UNPARK != 0 {
            thread.unpark_local(self);
        }
    }
}

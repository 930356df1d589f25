//! Servers of a core: budget accounting and the budget timer.
//!
//! The policy is [`core_sched::FairServers`]; `docs/decisions/servers.md` states its reasons. The
//! budget timer is armed for the next depletion or replenishment of any server. Without
//! [`options::servers`] the image contains nothing of this.

use super::Kernel;
use crate::thread::{BACKGROUND, Server, Thread};
use crate::time::Timer;
use core::cell::Cell;
use core_list::Linked;
use tenon_machine::analysis_notes as notes;
use tenon_machine::options;

/// The servers of a core. All of it is zero at first.
pub(crate) struct ServerState {
    pub servers: core_sched::FairServers<&'static Server>,
    timer: Timer,
    /// The counter value for which the timer is armed; zero if it is not.
    due: Cell<u64>,
}

impl ServerState {
    pub(crate) const fn new() -> Self {
        Self {
            servers: core_sched::FairServers::new(),
            timer: Timer::unset(),
            due: Cell::new(0),
        }
    }
}

impl Kernel {
    /// The servers of this core.
    ///
    /// # Safety
    ///
    /// Interrupts are masked, or the calling thread holds a preemption lock and reads only which
    /// servers are attached, which no interrupt changes.
    pub unsafe fn servers() -> &'static core_sched::FairServers<&'static Server> {
        // SAFETY: threads run only after `boot`, and the caller excludes concurrent changes by
        // masked interrupts or a preemption lock on the only core.
        &unsafe { Self::this() }.server_state.servers
    }

    /// Starts budget accounting; the clock has started.
    pub(crate) fn start_servers(&self) {
        if options::servers() {
            let slice = options::server_slice() as u64 * 1_000;
            let ticks = self.clock().frequency().ticks(slice);
            self.server_state.servers.set_slice(ticks);
            self.server_state.timer.set_handler(expired);
        }
    }

    /// Charges and replenishes all budgets up to now, before the next thread is selected.
    #[inline(always)]
    pub fn update_budgets(&self) {
        if options::servers() {
            self.update_all_budgets();
        }
    }

    #[inline(never)]
    fn update_all_budgets(&self) {
        let servers = &self.server_state.servers;
        servers.update(
            self.clock().ticks(),
            self.background_contended(),
            |server, foreground| {
                self.set_server_priority(server, foreground);
            },
        );
        if servers.slice_ended() {
            self.scheduler.end_slice();
        }
    }

    /// Whether the running thread is in the background and others are ready there.
    fn background_contended(&self) -> bool {
        self.current().effective_priority() == BACKGROUND && self.scheduler.has_peers()
    }

    /// Sets the priority of a server's thread: its foreground priority while it has budget, else
    /// background.
    pub fn set_server_priority(&self, server: &'static Server, foreground: bool) {
        let Some(thread) = server.thread().get() else {
            return;
        };
        let own = server.foreground().get();
        thread.set_base_priority(self, if foreground { own } else { BACKGROUND });
        if thread.is(&self.current()) {
            // It goes to the end of its new priority, as it did not run there.
            self.scheduler.end_slice();
        }
    }

    /// Moves a background thread that yields behind all others that have had less.
    #[inline(always)]
    pub(crate) fn yield_background(&self, thread: &Thread) {
        if options::servers()
            && let Some(server) = thread.server().get()
            && server.is_in_background()
        {
            self.server_state.servers.assign_tags(server);
        }
    }

    /// Accounts for a server's thread that becomes ready.
    #[inline(always)]
    pub(crate) fn server_ready(&self, thread: &Thread) {
        if options::servers()
            && let Some(server) = thread.server().get()
            && server.is_in_background()
        {
            let now = self.clock().ticks();
            self.server_state
                .servers
                .enter_background(server, now, self.background_contended());
        }
    }

    /// Updates the budget timer after a thread became ready, which may contend for the background.
    #[inline(always)]
    pub(crate) fn update_budget_timer(&self) {
        if options::servers() {
            self.arm_budget_timer();
        }
    }

    /// Charges `next` from here on, and arms the timer for the end of its budget or slice.
    #[inline(always)]
    pub fn switch_server(&self, next: &'static Thread) {
        if options::servers() {
            self.server_state.servers.set_running(next.server().get());
            self.arm_budget_timer();
        }
    }

    /// Arms the timer for the next depletion, replenishment or end of a slice.
    #[inline(never)]
    fn arm_budget_timer(&self) {
        let state = &self.server_state;
        let due = state
            .servers
            .next_update(self.background_contended())
            .unwrap_or(0);
        let before = state.due.replace(due);
        if due == before {
            return;
        }
        // SAFETY: kernels are statics, so the timer lives for the whole program.
        let timer = unsafe { &*core::ptr::from_ref(&state.timer) };
        if before != 0 {
            self.cancel_timer(timer);
        }
        if due != 0 {
            self.start_timer(timer, due);
        }
    }

    /// Detaches the server of a thread, if it has one.
    #[inline(always)]
    pub fn detach_server(&self, thread: &Thread) {
        if options::servers()
            && let Some(server) = thread.server().take()
        {
            self.server_state.servers.detach(server);
            server.thread().set(None);
        }
    }

    /// Updates budgets when the timer expires.
    fn expire_budgets(&self) {
        self.server_state.due.set(0);
        self.update_budgets();
        if self.scheduler.needs_reschedule() {
            // A switch follows, or the running thread has locked preemption and continues.
            return self.arm_budget_timer();
        }
        self.switch_server(self.current());
    }
}

/// Handler of the budget timer.
fn expired() {
    notes::note_timer_handler();
    // SAFETY: timers expire in the timer interrupt, which comes after `boot` and masks interrupts.
    unsafe { Kernel::this() }.expire_budgets();
}

//! Servers: so much of the core in each period for a thread, whatever the others do.
//!
//! A thread with a [`Server`] has its budget in each period, at a priority that follows from the
//! period: the shorter, the more urgent. When its budget is used up it goes on in the background,
//! at priority 1, where servers share fairly what nobody else wants. Who wants nothing promised has
//! a server [without budget](Server::background).
//!
//! Budgets end by a timer that is set for whom a switch goes to, if it has a server; without
//! [`options::servers`] nothing of this is in the image, and no server is had. The policy is
//! [`core_sched::FairServers`], why it is so in `docs/decisions/servers.md`.

use crate::kernel::Kernel;
use crate::options;
use crate::sites;
use crate::thread::{Error, Handle, PreemptionLock, Priority, Thread};
use crate::time::{Duration, nanoseconds};
use crate::timer::Timer;
use core::cell::Cell;
use core_list::Linked;
use core_sched::{FairServer, HasFairServer, HasServer, OnDepletion, Reservation};

/// The priority of servers without budget: only the idle thread's is below.
const BACKGROUND: Priority = Priority::new(1);

/// The server of one thread.
///
/// ```no_run
/// use tenon_thread::server::Server;
/// use tenon_thread::thread::{self, Error, Priority, Storage};
/// use tenon_thread::time::Duration;
///
/// static FILTER: Storage<2048> = Storage::new();
/// static BUDGET: Server = Server::new(Duration::from_millis(2), Duration::from_millis(10));
///
/// let filter = FILTER.spawn("filter", Priority::new(10), || loop { /* ... */ })?;
/// BUDGET.attach(filter)?;
/// # Ok::<(), Error>(())
/// ```
pub struct Server {
    fair: FairServer<&'static Server>,
    /// Budget and period.
    share: Cell<Option<(Duration, Duration)>>,
    thread: Cell<Option<&'static Thread>>,
    /// The thread's priority with a budget, and before it had a server.
    foreground: Cell<Priority>,
    before: Cell<Priority>,
}

// SAFETY: all fields are private to this crate, which touches them with interrupts masked, on the only
// core; what `Kernel::servers` says besides.
unsafe impl Sync for Server {}

impl Server {
    /// A server that promises `budget` in each `period`, of at most 68 s.
    pub const fn new(budget: Duration, period: Duration) -> Self {
        Self::with(Some((budget, period)))
    }

    /// A server that promises nothing: its thread has its part of what all others leave.
    pub const fn background() -> Self {
        Self::with(None)
    }

    const fn with(share: Option<(Duration, Duration)>) -> Self {
        Self {
            fair: FairServer::new(),
            share: Cell::new(share),
            thread: Cell::new(None),
            foreground: Cell::new(BACKGROUND),
            before: Cell::new(BACKGROUND),
        }
    }

    /// Gives this server to a thread, whose first period begins. Its priority is the server's from
    /// here on.
    ///
    /// Refused if the core cannot promise the budget beside those that it has promised
    /// ([`Error::Overload`]); what interrupts and threads above the servers take is not counted.
    pub fn attach(&'static self, handle: Handle) -> Result<(), Error> {
        if !options::servers() {
            return Err(Error::Overload);
        }
        // Nobody else attaches meanwhile, so that all this need not happen with interrupts masked.
        let _alone = PreemptionLock::new();
        let reservation = self.reservation()?;
        // SAFETY: the lock.
        let servers = unsafe { Kernel::servers() };
        if reservation.is_some_and(|own| !servers.admits(own)) {
            return Err(Error::Overload);
        }
        handle.with_pi_chain_locked(|kernel, thread| {
            if self.thread.get().is_some() || thread.server().get().is_some() {
                return Err(Error::InUse);
            }
            let now = kernel.clock().ticks();
            kernel.update_budgets();
            servers.attach(self, reservation, now);
            self.thread.set(Some(thread));
            self.before.set(thread.own());
            thread.server().set(Some(self));
            thread.time_slice().take(false);
            if reservation.is_none() {
                kernel.set_server_priority(self, false);
            }
            Ok(())
        })??;
        for (server, rank) in servers.ranks() {
            let number = options::server_priority() + rank;
            server.foreground.set(Priority::new(number as u8));
            Kernel::with_reschedule(|kernel| {
                if !server.fair.is_background() {
                    kernel.set_server_priority(server, true);
                }
                kernel.switch_server(kernel.current());
            });
        }
        Ok(())
    }

    /// Has it promise something else, a budget in each period or nothing, to whom it is given next;
    /// whether it serves nobody now, so that it does.
    pub fn set_reservation(&self, share: Option<(Duration, Duration)>) -> bool {
        Kernel::without_irqs(|| {
            let free = self.thread.get().is_none();
            if free {
                self.share.set(share);
            }
            free
        })
    }

    /// Whether it is this thread's.
    pub fn is_attached_to(&self, thread: Handle) -> bool {
        let own = |thread: &'static Thread| self.thread.get().is_some_and(|own| own.is(&thread));
        thread
            .with_pi_chain_locked(|_, thread| own(thread))
            .unwrap_or(false)
    }

    /// Takes the server from its thread, if it has one, which has its former priority again.
    pub fn detach(&'static self) {
        Kernel::with_reschedule(|kernel| {
            if let Some(thread) = self.thread.get() {
                kernel.update_budgets();
                kernel.detach_server(thread);
                thread.set_base_priority(kernel, self.before.get());
                kernel.switch_server(kernel.current());
            }
        });
    }

    /// Its budget and period in ticks, if that can be promised and there is a priority left.
    fn reservation(&self) -> Result<Option<Reservation>, Error> {
        let Some((budget, period)) = self.share.get() else {
            return Ok(None);
        };
        let frequency = Kernel::local_clock().frequency();
        let [budget, period] = [budget, period].map(|time| frequency.ticks(nanoseconds(time)));
        let reservation = Reservation::new(budget, period, OnDepletion::Background);
        // SAFETY: `attach` has the lock.
        let servers = unsafe { Kernel::servers() };
        let ranks = servers.ranks().last().map_or(0, |(_, rank)| rank + 1);
        let levels = usize::from(Priority::HIGHEST.number()) - options::server_priority();
        let reservation = reservation.filter(|_| ranks <= levels);
        reservation.map(Some).ok_or(Error::Overload)
    }
}

impl HasServer for &'static Server {
    fn server(&self) -> &core_sched::Server<Self> {
        &self.fair.server
    }
}

impl HasFairServer for &'static Server {
    fn fair_server(&self) -> &FairServer<Self> {
        &self.fair
    }
}

impl Thread {
    /// Whether it comes before a peer that came earlier: in the background, if it has had less.
    #[inline(always)]
    pub(crate) fn comes_before(&self, other: &Self) -> bool {
        let behind = |thread: &Self| {
            let server = thread.server().get();
            server.filter(|server| server.fair.is_background())
        };
        match (behind(self), behind(other)) {
            (Some(one), Some(other)) => one.fair.precedes(&other.fair),
            _ => false,
        }
    }
}

/// What a core has for its servers. All of it is zero at first.
pub(crate) struct ServerState {
    servers: core_sched::FairServers<&'static Server>,
    timer: Timer,
    /// What the timer is set for; zero if it is not.
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
    /// Who has which share of this core.
    ///
    /// # Safety
    ///
    /// Interrupts are masked, or the thread that calls has a [`PreemptionLock`] and looks at nothing
    /// but who is attached: no interrupt changes that.
    unsafe fn servers() -> &'static core_sched::FairServers<&'static Server> {
        // SAFETY: the caller's contract; threads run since `boot`.
        &unsafe { Self::this() }.server_state.servers
    }

    /// Lets budgets end from here on; the clock has started.
    pub(crate) fn start_servers(&self) {
        if options::servers() {
            let turn = options::server_turn() as u64 * 1_000;
            let ticks = self.clock().frequency().ticks(turn);
            self.server_state.servers.set_slice(ticks);
            self.server_state.timer.set_handler(expired);
        }
    }

    /// Brings all budgets to this time, before somebody is chosen to run.
    #[inline(always)]
    pub(crate) fn update_budgets(&self) {
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

    /// Whether others wait in the background for the turn of who runs there.
    fn background_contended(&self) -> bool {
        self.current().effective_priority() == BACKGROUND && self.scheduler.has_peers()
    }

    /// Gives a server's thread the priority that it has with a budget, or without.
    fn set_server_priority(&self, server: &'static Server, foreground: bool) {
        let Some(thread) = server.thread.get() else {
            return;
        };
        let own = server.foreground.get();
        thread.set_base_priority(self, if foreground { own } else { BACKGROUND });
        if thread.is(&self.current()) {
            // It has the last place, not the one it ran in.
            self.scheduler.end_slice();
        }
    }

    /// Who runs in the background and yields has its next turn when all had as much.
    #[inline(always)]
    pub(crate) fn yield_background(&self, thread: &Thread) {
        if options::servers()
            && let Some(server) = thread.server().get()
            && server.fair.is_background()
        {
            self.server_state.servers.assign_tags(server);
        }
    }

    /// A thread is about to be ready.
    #[inline(always)]
    pub(crate) fn server_ready(&self, thread: &Thread) {
        if options::servers()
            && let Some(server) = thread.server().get()
            && server.fair.is_background()
        {
            let now = self.clock().ticks();
            self.server_state
                .servers
                .enter_background(server, now, self.background_contended());
        }
    }

    /// Somebody became ready, who may wait for the end of a turn.
    #[inline(always)]
    pub(crate) fn update_budget_timer(&self) {
        if options::servers() {
            self.arm_budget_timer();
        }
    }

    /// From here on `next` runs: has its budget or its turn end in time.
    #[inline(always)]
    pub(crate) fn switch_server(&self, next: &'static Thread) {
        if options::servers() {
            self.server_state.servers.set_running(next.server().get());
            self.arm_budget_timer();
        }
    }

    /// Sets the timer for whatever is next.
    #[inline(never)]
    fn arm_budget_timer(&self) {
        let server_state = &self.server_state;
        let due = server_state
            .servers
            .next_update(self.background_contended())
            .unwrap_or(0);
        let before = server_state.due.replace(due);
        if due == before {
            return;
        }
        // SAFETY: kernels are statics.
        let timer = unsafe { &*core::ptr::from_ref(&server_state.timer) };
        if before != 0 {
            self.cancel_timer(timer);
        }
        if due != 0 {
            self.start_timer(timer, due);
        }
    }

    /// Takes the server from a thread that has one.
    #[inline(always)]
    pub(crate) fn detach_server(&self, thread: &Thread) {
        if options::servers()
            && let Some(server) = thread.server().take()
        {
            self.server_state.servers.detach(server);
            server.thread.set(None);
        }
    }

    /// The timer expired: a budget, a turn or a period is over.
    fn expire_budgets(&self) {
        self.server_state.due.set(0);
        self.update_budgets();
        if self.scheduler.needs_reschedule() {
            // Who runs has no turn of its own any more, but may be locked in its place.
            return self.arm_budget_timer();
        }
        self.switch_server(self.current());
    }
}

/// The handler of the timer.
fn expired() {
    sites::note_timer_handler();
    // SAFETY: timers expire since `boot`, with interrupts masked.
    unsafe { Kernel::this() }.expire_budgets();
}

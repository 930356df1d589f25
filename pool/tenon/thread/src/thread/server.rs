//! Servers: a budget per period for a thread, whatever the other threads do.
//!
//! A thread with a [`Server`] runs for its budget in each period, at a priority that follows from
//! the period: the shorter, the more urgent. When its budget is depleted it continues in the
//! background, at priority 1, where servers share the remaining time fairly. A thread that needs no
//! guarantee has a server [without budget](Server::background).
//!
//! A budget ends by a timer that is armed when a switch dispatches a thread with a server. Without
//! [`options::servers`] the image contains nothing of this, and no server can be attached. The
//! policy is [`core_sched::FairServers`]; `docs/decisions/servers.md` states its reasons.

use super::{Error, Handle, PreemptionLock};
use core::time::Duration;
use core_list::Linked;
use core_sched::{OnDepletion, Priority, Reservation};
use tenon_kernel::kernel::Kernel;
use tenon_kernel::thread::{Server as ServerState, Thread as ThreadState};
use tenon_machine::irq_mask::without_irqs;
use tenon_machine::options;
use tenon_machine::server_record::ServerRecord;
use tenon_time::nanoseconds;
use tenon_wait::thread::with_living;

/// The server of one thread: a budget in each period, or a fair share of the background.
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
#[repr(transparent)]
pub struct Server(ServerState);

impl Server {
    /// A server with `budget` in each `period` of at most 68 s.
    pub const fn new(budget: Duration, period: Duration) -> Self {
        Self(ServerState::new(Some((budget, period))))
    }

    /// A server without budget: its thread has a fair share of the remaining time.
    pub const fn background() -> Self {
        Self(ServerState::new(None))
    }

    /// Attaches this server to a thread and starts its first period. From here on the server
    /// determines the thread's priority.
    ///
    /// Fails with [`Error::Overload`] if the admission test, which counts servers only, rejects the
    /// budget, if no priority is left for it, or without TENON_THREAD_SERVERS.
    pub fn attach(&'static self, handle: Handle) -> Result<(), Error> {
        if !options::servers() {
            return Err(Error::Overload);
        }
        // Excludes other calls of `attach` without masking interrupts for its whole length.
        let _alone = PreemptionLock::new();
        let reservation = self.reservation()?;
        // SAFETY: this thread holds a preemption lock, and reads only which servers are attached.
        let servers = unsafe { Kernel::servers() };
        if reservation.is_some_and(|own| !servers.admits(own)) {
            return Err(Error::Overload);
        }
        with_living(handle, |kernel, thread| {
            if self.0.thread().get().is_some() || thread.server().get().is_some() {
                return Err(Error::InUse);
            }
            let now = kernel.clock().ticks();
            kernel.update_budgets();
            servers.attach(&self.0, reservation, now);
            self.0.thread().set(Some(thread));
            self.0.before().set(thread.base_priority());
            thread.server().set(Some(&self.0));
            self.begin_count(thread.name(), reservation);
            thread.time_slice().enable(false);
            if reservation.is_none() {
                kernel.set_server_priority(&self.0, false);
            }
            Ok(())
        })??;
        for (server, rank) in servers.ranks() {
            let number = options::server_priority() + rank;
            server.foreground().set(Priority::new(number as u8));
            Kernel::with_reschedule(|kernel| {
                if !server.is_in_background() {
                    kernel.set_server_priority(server, true);
                    if let Some(thread) = server.thread().get() {
                        kernel.record_priorities(thread);
                    }
                }
                kernel.switch_server(kernel.current());
            });
        }
        Ok(())
    }

    /// Changes the reservation for the next [`attach`](Server::attach): budget and period, or none.
    /// Returns false, without effect, while the server is attached.
    pub fn set_reservation(&self, share: Option<(Duration, Duration)>) -> bool {
        without_irqs(|| {
            let free = self.0.thread().get().is_none();
            if free {
                self.0.share().set(share);
            }
            free
        })
    }

    /// The former name of [`set_reservation`](Server::set_reservation).
    #[deprecated(note = "renamed to `set_reservation`")]
    pub fn promise(&self, share: Option<(Duration, Duration)>) -> bool {
        self.set_reservation(share)
    }

    /// The former name of [`is_attached_to`](Server::is_attached_to).
    #[deprecated(note = "renamed to `is_attached_to`")]
    pub fn serves(&self, thread: Handle) -> bool {
        self.is_attached_to(thread)
    }

    /// Whether it is attached to this thread.
    pub fn is_attached_to(&self, thread: Handle) -> bool {
        let own =
            |thread: &'static ThreadState| self.0.thread().get().is_some_and(|own| own.is(&thread));
        with_living(thread, |_, thread| own(thread)).unwrap_or(false)
    }

    /// Detaches the server from its thread, if any, which gets its former priority back.
    pub fn detach(&'static self) {
        Kernel::with_reschedule(|kernel| {
            if let Some(thread) = self.0.thread().get() {
                kernel.update_budgets();
                kernel.detach_server(thread);
                thread.set_base_priority(kernel, self.0.before().get());
                kernel.record_priorities(thread);
                kernel.switch_server(kernel.current());
            }
        });
    }

    /// Starts to count the use of its budget, in ticks, under the name of its thread. A server keeps
    /// the record that it got first, if there was one left. Interrupts are masked.
    fn begin_count(&self, name: &str, reservation: Option<Reservation>) {
        if !options::server_counters() {
            return;
        }
        let record = self.0.record();
        if let (None, Some(_)) = (record.get(), reservation) {
            record.set(ServerRecord::take());
        }
        if let Some(record) = record.get() {
            let terms = reservation.map_or((0, 0), |own| (own.budget(), own.period()));
            record.begin(name, terms);
        }
    }

    /// Its reservation in ticks. An error if the values are invalid or no priority is left.
    fn reservation(&self) -> Result<Option<Reservation>, Error> {
        let Some((budget, period)) = self.0.share().get() else {
            return Ok(None);
        };
        let frequency = Kernel::local_clock().frequency();
        let [budget, period] = [budget, period].map(|time| frequency.ticks(nanoseconds(time)));
        let reservation = Reservation::new(budget, period, OnDepletion::Background);
        // SAFETY: `attach` holds a preemption lock, and only the attached servers are read.
        let servers = unsafe { Kernel::servers() };
        let ranks = servers.ranks().last().map_or(0, |(_, rank)| rank + 1);
        let levels = usize::from(Priority::HIGHEST.number()) - options::server_priority();
        let reservation = reservation.filter(|_| ranks <= levels);
        reservation.map(Some).ok_or(Error::Overload)
    }
}

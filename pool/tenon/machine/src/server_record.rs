//! Counters of the servers' budgets, read from outside.
//!
//! The host finds the table by its symbol, in an image with [`server_counters`](crate::options::server_counters). A record is the
//! name of a thread and the [counters](core_statistics::BudgetCounters) of its budget.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use core_sched::EndedPeriods;
use core_statistics::{BudgetCount, BudgetCounters, NAME_LENGTH};

/// Number of servers with counters.
const RECORDS: usize = 16;

/// The use of one server's budget.
#[repr(C)]
pub struct ServerRecord {
    name: [AtomicU64; NAME_LENGTH / 8],
    counters: [AtomicU64; size_of::<BudgetCounters>() / 8],
}

const _: () = assert!(size_of::<ServerRecord>() == 96);

/// The records, located from outside by this symbol.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
static TENON_SERVER_RECORDS: [ServerRecord; RECORDS] = [const { ServerRecord::new() }; RECORDS];

/// The number of records that are in use.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

impl ServerRecord {
    const fn new() -> Self {
        Self {
            name: [const { AtomicU64::new(0) }; _],
            counters: [const { AtomicU64::new(0) }; _],
        }
    }

    /// A record that no server has, if there is one. Interrupts are masked.
    pub fn take() -> Option<&'static Self> {
        let next = TAKEN.load(Relaxed);
        let record = TENON_SERVER_RECORDS.get(next)?;
        TAKEN.store(next + 1, Relaxed);
        Some(record)
    }

    /// Starts to count under this name, which is truncated to 32 bytes.
    pub fn begin(&self, name: &str, (budget, period): (u64, u64)) {
        self.count().begin(budget, period);
        let mut bytes = name.bytes();
        for word in &self.name {
            let part = [(); 8].map(|()| bytes.next().unwrap_or(0));
            word.store(u64::from_le_bytes(part), Relaxed);
        }
    }

    /// Counts periods that have ended.
    #[cold]
    #[inline(never)]
    pub fn add(&self, ended: EndedPeriods) {
        if let Some(used) = ended.used {
            self.count().add(1, used);
        }
        self.count().add(ended.further, ended.used_further);
    }

    const fn count(&self) -> BudgetCount<'_> {
        BudgetCount::new(&self.counters)
    }
}

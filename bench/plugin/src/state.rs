//! Counters and records.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

use crate::account::{self, Core};
use crate::cache::Cache;
use crate::class::{self, Step};
use crate::counters::Counters;
use crate::executed::Executed;
use crate::plan::Plan;
use crate::quiet::MainLoop;
use crate::ram::Ram;

/// Maximum number of CPUs.
pub const VCPUS: usize = 8;
/// The kinds of record.
const SAMPLE: u32 = 1;
const PASSAGE: u32 = 2;
const VISIT: u32 = 3;
const EXECUTED: u32 = 4;
const EXECUTING: u32 = 5;

/// Instructions of watched VMs on a core between two records of their number: guest time passes
/// where no sample is published.
pub const CLOCK: u64 = 1 << 20;
/// Offsets in a task's journal and in a status page; see `pool/core/statistics`.
const TASK_CAPACITY: u64 = 0x38;
const TASK_HEAD: u64 = 0x40;
const TASK_SAMPLES: u64 = 0x1000;
const STATUS_STATE: u64 = 0x28;
const STATUS_REASON: u64 = 0x2c;
const STATUS_RESTARTS: u64 = 0x30;
const STATUS_HANDLE: u64 = 0x6c;
const STATUS_EXITS: u64 = 0x200;
/// Value of a path that has not begun.
const IDLE: u64 = u64::MAX;

/// State of the plugin.
pub struct State {
    /// The plan.
    pub plan: Plan,
    /// Whether the machine has one core.
    pub alone: bool,
    ram: OnceLock<Ram>,
    /// The emulator's main loop.
    pub main_loop: MainLoop,
    /// Instructions of Mortise, by vCPU.
    pub el2: [AtomicU64; VCPUS],
    /// Instructions of the watched VMs.
    pub guest: [AtomicU64; VCPUS],
    /// Instructions of all other code by blocks: a block that an exception leaves early counts whole. A
    /// block with a mark is counted one by one.
    pub other: Counters,
    /// The context of each core.
    pub cores: [Core; VCPUS],
    /// Counted instructions of each kind.
    pub kinds: [[AtomicU64; class::KINDS]; VCPUS],
    /// Coverage of Mortise, if requested.
    executed: Option<Executed>,
    /// Cache misses by core.
    misses: [AtomicU64; VCPUS],
    cache: Option<Mutex<Cache>>,
    /// Counters at the begin of each path, per vCPU.
    begun: Vec<[Begun; VCPUS]>,
    /// Mortise's instructions on all cores when the last mark began a path.
    marked: AtomicU64,
    pipe: Mutex<File>,
}

/// Counters at the begin of a path: instructions, or `IDLE`; those of Mortise among them; those of
/// other code; those of each kind.
struct Begun {
    total: AtomicU64,
    el2: AtomicU64,
    other: AtomicU64,
    /// Mortise's instructions on all cores.
    everywhere: AtomicU64,
    /// Other code's instructions on all cores.
    other_everywhere: AtomicU64,
    kinds: [AtomicU64; class::KINDS],
    misses: AtomicU64,
}

impl Begun {
    const fn not() -> Self {
        Self {
            total: AtomicU64::new(IDLE),
            el2: AtomicU64::new(0),
            other: AtomicU64::new(0),
            everywhere: AtomicU64::new(0),
            other_everywhere: AtomicU64::new(0),
            kinds: [const { AtomicU64::new(0) }; class::KINDS],
            misses: AtomicU64::new(0),
        }
    }
}

impl State {
    /// The initial state.
    pub fn new(plan: Plan, pipe: File, other: Counters, alone: bool) -> Self {
        Self {
            begun: plan
                .paths
                .iter()
                .map(|_| ())
                // And the path between marks.
                .chain([()])
                .map(|()| [const { Begun::not() }; VCPUS])
                .collect(),
            misses: [const { AtomicU64::new(0) }; VCPUS],
            executed: plan.executed.then(|| Executed::new(&plan.el2)),
            cache: plan.cache.map(|geometry| Mutex::new(Cache::new(geometry))),
            plan,
            alone,
            ram: OnceLock::new(),
            marked: AtomicU64::new(IDLE),
            main_loop: MainLoop::find(),
            el2: [const { AtomicU64::new(0) }; VCPUS],
            guest: [const { AtomicU64::new(0) }; VCPUS],
            other,
            cores: Default::default(),
            kinds: [const { [const { AtomicU64::new(0) }; class::KINDS] }; VCPUS],
            pipe: Mutex::new(pipe),
        }
    }

    /// Mortise's instructions on all cores.
    fn everywhere(&self) -> u64 {
        self.el2.iter().map(|counter| counter.load(Relaxed)).sum()
    }

    /// Begins the path between marks.
    pub fn mark(&self, vcpu: usize) {
        self.marked.store(self.everywhere(), Relaxed);
        self.begin(self.plan.paths.len(), vcpu);
    }

    /// Ends path `reach` of a mark on any core.
    pub fn reach(&self, reach: usize, vcpu: usize) {
        let marked = self.marked.swap(IDLE, Relaxed);
        if marked != IDLE {
            let mut body = Vec::with_capacity(80);
            body.extend(((self.plan.paths.len() + 1 + reach) as u32).to_le_bytes());
            body.extend((vcpu as u32).to_le_bytes());
            body.extend([0; 48]);
            body.extend((self.everywhere() - marked).to_le_bytes());
            body.extend([0; 16]);
            self.send(PASSAGE, &body);
        }
    }

    /// Begins a path on a vCPU.
    pub fn begin(&self, path: usize, vcpu: usize) {
        let begun = &self.begun[path][vcpu];
        begun.total.store(self.total(vcpu), Relaxed);
        begun.el2.store(self.el2[vcpu].load(Relaxed), Relaxed);
        begun.everywhere.store(self.everywhere(), Relaxed);
        begun.other_everywhere.store(self.other.sum(), Relaxed);
        begun.other.store(self.other.of(vcpu), Relaxed);
        for (then, now) in begun.kinds.iter().zip(&self.kinds[vcpu]) {
            then.store(now.load(Relaxed), Relaxed);
        }
        begun.misses.store(self.misses[vcpu].load(Relaxed), Relaxed);
    }

    /// Ends a path on a vCPU, if it had begun.
    pub fn end(&self, path: usize, vcpu: usize) {
        let begun = &self.begun[path][vcpu];
        let total = begun.total.swap(IDLE, Relaxed);
        if total == IDLE {
            return;
        }
        let since = |now: &AtomicU64, then: &AtomicU64| now.load(Relaxed) - then.load(Relaxed);
        let mut body = Vec::with_capacity(80);
        body.extend((path as u32).to_le_bytes());
        body.extend((vcpu as u32).to_le_bytes());
        body.extend((self.total(vcpu) - total).to_le_bytes());
        for (then, now) in begun.kinds.iter().zip(&self.kinds[vcpu]) {
            body.extend(since(now, then).to_le_bytes());
        }
        body.extend(since(&self.el2[vcpu], &begun.el2).to_le_bytes());
        let before = begun.other.load(Relaxed);
        body.extend((self.other.of(vcpu) - before).to_le_bytes());
        let before = begun.everywhere.load(Relaxed);
        body.extend((self.everywhere() - before).to_le_bytes());
        body.extend(since(&self.misses[vcpu], &begun.misses).to_le_bytes());
        let before = begun.other_everywhere.load(Relaxed);
        body.extend((self.other.sum() - before).to_le_bytes());
        self.send(PASSAGE, &body);
    }

    /// Counts an instruction of Mortise on a vCPU.
    pub fn visit(&self, vcpu: usize, address: u64, step: Step) {
        let core = &self.cores[vcpu];
        core.look(self.other.of(vcpu));
        if matches!(core.coming(), Some(account::OTHER | account::IDLE)) {
            for (path, _) in self.plan.arrivals() {
                self.begin(path, vcpu);
            }
        }
        let kinds = self.kinds[vcpu].each_ref().map(|kind| kind.load(Relaxed));
        let outside = self.guest[vcpu].load(Relaxed) + self.other.of(vcpu);
        let counts = (kinds, outside);
        if let Some((visit, steps)) = core.step(address, step, counts, self.plan.steps) {
            self.send(VISIT, &visit.to_bytes(vcpu as u32, &steps));
        }
    }

    /// Records the first execution of an instruction of Mortise.
    pub fn executed(&self, address: u64) {
        if self
            .executed
            .as_ref()
            .is_some_and(|seen| seen.first(address))
        {
            self.send(EXECUTED, &address.to_le_bytes());
        }
    }

    /// Models a load or store, and counts a miss.
    pub fn accessed(&self, physical: u64, vcpu: usize) {
        let cache = self.cache.as_ref().and_then(|cache| cache.lock().ok());
        let missing = cache.is_some_and(|mut cache| cache.access(physical));
        self.misses[vcpu].fetch_add(missing.into(), Relaxed);
    }

    /// Reports how many instructions of watched VMs a core has executed.
    pub fn executing(&self, vcpu: usize, instructions: u64) {
        let mut body = [0; 16];
        body[..8].copy_from_slice(&(vcpu as u64).to_le_bytes());
        body[8..].copy_from_slice(&instructions.to_le_bytes());
        self.send(EXECUTING, &body);
    }

    /// Handles a store of a watched VM: a store to a journal's head publishes a sample.
    pub fn stored(&self, physical: u64, vcpu: usize) {
        let address = self.ram().map_or(physical, |ram| ram.address(physical));
        let head = |&(task, _): &(u64, u64)| task + TASK_HEAD == address;
        let published = self.plan.tasks.iter().position(head);
        if let Some(body) = published.and_then(|task| self.sample(task, vcpu)) {
            self.send(SAMPLE, &body);
        }
    }

    /// Both counters of a vCPU.
    fn total(&self, vcpu: usize) -> u64 {
        self.el2[vcpu].load(Relaxed) + self.guest[vcpu].load(Relaxed)
    }

    /// RAM; searched until QEMU has mapped it.
    pub fn ram(&self) -> Option<&Ram> {
        if self.ram.get().is_none() {
            let plan = &self.plan;
            let found = Ram::find(&plan.ram_file, plan.ram_base, plan.ram_size, plan.coloured)?;
            let _ = self.ram.set(found);
        }
        self.ram.get()
    }

    /// The record of a sample that `vcpu` has just published.
    fn sample(&self, task: usize, vcpu: usize) -> Option<Vec<u8>> {
        let (ram, (address, size)) = (self.ram()?, self.plan.tasks[task]);
        let head = ram.word(address + TASK_HEAD)?;
        // Both come from the guest: check their bounds before they are part of an address.
        let capacity = ram.word(address + TASK_CAPACITY)?;
        if head == 0 || !capacity.is_power_of_two() || capacity > size / 32 {
            return None;
        }
        let slot = address + TASK_SAMPLES + ((head - 1) & (capacity - 1)) * 32;
        let mut body = Vec::with_capacity(512);
        body.extend((task as u32).to_le_bytes());
        body.extend((vcpu as u32).to_le_bytes());
        body.extend(head.to_le_bytes());
        for word in 0..4 {
            body.extend(ram.word(slot + 8 * word)?.to_le_bytes());
        }
        for counter in self.el2.iter().chain(&self.guest) {
            body.extend(counter.load(Relaxed).to_le_bytes());
        }
        for &page in &self.plan.status {
            for offset in [STATUS_STATE, STATUS_REASON, STATUS_RESTARTS, STATUS_HANDLE] {
                body.extend(ram.half(page + offset)?.to_le_bytes());
            }
            for cause in 0..6 {
                let exits = |cpu| ram.word(page + STATUS_EXITS + 64 * cpu + 8 * cause);
                let sum = (0..VCPUS as u64)
                    .filter_map(exits)
                    .fold(0, u64::wrapping_add);
                body.extend(sum.to_le_bytes());
            }
        }
        for &address in &self.plan.words {
            body.extend(ram.word(address)?.to_le_bytes());
        }
        Some(body)
    }

    fn send(&self, kind: u32, body: &[u8]) {
        let mut frame = Vec::with_capacity(8 + body.len());
        frame.extend(kind.to_le_bytes());
        frame.extend((body.len() as u32).to_le_bytes());
        frame.extend(body);
        // The orchestrator ends the run when it stops reading, so the error is ignored.
        if let Ok(mut pipe) = self.pipe.lock() {
            let _ = pipe.write_all(&frame);
        }
    }
}

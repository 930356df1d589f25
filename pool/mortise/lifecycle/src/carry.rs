//! Work carried out: each step is short, and between two of them nothing is locked.

use crate::{Failure, Phase, Registry, Work, setup::Setup, stop::Progress};
use core_manifest::{Kind, Schedule};
use core_memory::{IntermediateRange, PhysicalRange};
use core_paging::Access;
use core_sync::TicketLock;
use hw_arch::cpu::{self, is_interrupt_pending};
use mortise_instance::{AREAS, BLOCK, Event, Handle, State, Subject};
use mortise_partition::{Machine, SlotConfig, Vm};
use mortise_transfer::Transfer;

/// Bytes that a step's number stands for.
const GRAIN: u64 = 64;
/// Looks at whether vCPUs are away before the caller is let go to look again.
const PATIENCE: usize = 64;

/// Waits for another core, but not long, and not while an interrupt waits.
pub(crate) fn wait(until: impl Fn() -> bool) -> Progress {
    for _ in 0..PATIENCE {
        if until() {
            return Progress::Done;
        }
        if is_interrupt_pending() {
            break;
        }
        cpu::relax();
    }
    Progress::Again
}

/// What it takes to work on a VM.
pub(crate) struct Site<'a> {
    pub setup: &'a Setup,
    pub registry: &'a TicketLock<Registry>,
    pub transfer: &'a Transfer,
    pub machine: &'static Machine,
}

/// What a step needs to know of its VM.
pub(crate) struct Job {
    vm: &'static Vm,
    work: Work,
    phase: Phase,
    subject: Subject,
    /// Its RAM as it sees it.
    ram: IntermediateRange,
    /// All that it has of the reserve: its RAM, and behind that its areas if it has any.
    memory: PhysicalRange,
    pub handle: Handle,
}

impl Job {
    /// Whether Mortise has what it is filled with.
    pub const fn has_payload(&self) -> bool {
        matches!(self.subject, Subject::Template(_))
    }

    /// The phase behind a step.
    const fn after(&self, step: Step) -> Phase {
        match step {
            Step::Wait | Step::Refuse => self.phase,
            Step::More(phase) => phase,
            Step::Over => self.phase.next(self.work, self.has_payload()),
        }
    }
}

impl Site<'_> {
    /// Goes on with the work on the VM in a slot until it is done or an interrupt waits.
    pub fn go_on(&self, slot: usize) -> Result<Progress, Failure> {
        if is_interrupt_pending() {
            return Ok(Progress::Again);
        }
        let mut job = self.take(slot)?;
        let progress = loop {
            if is_interrupt_pending() {
                break Progress::Again;
            }
            if job.phase == Phase::Over {
                break Progress::Done;
            }
            let step = self.step(&job, is_interrupt_pending);
            job.phase = job.after(step);
            match step {
                Step::Wait => break Progress::Again,
                Step::Refuse => {
                    self.registry.lock().empty(slot, Event::Abandon)?;
                    return Err(Failure::Invalid);
                }
                Step::Over | Step::More(_) => {}
            }
        };
        if progress == Progress::Done && self.conclude(slot, &job)? {
            return Ok(Progress::Done);
        }
        self.put_back(slot, &job);
        Ok(Progress::Again)
    }

    /// Goes on with the work on the VM in a slot up to a phase, interrupts waiting or not; false if
    /// somebody else has to do something first.
    pub fn go_on_until(&self, slot: usize, phase: Phase) -> Result<bool, Failure> {
        let mut job = self.take(slot)?;
        let reached = loop {
            if job.phase == phase {
                break true;
            }
            let step = self.step(&job, || false);
            if step == Step::Wait {
                break false;
            }
            job.phase = job.after(step);
        };
        self.put_back(slot, &job);
        Ok(reached)
    }

    /// Keeps others off the VM while it is worked on.
    #[inline(always)] // a job is large to pass on
    fn take(&self, slot: usize) -> Result<Job, Failure> {
        let vm = self.machine.vm(slot).ok_or(Failure::NotFound)?;
        let mut registry = self.registry.lock();
        let handle = registry.handle(slot).ok_or(Failure::NotFound)?;
        let record = registry.record_mut(slot).ok_or(Failure::NotFound)?;
        if record.held {
            return Err(Failure::Busy);
        }
        let (Some((work, phase)), Some(descriptor), Some(memory)) =
            (record.work, &record.descriptor, record.memory)
        else {
            return Err(Failure::Busy);
        };
        let ram = descriptor.memory;
        record.held = true;
        Ok(Job {
            vm,
            work,
            phase,
            subject: record.subject,
            ram,
            memory,
            handle,
        })
    }

    /// Lets others at the VM again, and takes down how far the work is.
    fn put_back(&self, slot: usize, job: &Job) {
        if let Some(record) = self.registry.lock().record_mut(slot) {
            record.held = false;
            if let Some((_, phase)) = &mut record.work {
                *phase = job.phase;
            }
        }
    }

    /// The same when the work is done; false, and nothing is changed, if an interrupt goes first.
    fn conclude(&self, slot: usize, job: &Job) -> Result<bool, Failure> {
        let mut registry = self.registry.lock();
        let record = registry.record_mut(slot).ok_or(Failure::NotFound)?;
        if is_interrupt_pending() {
            return Ok(false);
        }
        record.held = false;
        record.work = None;
        match (job.work, job.has_payload()) {
            (Work::Making(_), false) => record.apply(Event::Made)?,
            (Work::Making(_), true) => {
                record.apply(Event::Made)?;
                record.apply(Event::Start)?;
            }
            (Work::Starting, _) => record.apply(Event::Start)?,
            (Work::Restarting, false) => record.apply(Event::Reload)?,
            (Work::Restarting, true) => record.apply(Event::Restart)?,
            (Work::Destroying | Work::Retiring, _) => {
                let event = match record.state {
                    State::Creating => Event::Abandon,
                    _ => Event::Destroyed,
                };
                registry.empty(slot, event)?;
            }
        }
        if job.work.starts(job.has_payload()) {
            // Last of all: its end, which may come at any time, finds all as it is to be. Nobody
            // destroys it before, whose order this one would undo.
            job.vm.release(self.machine);
        }
        Ok(true)
    }

    /// Does one step, or nothing yet if `stop` says so in its midst.
    fn step(&self, job: &Job, stop: fn() -> bool) -> Step {
        let vm = job.vm;
        match job.phase {
            // What takes long has its section for itself.
            Phase::Vacate(_)
            | Phase::Scrub(_)
            | Phase::Status(_)
            | Phase::Ready(_)
            | Phase::Return
            | Phase::Refused(_)
                if stop() =>
            {
                Step::More(job.phase)
            }
            Phase::Check(other) => self.check(job, other, stop),
            Phase::Refused(0) => {
                let slot = usize::from(job.handle.slot);
                self.registry.lock().give_back(slot);
                Step::More(Phase::Refused(1))
            }
            Phase::Refused(_) => Step::Refuse,
            Phase::Discard => {
                vm.discard(self.machine);
                Step::Over
            }
            Phase::Await => match wait(|| !vm.hold_requested() || vm.is_held()) {
                Progress::Done => Step::Over,
                Progress::Again => Step::Wait,
            },
            Phase::Vacate(part) => {
                let next = vm.vacate(self.machine, part);
                if next.is_none() && job.work == Work::Retiring {
                    // Those who rest in other places than the one that does this.
                    vm.kick_all(self.machine);
                }
                next.map_or(Step::Over, |part| Step::More(Phase::Vacate(part)))
            }
            Phase::Scrub(at) => {
                // SAFETY: memory of the reserve that this VM has, which is vacant: none of its vCPUs
                // is on a core, and its stage 2 was withdrawn.
                let done = unsafe { self.transfer.zero(job.memory, at * GRAIN) };
                Step::until(done >= job.memory.size(), Phase::Scrub(done / GRAIN))
            }
            Phase::Log(part) => Step::until(!vm.clear_log(part as usize), Phase::Log(part + 1)),
            Phase::Status(part) => {
                Step::until(!vm.clear_status(part as usize), Phase::Status(part + 1))
            }
            Phase::Describe(part) => self.describe(job, part, stop),
            Phase::Map(block) => match self.place(job, block) {
                None => Step::Over,
                Some(_) if stop() => Step::More(job.phase),
                Some((ipa, pa, access)) => {
                    let _mapped = vm.map(ipa, pa, access);
                    Step::More(Phase::Map(block + 1))
                }
            },
            Phase::Unmap(block) => match self.place(job, block) {
                None => {
                    vm.note_state(core_statistics::State::Destroyed);
                    Step::Over
                }
                Some(_) if stop() => Step::More(job.phase),
                Some((ipa, ..)) => {
                    let _unmapped = vm.unmap(ipa);
                    Step::More(Phase::Unmap(block + 1))
                }
            },
            Phase::Return => {
                let slot = usize::from(job.handle.slot);
                self.registry.lock().give_back(slot);
                Step::Over
            }
            Phase::Give(channel) => {
                if let Some(intid) = self.setup.interrupt(job.subject, channel) {
                    // Who lived there before may have had it already.
                    let _given = vm.add_interrupt(intid);
                }
                let over = channel + 1 >= self.setup.channels();
                Step::until(over, Phase::Give(channel + 1))
            }
            Phase::Ready(part) => {
                let next = vm.ready(self.machine, part);
                next.map_or(Step::Over, |part| Step::More(Phase::Ready(part)))
            }
            Phase::Fill(index, at) => self.fill(job, index, at, stop),
            Phase::Tell => {
                if stop() {
                    return Step::More(Phase::Tell);
                }
                let text = " made, on its template's request";
                self.machine.report(vm.name(), text, &[]);
                Step::Over
            }
            Phase::Start => {
                vm.begin(self.machine);
                Step::Over
            }
            Phase::Over => Step::Over,
        }
    }

    /// Describes a VM to its place, part by part, unless `stop` says so once it is known what is to be
    /// described.
    fn describe(&self, job: &Job, part: usize, stop: fn() -> bool) -> Step {
        let registry = self.registry.lock();
        let record = registry.record(usize::from(job.handle.slot));
        let described = record.and_then(|record| record.descriptor.as_ref());
        let physical = PhysicalRange::new(job.memory.start(), job.ram.size());
        let (Some(descriptor), Some(physical)) = (described, physical) else {
            return Step::Over;
        };
        let next = Phase::Describe(part + 1);
        let Some(own) = part.checked_sub(1) else {
            let schedule = self.setup.schedule(job.subject, descriptor);
            if stop() {
                return Step::More(Phase::Describe(part));
            }
            job.vm
                .set_schedule(schedule.unwrap_or(Schedule::of(Kind::Tenon)));
            return Step::More(next);
        };
        let occupant = SlotConfig {
            name: descriptor.name.as_bytes(),
            handle: job.handle.to_register() as u32,
            cpus: descriptor.cpus(),
            memory: (descriptor.memory, physical),
            entry: descriptor.entry,
            argument: descriptor.argument,
        };
        if stop() {
            return Step::More(Phase::Describe(part));
        }
        Step::until(!job.vm.describe(&occupant, own), next)
    }

    /// The blocks of a VM's memory: where it sees one, and where it is.
    fn block(job: &Job, block: u64) -> Option<(u64, u64, Access)> {
        let offset = block * BLOCK;
        let physical = job.memory.start() + offset;
        if offset < job.ram.size() {
            return Some((job.ram.start() + offset, physical, Access::Full));
        }
        let area = AREAS + offset - job.ram.size();
        (offset < job.memory.size()).then_some((area, physical, Access::ReadWrite))
    }

    /// The same, and behind the last one the pages of its channels; nothing behind the last of all.
    fn place(&self, job: &Job, block: u64) -> Option<(u64, u64, Access)> {
        Self::block(job, block).or_else(|| {
            let blocks = job.memory.size() / BLOCK;
            self.setup.page(job.subject, block.saturating_sub(blocks))
        })
    }

    fn fill(&self, job: &Job, index: usize, at: u64, stop: fn() -> bool) -> Step {
        let Some(filling) = self.setup.filling(job.subject, index) else {
            return Step::Over;
        };
        let offset = filling.target.start() - job.ram.start();
        let target = job.memory.start() + offset;
        if stop() {
            return Step::More(Phase::Fill(index, at));
        }
        // SAFETY: a template's payload lies in the system image, which nobody writes; its target, in
        // memory that this VM has of the reserve, as was checked at boot. It does not run yet.
        let done = unsafe { self.transfer.copy(filling.source, target, at * GRAIN) };
        match done >= filling.source.size() {
            true => Step::More(Phase::Fill(index + 1, 0)),
            false => Step::More(Phase::Fill(index, done / GRAIN)),
        }
    }

    /// Begins to make a VM of a template by a rule of the system.
    pub fn want(&self, template: usize, now: u64) -> Result<usize, Failure> {
        let descriptor = self.setup.template(template).ok_or(Failure::NotFound)?;
        let subject = Subject::Template(template);
        let mut registry = self.registry.lock();
        registry.fill(None, subject, descriptor, now, || Ok(()))
    }
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Its phase is over.
    Over,
    /// Its phase, or a following one of the same kind, goes on here.
    More(Phase),
    /// Somebody else has to do something first.
    Wait,
    /// The VM is not to be.
    Refuse,
}

impl Step {
    const fn until(over: bool, phase: Phase) -> Self {
        if over { Self::Over } else { Self::More(phase) }
    }
}

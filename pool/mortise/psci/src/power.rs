//! Power states of the vCPUs of a VM, and the end of its run.

use mortise_hypercall::{PowerState, Start};

/// Maximum number of vCPUs of a VM.
pub const MAX_VCPUS: usize = 8;

/// The first vCPU: its core loads the memory and carries out the end of a run.
pub const FIRST_VCPU: usize = 0;

/// How the run of a VM ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Ended by a fault, without a restart.
    Fault,
    /// Followed by a new run.
    Restart,
    /// Powered off.
    Off,
}

/// Set of vCPUs, one bit each. As a result: the vCPUs with cores to kick, because they have an action to
/// take or must stop. The caller kicks them after it has released the lock.
#[must_use = "a core that is not kicked stays asleep"]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VcpuSet(u32);

impl VcpuSet {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The set of a word that [`bits`](Self::bits) returned.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// One bit for each vCPU of the set, to be stored.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The vCPUs of the set.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let rest = |bits: &u32| Some(bits & bits.wrapping_sub(1));
        core::iter::successors(Some(self.0), rest)
            .take_while(|&bits| bits != 0)
            .map(|bits| bits.trailing_zeros() as usize)
    }
}

/// Next action of an idle core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// Stay idle.
    Wait,
    /// Start the vCPU at this entry point.
    Start(Start),
    /// Every vCPU is idle: the first vCPU carries out the end of the run.
    EndRun(RunEnd),
}

/// Whether the core of a vCPU is lent for other work of its VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loan {
    /// Not lent.
    None,
    /// Lent.
    Lent,
    /// Lent, and to be returned: the core must end that work and become idle.
    Recalled,
}

/// One vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vcpu {
    Off,
    Pending(Start),
    On,
    /// Off for its VM, with its core [lent](Power::lend_core).
    Lent,
    /// To start here as soon as its core is returned.
    Reclaimed(Start),
}

/// Power states of the vCPUs of a VM, and the end of its run, which is decided once. A vCPU beyond their
/// number is always off.
///
/// Cores share it under a lock; each method is one atomic step. Cores sleep between steps, so each step
/// returns the vCPUs to kick ([`VcpuSet`]): in every interleaving of steps, no core with an action to take
/// stays asleep.
#[derive(Clone, Debug)]
pub struct Power {
    states: [Vcpu; MAX_VCPUS],
    vcpus: usize,
    end: Option<RunEnd>,
    /// Whether the run has begun and the first vCPU has not [executed](Self::mark_begun) yet.
    beginning: bool,
    /// Whether the first vCPU has carried out the end and no other run follows.
    over: bool,
    /// Remaining restarts after faults.
    restarts_left: u32,
}

impl Power {
    /// A VM with `vcpus` vCPUs, at most [`MAX_VCPUS`], all off until [`begin_run`](Self::begin_run), and at
    /// most `restarts` restarts after faults.
    #[must_use]
    pub const fn new(vcpus: usize, restarts: u32) -> Self {
        Self {
            states: [Vcpu::Off; MAX_VCPUS],
            vcpus: if vcpus < MAX_VCPUS { vcpus } else { MAX_VCPUS },
            end: None,
            beginning: false,
            over: false,
            restarts_left: restarts,
        }
    }

    /// Begins a prepared run like [`begin_run`](Self::begin_run), unless an end was requested meanwhile.
    ///
    /// # Errors
    ///
    /// The requested end.
    pub const fn begin_prepared(&mut self, start: Start) -> Result<(), RunEnd> {
        match self.end {
            Some(end) => Err(end),
            None => {
                self.begin_run(start);
                Ok(())
            }
        }
    }

    /// Begins a run: the first vCPU is to start at this entry point, the others are off.
    pub const fn begin_run(&mut self, start: Start) {
        self.states = [Vcpu::Off; MAX_VCPUS];
        self.states[FIRST_VCPU] = Vcpu::Pending(start);
        self.beginning = true;
        self.end = None;
        self.over = false;
    }

    /// Whether the start of this vCPU begins the run: the first start of the first vCPU. If the VM
    /// turns that off and on again, the run does not begin once more.
    #[must_use]
    pub const fn is_beginning(&self, vcpu: usize) -> bool {
        vcpu == FIRST_VCPU && self.beginning
    }

    /// What is due when a run begins has been done.
    pub const fn mark_begun(&mut self) {
        self.beginning = false;
    }

    /// The first vCPU has carried out this end. With `again` it prepares another run to
    /// [begin](Self::begin_prepared). Otherwise the end is final, and no core has an action to take until
    /// an end with a restart is [forced](Self::force_end).
    ///
    /// # Errors
    ///
    /// The end to carry out instead, if another was requested meanwhile.
    pub fn finish_run(&mut self, end: RunEnd, again: bool) -> Result<(), RunEnd> {
        match self.end {
            Some(other) if other != end => Err(other),
            _ => {
                self.end = (!again).then_some(end);
                self.over = !again;
                // Start requests do not carry over to the next run.
                self.states = [Vcpu::Off; MAX_VCPUS];
                Ok(())
            }
        }
    }

    /// The state of a vCPU.
    #[must_use]
    pub fn state(&self, vcpu: usize) -> PowerState {
        match self.states.get(vcpu) {
            Some(Vcpu::On) => PowerState::On,
            Some(Vcpu::Pending(_) | Vcpu::Reclaimed(_)) => PowerState::OnPending,
            Some(Vcpu::Off | Vcpu::Lent) | None => PowerState::Off,
        }
    }

    /// Lends the core of a vCPU that is off for other work of its VM, until the vCPU is
    /// [stopped](Self::mark_stopped) again. If it is lent already, the core is only kicked. The core of the
    /// first vCPU cannot be lent.
    ///
    /// # Errors
    ///
    /// The state of the vCPU; [`PowerState::Off`] if it is off and must stay off.
    pub fn lend_core(&mut self, vcpu: usize) -> Result<VcpuSet, PowerState> {
        let state = self.state(vcpu);
        match self.states.get_mut(vcpu) {
            Some(slot @ (Vcpu::Off | Vcpu::Lent))
                if vcpu < self.vcpus && vcpu != FIRST_VCPU && self.end.is_none() =>
            {
                *slot = Vcpu::Lent;
                Ok(VcpuSet(1 << vcpu))
            }
            _ => Err(state),
        }
    }

    /// Whether the core of a vCPU is lent.
    #[must_use]
    pub fn loan(&self, vcpu: usize) -> Loan {
        match self.states.get(vcpu) {
            Some(Vcpu::Lent) if self.end.is_none() => Loan::Lent,
            Some(Vcpu::Lent | Vcpu::Reclaimed(_)) => Loan::Recalled,
            _ => Loan::None,
        }
    }

    /// Requests the start of a vCPU that is off. No vCPU starts in a run that is ending.
    ///
    /// # Errors
    ///
    /// The state of the vCPU; [`PowerState::Off`] if it is off and must stay off.
    pub fn request_on(&mut self, vcpu: usize, start: Start) -> Result<VcpuSet, PowerState> {
        let state = self.state(vcpu);
        match self.states.get_mut(vcpu) {
            Some(slot @ (Vcpu::Off | Vcpu::Lent)) if vcpu < self.vcpus && self.end.is_none() => {
                *slot = match *slot {
                    Vcpu::Lent => Vcpu::Reclaimed(start),
                    _ => Vcpu::Pending(start),
                };
                Ok(VcpuSet(1 << vcpu))
            }
            _ => Err(state),
        }
    }

    /// A running vCPU requests the end of the run: all others must become idle. `None` if an end is
    /// requested already.
    pub fn request_end(&mut self, vcpu: usize, end: RunEnd) -> Option<VcpuSet> {
        if self.end.is_some() {
            return None;
        }
        self.end = Some(end);
        Some(VcpuSet(self.executing() & !(1 << vcpu)))
    }

    /// Forces an end from outside the VM, with a new run to follow or not: all vCPUs must become idle, and
    /// the first vCPU carries it out. It replaces a requested end that is not carried out yet, and can
    /// start a VM that has ended. `None` if the state is as requested already.
    pub fn force_end(&mut self, end: RunEnd) -> Option<VcpuSet> {
        let already_requested = match self.over {
            true => end != RunEnd::Restart,
            false => self.end == Some(end),
        };
        if already_requested {
            return None;
        }
        self.end = Some(end);
        self.over = false;
        Some(VcpuSet(self.executing() | 1 << FIRST_VCPU))
    }

    /// The final end, if it has been carried out and no run follows.
    #[must_use]
    pub const fn final_end(&self) -> Option<RunEnd> {
        if self.over { self.end } else { None }
    }

    /// The requested end of the run.
    #[must_use]
    pub const fn requested_end(&self) -> Option<RunEnd> {
        self.end
    }

    /// The vCPUs that have not stopped yet although the run is ending.
    pub fn not_stopped(&self) -> VcpuSet {
        let ends = self.end.is_some() && !self.over;
        VcpuSet(if ends { self.executing() } else { 0 })
    }

    /// Decides how the run ends after a fault of a running vCPU: the VM restarts while restarts remain, then stops. `None`, without
    /// a restart consumed, if an end is requested already.
    pub fn end_after_fault(&mut self, vcpu: usize) -> Option<VcpuSet> {
        let again = self.restarts_left.checked_sub(1);
        let end = again.map_or(RunEnd::Fault, |_| RunEnd::Restart);
        let kicks = self.request_end(vcpu, end)?;
        self.restarts_left = again.unwrap_or(0);
        Some(kicks)
    }

    /// Marks a vCPU as stopped: its core is idle, with no work in progress. If the last running vCPU turns
    /// itself off, the VM powers off: no vCPU remains that could start another, or use a lent core.
    pub fn mark_stopped(&mut self, vcpu: usize) -> VcpuSet {
        if let Some(state) = self.states.get_mut(vcpu) {
            *state = match *state {
                Vcpu::Reclaimed(start) => Vcpu::Pending(start),
                _ => Vcpu::Off,
            };
        }
        let executing = self.executing();
        let all_off = |own: &[Vcpu]| own.iter().all(|it| matches!(it, Vcpu::Off | Vcpu::Lent));
        if self.end.is_none() && all_off(self.own()) {
            self.end = Some(RunEnd::Off);
            if executing != 0 {
                return VcpuSet(executing);
            }
        }
        let due = self.end.is_some() && executing == 0 && vcpu != FIRST_VCPU;
        VcpuSet(u32::from(due) << FIRST_VCPU)
    }

    /// Next action of an idle core. One that is to start executes from here on.
    pub fn next_action(&mut self, vcpu: usize) -> NextAction {
        if let Some(end) = self.end {
            let leads = vcpu == FIRST_VCPU && self.executing() == 0 && !self.over;
            let led = leads.then_some(end);
            return led.map_or(NextAction::Wait, NextAction::EndRun);
        }
        if let Some(state) = self.states.get_mut(vcpu)
            && let Vcpu::Pending(start) = *state
        {
            *state = Vcpu::On;
            return NextAction::Start(start);
        }
        NextAction::Wait
    }

    /// The states of the existing vCPUs.
    fn own(&self) -> &[Vcpu] {
        self.states.get(..self.vcpus).unwrap_or(&self.states)
    }

    /// The vCPUs that are running or have a lent core, one bit each.
    fn executing(&self) -> u32 {
        let busy = |state: &Vcpu| matches!(state, Vcpu::On | Vcpu::Lent | Vcpu::Reclaimed(_));
        self.own()
            .iter()
            .enumerate()
            .filter(|(_, state)| busy(state))
            .fold(0, |word, (vcpu, _)| word | 1 << vcpu)
    }
}

#[cfg(test)]
mod tests;

//! Model of a VM on its cores, with a minimal hypervisor.

pub use super::hardware::*;
use super::port::Port;
use crate::*;
use std::cell::Cell;

pub const VCPUS: usize = 3;
pub const TIMER: u32 = 27;
/// A second private interrupt backed by hardware, without a template.
pub const OTHER_TIMER: u32 = 30;

/// A VM of three vCPUs on three cores, with PPIs 27 and 30 and the SPIs 40 to 47 backed by hardware, and
/// the SPIs 33 and 64 to 71 virtual.
pub struct Machine {
    pub vgic: VirtualGic<VCPUS, 8>,
    pub cores: Vec<Core>,
    pub effects: Vec<Effect>,
    /// Whether the next access or SGI takes the fast path, if there is one.
    pub takes_fast_path: bool,
    /// Results of [`PhysicalGic::should_yield`] after each guest entry, one bit each, on shared cores; zero
    /// if the cores are not shared.
    pub yield_pattern: u64,
    /// Results of the next calls.
    next_yields: Cell<u64>,
    /// Whether a refresh is deferred to the next guest entry.
    pub refresh_deferred: bool,
    /// The physical interrupts taken at EL2, with the core they are private to or 0.
    pub taken: Vec<(u32, usize)>,
}

macro_rules! port {
    ($machine:ident, $vcpu:expr) => {{
        let list_registers = $machine.cores[0].lists.len();
        Port {
            me: $vcpu,
            cores: &mut $machine.cores,
            effects: &mut $machine.effects,
            shared: $machine.yield_pattern != 0,
            yield_pattern: &$machine.next_yields,
            refresh_deferred: &mut $machine.refresh_deferred,
            list_registers,
        }
    }};
}

fn word(frame: Frame, offset: usize, operation: Operation) -> Access {
    Access {
        frame,
        offset,
        width: Width::Word,
        operation,
    }
}

impl Machine {
    pub fn new(list_registers: usize) -> Self {
        let mut vgic = VirtualGic::new();
        vgic.set_vcpus(VCPUS).unwrap();
        vgic.add_hardware(TIMER).unwrap();
        vgic.add_hardware(OTHER_TIMER).unwrap();
        (40..48).for_each(|intid| vgic.add_hardware(intid).unwrap());
        vgic.add_virtual(33).unwrap();
        (64..72).for_each(|intid| vgic.add_virtual(intid).unwrap());
        let core = Core {
            lists: vec![ListRegister::EMPTY; list_registers],
            maintenance: Maintenance::default(),
            eoi_count: 0,
            running: Vec::new(),
            kicked: false,
            template: ListRegister::EMPTY,
            sources: [Source::default(); 288],
        };
        Self {
            vgic,
            cores: vec![core; VCPUS],
            effects: Vec::new(),
            takes_fast_path: false,
            yield_pattern: 0,
            next_yields: Cell::new(0),
            refresh_deferred: false,
            taken: Vec::new(),
        }
    }

    /// With all interrupts enabled, at one priority.
    pub fn running(list_registers: usize) -> Self {
        let mut machine = Self::new(list_registers);
        machine.write(0, Frame::Distributor, 0x0, 0b11);
        for vcpu in 0..VCPUS {
            machine.write(vcpu, Frame::Sgi(vcpu), 0x100, u32::MAX.into());
            for offset in (0x400..0x420).step_by(4) {
                machine.write(vcpu, Frame::Sgi(vcpu), offset, 0xa0a0_a0a0);
            }
        }
        for row in 1..9 {
            machine.write(0, Frame::Distributor, 0x100 + 4 * row, u32::MAX.into());
        }
        for offset in (0x420..0x520).step_by(4) {
            machine.write(0, Frame::Distributor, offset, 0xa0a0_a0a0);
        }
        (0..VCPUS).for_each(|vcpu| machine.refresh(vcpu));
        machine.effects.clear();
        machine
    }

    pub fn access(&mut self, vcpu: usize, access: Access) -> u64 {
        if self.takes_fast_write(access) {
            return 0;
        }
        let value = loop {
            match self.access_once(vcpu, access) {
                Some(value) => break value,
                // The guest repeats the access.
                None => self.run_deferred(vcpu),
            }
        };
        self.resume(vcpu);
        assert!(self.agrees(access, value), "{access:?} {value:#x}");
        value
    }

    /// Makes an access once, which may return early.
    pub fn access_once(&mut self, vcpu: usize, access: Access) -> Option<u64> {
        self.vgic.access(vcpu, access, &mut port!(self, vcpu))
    }

    /// Sends an SGI once, without the deferred work.
    pub fn sgi_once(&mut self, vcpu: usize, value: u64) {
        let request = SgiRequest::new(value);
        self.vgic
            .send_sgi(vcpu, request, true, &mut port!(self, vcpu));
    }

    /// Refreshes the list registers once; whether that is complete.
    pub fn refresh_once(&mut self, vcpu: usize) -> bool {
        self.refresh_deferred = false;
        self.vgic.refresh_lrs(vcpu, &mut port!(self, vcpu));
        !self.refresh_deferred
    }

    pub fn read(&mut self, vcpu: usize, frame: Frame, offset: usize) -> u64 {
        self.access(vcpu, word(frame, offset, Operation::Read))
    }

    pub fn write(&mut self, vcpu: usize, frame: Frame, offset: usize, value: u64) {
        self.access(vcpu, word(frame, offset, Operation::Write(value)));
    }

    pub fn route(&mut self, vcpu: usize, intid: u32, to: u64) {
        let offset = 0x6000 + 8 * intid as usize;
        let low = word(Frame::Distributor, offset, Operation::Write(to));
        let width = Width::Double;
        self.access(vcpu, Access { width, ..low });
    }

    /// vCPU 0 sets the priority of an interrupt of `frame` by a byte access.
    pub fn set_priority(&mut self, frame: Frame, intid: usize, priority: u64) {
        let access = Access {
            frame,
            offset: 0x400 + intid,
            width: Width::Byte,
            operation: Operation::Write(priority),
        };
        self.access(0, access);
    }

    pub fn sgi(&mut self, vcpu: usize, value: u64) {
        let request = SgiRequest::new(value);
        let vgic = &mut self.vgic;
        self.takes_fast_path ^= true;
        let fast = self.takes_fast_path && request.is_to(vcpu);
        if !fast || !vgic.relist_sgi(vcpu, request.intid(), &mut port!(self, vcpu)) {
            self.sgi_once(vcpu, value);
        }
        self.resume(vcpu);
    }

    pub fn sgi_group0(&mut self, vcpu: usize, value: u64) {
        self.vgic
            .send_sgi(vcpu, SgiRequest::new(value), false, &mut port!(self, vcpu));
        self.resume(vcpu);
    }

    /// A device on the core of `vcpu` sets its line, and the hypervisor handles the kick of this core.
    pub fn line(&mut self, vcpu: usize, intid: u32, high: bool) {
        self.vgic
            .set_line(vcpu, intid, high, &mut port!(self, vcpu));
        if self.cores[vcpu].kicked {
            self.refresh(vcpu);
        }
    }

    /// A device on the core of `vcpu` raises its line and lowers it again.
    pub fn toggle_line(&mut self, vcpu: usize, intid: u32) {
        for high in [true, false] {
            self.line(vcpu, intid, high);
        }
    }

    /// An interrupt is pulsed, and the hypervisor handles the kicks.
    pub fn pulse(&mut self, intid: u32) {
        self.vgic.pulse(intid, &mut port!(self, 0));
        for vcpu in 0..VCPUS {
            if self.cores[vcpu].kicked {
                self.refresh(vcpu);
            }
        }
    }

    /// An interrupt is pulsed on the core of `vcpu`.
    pub fn pulse_local(&mut self, vcpu: usize, intid: u32) {
        self.vgic.pulse_local(vcpu, intid, &mut port!(self, vcpu));
        self.resume(vcpu);
    }

    /// An exit for a kick or a maintenance interrupt, which must be deasserted afterwards.
    pub fn refresh(&mut self, vcpu: usize) {
        self.cores[vcpu].kicked = false;
        self.vgic.refresh_lrs(vcpu, &mut port!(self, vcpu));
        self.resume(vcpu);
        assert!(
            !self.cores[vcpu].maintenance_asserted(),
            "a maintenance interrupt without end"
        );
    }

    /// Performs the deferred refresh.
    fn run_deferred(&mut self, vcpu: usize) {
        while std::mem::take(&mut self.refresh_deferred) {
            self.vgic.refresh_lrs(vcpu, &mut port!(self, vcpu));
        }
    }

    /// Guest entry.
    pub fn resume(&mut self, vcpu: usize) {
        self.run_deferred(vcpu);
        self.next_yields.set(self.yield_pattern);
    }

    pub fn save_lrs(&mut self, vcpu: usize) {
        while !self.vgic.save_lrs(vcpu, &mut port!(self, vcpu)) {}
    }

    pub fn reset_vcpu(&mut self, vcpu: usize) {
        let mut next = Some(0);
        while let Some(part) = next {
            next = self.vgic.reset_vcpu(vcpu, part, &mut port!(self, vcpu));
        }
    }

    pub fn reset(&mut self) {
        let mut next = Some(0);
        while let Some(part) = next {
            next = self.vgic.reset(part, &mut port!(self, 0));
        }
    }

    pub fn source(&mut self, intid: u32, vcpu: usize) -> &mut Source {
        let core = if intid < 32 { vcpu } else { 0 };
        &mut self.cores[core].sources[intid as usize]
    }

    /// Pends a physical interrupt, which is taken at EL2 if it can be signalled.
    pub fn raise(&mut self, intid: u32, vcpu: usize) {
        self.source(intid, vcpu).pending = true;
        self.signal(intid, vcpu);
    }

    /// Takes the physical interrupt at EL2 if it can be signalled.
    pub fn signal(&mut self, intid: u32, vcpu: usize) {
        let source = self.source(intid, vcpu);
        if !source.enabled || !source.pending || source.active {
            return;
        }
        (source.pending, source.active) = (false, true);
        let vcpu = if intid < 32 { vcpu } else { source.route };
        self.taken.push((intid, if intid < 32 { vcpu } else { 0 }));
        let core = &mut self.cores[vcpu];
        let by_template = intid == TIMER && core.template != ListRegister::EMPTY;
        if by_template && core.lists[0].is_free() {
            core.lists[0] = core.template;
        } else {
            assert!(
                self.vgic
                    .inject_hardware(vcpu, intid, &mut port!(self, vcpu))
            );
            self.resume(vcpu);
        }
    }

    /// Takes all physical interrupts that can be signalled.
    pub fn signal_all(&mut self) {
        for intid in 40..48 {
            self.signal(intid, 0);
        }
        (0..VCPUS).for_each(|vcpu| self.signal(TIMER, vcpu));
    }

    /// The guest acknowledges: the INTID, if one is signalled.
    pub fn acknowledge(&mut self, vcpu: usize) -> Option<u32> {
        let core = &mut self.cores[vcpu];
        let index = core.highest()?;
        let list = &mut core.lists[index];
        *list = list.with_state(State::Active);
        core.running.push((list.intid(), list.priority()));
        Some(list.intid())
    }

    /// The guest ends what it acknowledged last (EOImode 0).
    pub fn end(&mut self, vcpu: usize) -> Option<u32> {
        let core = &mut self.cores[vcpu];
        let (intid, _) = core.running.pop()?;
        match core
            .lists
            .iter_mut()
            .find(|list| list.intid() == intid && list.is_active())
        {
            None => core.eoi_count += 1,
            Some(list) if list.is_pending() => *list = list.with_state(State::Pending),
            Some(list) => {
                *list = list.with_state(State::Invalid);
                if list.is_hardware() {
                    let intid = list.physical_intid();
                    self.source(intid, vcpu).active = false;
                    self.signal(intid, vcpu);
                }
            }
        }
        if self.cores[vcpu].maintenance_asserted() {
            self.refresh(vcpu);
        }
        Some(intid)
    }

    /// The guest acknowledges and ends all signalled interrupts: the INTIDs in order.
    pub fn drain(&mut self, vcpu: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        while let Some(intid) = self.acknowledge(vcpu) {
            taken.push(intid);
            if self.cores[vcpu].maintenance_asserted() {
                self.refresh(vcpu);
            }
            self.end(vcpu);
            assert!(taken.len() < 1000, "an interrupt storm: {taken:?}");
        }
        taken
    }
}

//! Random histories of the real virtual GIC, with a check at each guest entry.

use crate::*;
use mortise_vgic::{
    Access, Frame, Maintenance, Operation, PhysicalGic, SgiRequest, State, VirtualGic, Width,
};
use proptest::prelude::*;

pub const VCPUS: usize = 2;
pub const TIMER: u32 = 27;
/// Interrupts that are backed by hardware, and that are not.
pub const DEVICE: u32 = 40;
pub const PORT: u32 = 33;
pub const DOORBELL: u32 = 64;

/// A core's virtual CPU interface.
#[derive(Clone)]
pub struct Port {
    pub lists: Vec<ListRegister>,
    pub running: Vec<(u32, u8)>,
    pub ends: usize,
    template: ListRegister,
    maintenance: Maintenance,
    /// Interrupts that are active in the physical GIC.
    active: Vec<u32>,
}

/// A core during a call, and the vCPUs it kicked.
struct Here<'a> {
    port: &'a mut Port,
    me: usize,
    kicked: &'a mut [bool; VCPUS],
    templates: &'a mut [Option<ListRegister>; VCPUS],
    inactive: &'a mut Vec<u32>,
}

impl PhysicalGic for Here<'_> {
    fn list_registers(&self) -> usize {
        self.port.lists.len()
    }
    fn read_lr(&self, index: usize) -> ListRegister {
        self.port.lists[index]
    }
    fn write_lr(&mut self, index: usize, value: ListRegister) {
        self.port.lists[index] = value;
    }
    fn take_eoi_count(&mut self) -> usize {
        std::mem::take(&mut self.port.ends)
    }
    fn set_maintenance(&mut self, wanted: Maintenance) {
        self.port.maintenance = wanted;
    }
    fn kick(&mut self, vcpu: usize) {
        self.kicked[vcpu] = true;
    }
    fn enable(&mut self, _: u32, _: usize, _: bool) {}
    fn set_pending(&mut self, _: u32, _: usize, _: bool) {}
    fn set_route(&mut self, _: u32, _: usize) {}
    fn set_edge(&mut self, _: u32, _: usize, _: bool) {}
    fn deactivate(&mut self, intid: u32, _: usize) {
        self.inactive.push(intid);
    }
    fn set_template(&mut self, _: u32, vcpu: usize, value: ListRegister) {
        assert!(vcpu == self.me || value == ListRegister::EMPTY || vcpu < VCPUS);
        self.templates[vcpu] = Some(value);
    }
}

/// A VM of two vCPUs, and its guest.
pub struct Machine {
    pub vgic: VirtualGic<8, 8>,
    pub ports: Vec<Port>,
    pub owned: OwnedIrqs,
    kicked: [bool; VCPUS],
}

impl Machine {
    pub fn new(list_registers: usize) -> Self {
        let mut vgic = VirtualGic::new();
        vgic.set_vcpus(VCPUS).unwrap();
        [TIMER, DEVICE]
            .into_iter()
            .for_each(|intid| vgic.add_hardware(intid).unwrap());
        [PORT, DOORBELL]
            .into_iter()
            .for_each(|intid| vgic.add_virtual(intid).unwrap());
        let mut owned = OwnedIrqs::default();
        [TIMER, DEVICE]
            .into_iter()
            .for_each(|intid| owned.add_hardware(intid));
        owned.software = [
            0xffff,
            1 << (PORT % 32),
            1 << (DOORBELL % 32),
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        let port = Port {
            lists: vec![ListRegister::EMPTY; list_registers],
            running: Vec::new(),
            ends: 0,
            template: ListRegister::EMPTY,
            maintenance: Maintenance::NONE,
            active: Vec::new(),
        };
        let mut machine = Self {
            vgic,
            ports: vec![port; VCPUS],
            owned,
            kicked: [false; VCPUS],
        };
        machine.write(0, Frame::Distributor, 0, 0b11);
        // The doorbell is edge-triggered.
        machine.write(0, Frame::Distributor, 0xc10, 0b10);
        for row in 1..3 {
            machine.write(0, Frame::Distributor, 0x100 + 4 * row, u32::MAX.into());
        }
        for vcpu in 0..VCPUS {
            machine.write(vcpu, Frame::Sgi(vcpu), 0x100, u32::MAX.into());
        }
        machine
    }

    pub fn memory(&self, vcpu: usize) -> [View; ROWS] {
        std::array::from_fn(|row| self.vgic.view(vcpu, row))
    }

    /// The abstract state at an exit or guest entry.
    pub fn check(&self, vcpu: usize) -> Result<(), Violation> {
        let lists = &self.ports[vcpu].lists;
        check_list_registers(lists, &self.owned)?;
        check_consistency(lists, &self.memory(vcpu))
    }

    pub fn state(&self, vcpu: usize) -> IrqState {
        let port = &self.ports[vcpu];
        IrqState::of(&port.lists, &self.memory(vcpu), port.ends != 0)
    }

    /// An exit of `vcpu`, with the checks at exit and guest entry.
    fn exit(
        &mut self,
        vcpu: usize,
        writes: bool,
        act: impl FnOnce(&mut VirtualGic<8, 8>, &mut Here<'_>),
    ) {
        check_list_registers(&self.ports[vcpu].lists, &self.owned).unwrap();
        let was = self.state(vcpu);
        let (mut templates, mut inactive) = ([None; VCPUS], Vec::new());
        let mut here = Here {
            port: &mut self.ports[vcpu],
            me: vcpu,
            kicked: &mut self.kicked,
            templates: &mut templates,
            inactive: &mut inactive,
        };
        act(&mut self.vgic, &mut here);
        for (port, template) in self.ports.iter_mut().zip(templates) {
            port.template = template.unwrap_or(port.template);
            port.active.retain(|intid| !inactive.contains(intid));
        }
        self.check(vcpu).unwrap();
        if !writes {
            let memory = self.memory(vcpu);
            was.check_successor(&self.ports[vcpu].lists, &memory)
                .unwrap();
        }
    }

    pub fn write(&mut self, vcpu: usize, frame: Frame, offset: usize, value: u64) {
        let access = Access {
            frame,
            offset,
            width: Width::Word,
            operation: Operation::Write(value),
        };
        self.exit(vcpu, true, |vgic, here| {
            assert!(vgic.access(vcpu, access, here).is_some());
        });
    }

    pub fn refresh(&mut self, vcpu: usize) {
        self.kicked[vcpu] = false;
        self.exit(vcpu, false, |vgic, here| vgic.refresh_lrs(vcpu, here));
    }

    pub fn sgi(&mut self, vcpu: usize, intid: u32, targets: u32) {
        let request = SgiRequest::new(u64::from(intid) << 24 | u64::from(targets));
        self.exit(vcpu, false, |vgic, here| {
            let short = request.is_to(vcpu) && vgic.relist_sgi(vcpu, intid, here);
            if !short {
                vgic.send_sgi(vcpu, request, true, here);
            }
        });
    }

    /// The line of the serial port, which an access of the guest lowers.
    fn line(&mut self, vcpu: usize, high: bool) {
        self.exit(vcpu, !high, |vgic, here| {
            vgic.set_line(vcpu, PORT, high, here);
            if here.kicked[vcpu] {
                vgic.refresh_lrs(vcpu, here);
            }
        });
    }

    fn pulse(&mut self, vcpu: usize) {
        self.exit(vcpu, false, |vgic, here| {
            vgic.pulse(DOORBELL, here);
            vgic.refresh_lrs(vcpu, here);
        });
    }

    /// A physical interrupt is signalled if it is not active; the vectors inject that of the timer if they
    /// can.
    fn raise(&mut self, vcpu: usize, intid: u32) {
        if self.ports.iter().any(|port| port.active.contains(&intid)) {
            return;
        }
        let port = &mut self.ports[vcpu];
        port.active.push(intid);
        if intid == TIMER && port.template != ListRegister::EMPTY && port.lists[0].is_free() {
            port.lists[0] = port.template;
            return;
        }
        self.exit(vcpu, false, |vgic, here| {
            assert!(vgic.inject_hardware(vcpu, intid, here));
        });
    }

    /// The guest acknowledges the most urgent interrupt in its list registers.
    pub fn acknowledge(&mut self, vcpu: usize) -> Option<u32> {
        let port = &mut self.ports[vcpu];
        let running = port.running.last().map_or(0x100, |&(_, p)| u16::from(p));
        let pending = port
            .lists
            .iter_mut()
            .filter(|l| l.state() == State::Pending);
        let list = pending
            .filter(|list| u16::from(list.priority()) < running)
            .min_by_key(|list| (list.priority(), list.intid()))?;
        *list = list.with_state(State::Active);
        port.running.push((list.intid(), list.priority()));
        Some(list.intid())
    }

    /// The guest ends the interrupt that it acknowledged last.
    fn end(&mut self, vcpu: usize) {
        let port = &mut self.ports[vcpu];
        let Some((intid, _)) = port.running.pop() else {
            return;
        };
        let mut lists = port.lists.iter_mut();
        match lists.find(|list| list.intid() == intid && list.is_active()) {
            Some(list) => {
                let pending = list.is_pending();
                *list = list.with_state(if pending {
                    State::Pending
                } else {
                    State::Invalid
                });
                if list.is_hardware() {
                    self.ports
                        .iter_mut()
                        .for_each(|port| port.active.retain(|&i| i != intid));
                }
            }
            None => port.ends += 1,
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Sgi(usize, u32, u32),
    Line(usize, bool),
    Pulse(usize),
    Raise(usize, u32),
    Acknowledge(usize),
    End(usize),
    Refresh(usize),
    Bit(usize, u32, usize),
    Priority(usize, u32, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let vcpu = || 0..VCPUS;
    let any_of = || {
        prop_oneof![
            0u32..16,
            prop::sample::select(vec![TIMER, DEVICE, PORT, DOORBELL])
        ]
    };
    // Set and clear: enable, pending, active.
    let bank = prop::sample::select(vec![0x100, 0x180, 0x200, 0x280, 0x300, 0x380]);
    prop_oneof![
        6 => (vcpu(), 0u32..16, 1u32..4).prop_map(|(v, i, t)| Step::Sgi(v, i, t)),
        3 => (vcpu(), any::<bool>()).prop_map(|(v, high)| Step::Line(v, high)),
        3 => vcpu().prop_map(Step::Pulse),
        4 => (vcpu(), prop::sample::select(vec![TIMER, DEVICE])).prop_map(|(v, i)| Step::Raise(v, i)),
        8 => vcpu().prop_map(Step::Acknowledge),
        6 => vcpu().prop_map(Step::End),
        4 => vcpu().prop_map(Step::Refresh),
        2 => (vcpu(), any_of(), bank).prop_map(|(v, i, b)| Step::Bit(v, i, b)),
        1 => (vcpu(), any_of(), 0u64..16).prop_map(|(v, i, p)| Step::Priority(v, i, p << 4)),
    ]
}

impl Machine {
    fn step(&mut self, step: &Step) {
        let frame = |intid, vcpu| match intid {
            0..32 => Frame::Sgi(vcpu),
            _ => Frame::Distributor,
        };
        match *step {
            Step::Sgi(vcpu, intid, targets) => self.sgi(vcpu, intid, targets),
            Step::Line(vcpu, high) => self.line(vcpu, high),
            Step::Pulse(vcpu) => self.pulse(vcpu),
            Step::Raise(vcpu, intid) => self.raise(vcpu, intid),
            Step::Acknowledge(vcpu) => {
                self.acknowledge(vcpu);
            }
            Step::End(vcpu) => self.end(vcpu),
            Step::Refresh(vcpu) => self.refresh(vcpu),
            Step::Bit(vcpu, intid, bank) => {
                let offset = bank + 4 * (intid as usize / 32);
                self.write(vcpu, frame(intid, vcpu), offset, 1 << (intid % 32));
            }
            Step::Priority(vcpu, intid, priority) => {
                let offset = 0x400 + (intid as usize & !3);
                let value = priority << (8 * (intid % 4));
                self.write(vcpu, frame(intid, vcpu), offset, value);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_real_controller_keeps_all_rules(
        steps in prop::collection::vec(step(), 1..200),
        list_registers in 1usize..6,
    ) {
        let mut machine = Machine::new(list_registers);
        steps.iter().for_each(|step| machine.step(step));
        (0..VCPUS).for_each(|vcpu| machine.refresh(vcpu));
    }
}

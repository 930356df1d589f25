//! Accesses to the interrupt controller's frames: emulated, and mediated.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use mortise_gicd::{Access, Cpu, Frame, Operation, OwnedInterrupts, SgiRequest, Width};
use mortise_vgic::{ListRegister, Maintenance, PhysicalGic, VirtualGic};

/// The VM's own interrupts; an effect on any other is a breach.
const OWN: [u32; 2] = [27, 40];
const VCPUS: usize = 3;

#[derive(Default)]
struct Core([ListRegister; 4]);

impl Core {
    fn check(intid: u32, vcpu: usize) {
        assert!(
            OWN.contains(&intid) && vcpu < VCPUS,
            "an effect on what is not the VM's"
        );
    }
}

impl PhysicalGic for Core {
    fn list_registers(&self) -> usize {
        self.0.len()
    }
    fn read_lr(&self, index: usize) -> ListRegister {
        self.0[index]
    }
    fn write_lr(&mut self, index: usize, value: ListRegister) {
        self.0[index] = value;
    }
    fn take_eoi_count(&mut self) -> usize {
        0
    }
    fn set_maintenance(&mut self, _: Maintenance) {}
    fn kick(&mut self, vcpu: usize) {
        assert!(vcpu < VCPUS, "a kick of nobody");
    }
    fn enable(&mut self, intid: u32, vcpu: usize, _: bool) {
        Self::check(intid, vcpu);
    }
    fn set_pending(&mut self, intid: u32, vcpu: usize, _: bool) {
        Self::check(intid, vcpu);
    }
    fn set_route(&mut self, intid: u32, vcpu: usize) {
        Self::check(intid, vcpu);
    }
    fn set_edge(&mut self, intid: u32, vcpu: usize, _: bool) {
        Self::check(intid, vcpu);
    }
    fn deactivate(&mut self, intid: u32, vcpu: usize) {
        Self::check(intid, vcpu);
    }
}

target!(|steps: Vec<(u8, u32, u8, Option<u64>)>| {
    let mut emulated: VirtualGic<VCPUS, 8> = VirtualGic::new();
    emulated.set_vcpus(VCPUS).unwrap();
    emulated.add_virtual(33).unwrap();
    let mut mediated: OwnedInterrupts<VCPUS, 8> = OwnedInterrupts::new(0);
    mediated
        .set_cpus(&[1, 2, 3].map(|number| Cpu {
            number,
            affinity: number as u64,
        }))
        .unwrap();
    for intid in OWN {
        emulated.add_hardware(intid).unwrap();
        mediated.add(intid).unwrap();
    }
    let mut cores = [const { Core([ListRegister::EMPTY; 4]) }; VCPUS];
    for (kind, at, width, value) in steps {
        let vcpu = usize::from(kind) % VCPUS;
        let core = &mut cores[vcpu];
        let (frame, offset) = match kind >> 4 {
            0..4 => (Frame::Distributor, at as usize % 0x1_0000),
            4..14 => Frame::in_redistributors(at as usize % 0x10_0000),
            14 => {
                let request = SgiRequest::new(value.unwrap_or(0));
                emulated.send_sgi(vcpu, request, true, core);
                assert!(mediated.sgis(vcpu, request).count() <= VCPUS);
                continue;
            }
            _ => {
                emulated.set_line(0, at, value.is_some(), core);
                emulated.inject_hardware(vcpu, at, core);
                emulated.refresh_lrs(vcpu, core);
                continue;
            }
        };
        let operation = value.map_or(Operation::Read, Operation::Write);
        let access = Access {
            frame,
            offset,
            width: Width::from_sas(width.into()),
            operation,
        };
        emulated.access(vcpu, access, core);
        let _ = mediated.decide(access);
    }
});

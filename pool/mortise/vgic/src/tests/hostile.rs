//! Accesses of a hostile guest.

use super::machine::*;
use crate::*;
use mortise_gicd::FRAME_SIZE;
use proptest::prelude::*;

fn owned(effect: &Effect) -> bool {
    let (intid, vcpu) = effect.target();
    vcpu < VCPUS && (intid == TIMER || intid == OTHER_TIMER || (40..48).contains(&intid))
}

/// A well-behaved vCPU still works: its timer is delivered.
fn works(machine: &mut Machine) {
    machine.reset();
    (0..VCPUS).for_each(|vcpu| machine.reset_vcpu(vcpu));
    machine.cores[0].running.clear();
    machine.write(0, Frame::Distributor, 0, 0b11);
    machine.write(0, Frame::Sgi(0), 0x100, 1 << TIMER);
    machine.raise(TIMER, 0);
    assert_eq!(machine.drain(0), [TIMER]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn every_offset_in_every_width(junk in any::<[u64; 4]>()) {
        let mut machine = Machine::new(4);
        for offset in 0..2 * FRAME_SIZE {
            for sas in 0..4 {
                let value = junk[offset % 4].rotate_left(offset as u32);
                let vcpu = offset % VCPUS;
                for frame in [Frame::Distributor, Frame::Redistributor(1), Frame::Sgi(vcpu),
                              Frame::Sgi(2), Frame::Sgi(usize::MAX)] {
                    for operation in [Operation::Write(value), Operation::Read] {
                        let width = Width::from_sas(sas);
                        let read = machine.access(vcpu, Access { frame, offset, width, operation });
                        prop_assert!(read <= width.mask());
                    }
                }
            }
            prop_assert!(machine.effects.iter().all(owned), "{:?}", machine.effects);
            machine.effects.clear();
        }
        works(&mut machine);
    }
}

proptest! {
    #[test]
    fn registers_sgis_and_list_registers_at_random(
        steps in prop::collection::vec((0u8..8, 0usize..4, 0usize..0x1000, any::<u64>()), 1..400),
    ) {
        let mut machine = Machine::new(4);
        for (kind, vcpu, offset, value) in steps {
            let width = Width::from_sas(value >> 8);
            let operation = Operation::Write(value);
            let core = vcpu % VCPUS;
            match kind {
                0 => machine.sgi(vcpu, value),
                1 => { machine.acknowledge(core); }
                2 => { machine.end(core); }
                3 => machine.cores[core].eoi_count = (value & 31) as usize,
                4 => machine.raise(40 + (value % 8) as u32, core),
                5 => machine.raise(TIMER, core),
                6 => {
                    let frame = Frame::Sgi(value as usize % 4);
                    machine.access(vcpu, Access { frame, offset, width, operation });
                }
                _ => {
                    let frame = Frame::Distributor;
                    machine.access(vcpu, Access { frame, offset, width, operation });
                }
            }
        }
        prop_assert!(machine.effects.iter().all(owned), "{:?}", machine.effects);
        works(&mut machine);
    }
}

//! Fast paths of [`OwnedInterrupts::decide`] and [`OwnedInterrupts::sgis`], with the same results.

use super::OwnedInterrupts;
use crate::SgiRequest;

impl<const VCPUS: usize, const ROWS: usize> OwnedInterrupts<VCPUS, ROWS> {
    /// The interrupts of row `row` (32 shared interrupts, from 1) that the VM owns: the enable bits
    /// that it reads and changes.
    #[inline(always)]
    #[must_use]
    pub fn owned_word(&self, row: usize) -> u32 {
        self.shared_row(row.wrapping_sub(1))
    }

    /// The value to write to ICC_SGI1R_EL1 for an SGI that a guest sends from `vcpu` to itself only.
    #[inline(always)]
    #[must_use]
    pub fn sgi_to_self(&self, vcpu: usize, intid: u32) -> Option<u64> {
        let cpu = self.cpus.get(vcpu)?;
        (self.private >> intid & 1 != 0).then_some(SgiRequest::to_cpu(intid, cpu.affinity))
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::vm;
    use crate::{
        Access, Decision, Frame, Operation, PhysicalFrame, PhysicalRegister, SgiRequest, Width,
    };

    #[test]
    fn fast_paths_decide_the_same() {
        let gic = vm();
        let decide = |offset, operation| {
            gic.decide(Access {
                frame: Frame::Distributor,
                offset,
                width: Width::Word,
                operation,
            })
        };
        for row in 1..32 {
            let (offset, owned) = (0x100 + 4 * row, gic.owned_word(row));
            let value = match decide(offset, Operation::Read) {
                Decision::Value(0) => 0,
                Decision::Read { mask, ones: 0, .. } => mask,
                other => panic!("{other:?}"),
            };
            assert_eq!(value, u64::from(owned));
            for stored in [0, u64::from(owned), u64::from(u32::MAX)] {
                let expected = match stored & u64::from(owned) {
                    0 => Decision::Ignore,
                    value => Decision::Write {
                        at: PhysicalRegister {
                            frame: PhysicalFrame::Distributor,
                            offset,
                            width: Width::Word,
                        },
                        value,
                    },
                };
                assert_eq!(decide(offset, Operation::Write(stored)), expected);
            }
        }
        for (vcpu, intid) in (0..3).flat_map(|vcpu| (0..16).map(move |intid| (vcpu, intid))) {
            let request = SgiRequest::new(u64::from(intid) << 24 | 1 << vcpu);
            let general = gic.sgis(vcpu, request).next();
            assert_eq!(gic.sgi_to_self(vcpu, intid), general);
        }
    }
}

//! Software-generated interrupt requests.

/// A value written to ICC_SGI0R_EL1, ICC_SGI1R_EL1 or ICC_ASGI1R_EL1 (section 12.2.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SgiRequest(u64);

const IRM: u64 = 1 << 40;
const AFF1_AFF2_AFF3_RS: u64 = 0xff << 16 | 0xff << 32 | 0xff << 48 | 0xf << 44;

impl SgiRequest {
    /// The request that a guest makes by writing this value to one of the registers.
    #[inline]
    #[must_use]
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The register value that requests `intid` on the CPU of this affinity, which has the layout
    /// of GICD_IROUTER and MPIDR_EL1.
    #[inline]
    #[must_use]
    pub const fn to_cpu(intid: u32, affinity: u64) -> u64 {
        let (aff0, aff1) = (affinity & 0xff, affinity >> 8 & 0xff);
        let (aff2, aff3) = (affinity >> 16 & 0xff, affinity >> 32 & 0xff);
        let range = aff0 >> 4;
        aff3 << 48
            | range << 44
            | aff2 << 32
            | (intid as u64 & 0xf) << 24
            | aff1 << 16
            | 1 << (aff0 & 0xf)
    }

    /// The requested interrupt, 0 to 15.
    #[inline]
    #[must_use]
    pub const fn intid(self) -> u32 {
        (self.0 >> 24 & 0xf) as u32
    }

    /// Whether this vCPU is the only target.
    #[inline(always)]
    #[must_use]
    pub const fn is_to(self, vcpu: usize) -> bool {
        vcpu < 16 && self.0 & (IRM | AFF1_AFF2_AFF3_RS | 0xffff) == 1 << vcpu
    }

    /// The target vCPUs, one bit each, in a VM where vCPU `i` of `vcpus` has the affinity 0.0.0.i.
    /// With IRM set the targets are all vCPUs except the `sender`.
    #[inline]
    #[must_use]
    pub const fn targets(self, sender: usize, vcpus: usize) -> u32 {
        let all = if vcpus < 16 { (1 << vcpus) - 1 } else { 0xffff };
        if self.0 & IRM != 0 {
            let me = if sender < 16 { 1 << sender } else { 0 };
            all & !me
        } else if self.0 & AFF1_AFF2_AFF3_RS == 0 {
            self.0 as u32 & all
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_target_list_names_vcpus() {
        let request = SgiRequest::new(0x0300_0005);
        assert_eq!((request.intid(), request.targets(0, 3)), (3, 0b101));
        assert_eq!(request.targets(0, 2), 0b001);
    }

    #[test]
    fn all_but_the_sender() {
        let request = SgiRequest::new(1 << 40 | 1 << 24);
        assert_eq!((request.intid(), request.targets(1, 4)), (1, 0b1101));
    }

    #[test]
    fn another_cluster_has_no_target() {
        for bit in [16, 32, 44, 48] {
            assert_eq!(SgiRequest::new(1 << bit | 0xffff).targets(0, 8), 0);
        }
    }

    #[test]
    fn one_cpu_by_affinity() {
        assert_eq!(SgiRequest::to_cpu(9, 3), 9 << 24 | 1 << 3);
        let value = SgiRequest::to_cpu(1, 0x04_0003_0215);
        assert_eq!(
            value,
            4 << 48 | 1 << 44 | 3 << 32 | 1 << 24 | 2 << 16 | 1 << 5
        );
    }

    proptest! {
        #[test]
        fn targets_exist(value: u64, sender in 0usize..64, vcpus in 0usize..64) {
            let targets = SgiRequest::new(value).targets(sender, vcpus);
            prop_assert!(targets < 1 << vcpus.min(16));
        }

        #[test]
        fn one_target_is_one(value: u64, vcpu in 0usize..8, few in 0u64..0x2_0000) {
            for value in [value, few | value & 0xf << 24, few << 40 | 1 << vcpu] {
                let request = SgiRequest::new(value);
                // The targets of the list in a VM with as many vCPUs as it can name.
                let expected = value >> 40 & 1 == 0 && request.targets(vcpu, 16) == 1 << vcpu;
                prop_assert_eq!(request.is_to(vcpu), expected);
            }
        }

        #[test]
        fn requests_to_one_vcpu_come_back(intid in 0u32..16, vcpu in 0usize..8) {
            let request = SgiRequest::new(SgiRequest::to_cpu(intid, vcpu as u64));
            prop_assert_eq!((request.intid(), request.targets(0, 8)), (intid, 1 << vcpu));
        }
    }
}

//! SMMU translation context: a stream table entry, and for stage 1 its context descriptor (IHI
//! 0070, 5.2 and 5.4).

/// Stage that translates addresses of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Stage 1, for an SMMU without stage 2.
    One,
    /// Stage 2.
    Two,
}

/// Translation tables: 4 KiB granule, root at level 1, in cached, inner shareable memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Stage of the tables.
    pub stage: Stage,
    /// Physical address of the root.
    pub root: u64,
    /// Address bits that they translate.
    pub address_bits: u32,
}

/// A stream table entry (5.2).
pub(crate) type Entry = [u64; 8];

/// A context descriptor (5.4).
pub(crate) type Descriptor = [u64; 8];

const VALID: u64 = 1;
/// `STE.Config`, bits 3 to 1: abort without an event, stage 1, stage 2.
const TRANSLATE_1: u64 = 0b101 << 1;
const TRANSLATE_2: u64 = 0b110 << 1;
/// VMID and ASID, one of each.
const NUMBER: u64 = 1;
/// Attributes of table walks: write-back, inner shareable.
const WRITE_BACK: u64 = 0b01;
const INNER_SHAREABLE: u64 = 0b11;

/// First word of the entry of an aborted stream.
pub(crate) const ABORT: u64 = VALID;

impl Context {
    /// Stream table entry with this context; `descriptor` is the address of the context descriptor.
    pub(crate) fn entry(&self, descriptor: u64, output_size: u64) -> Entry {
        let mut entry = [0; 8];
        // SHCFG, bits 109 to 108: use the incoming attributes.
        let incoming = 0b01 << 44;
        match self.stage {
            Stage::One => {
                entry[0] = VALID | TRANSLATE_1 | descriptor;
                // S1CIR, S1COR and S1CSH: bits 71 to 66.
                let walk = WRITE_BACK << 2 | WRITE_BACK << 4 | INNER_SHAREABLE << 6;
                entry[1] = incoming | walk;
            }
            Stage::Two => {
                entry[0] = VALID | TRANSLATE_2;
                entry[1] = incoming;
                // S2VMID, S2T0SZ, S2SL0 (from level 1), S2IR0, S2OR0, S2SH0, S2TG (4 KiB), S2PS,
                // S2AA64, S2AFFD, S2R: bits 128 to 186.
                entry[2] = NUMBER
                    | self.size() << 32
                    | 0b01 << 38
                    | self.walk() << 32
                    | output_size << 48
                    | 1 << 51
                    | 1 << 53
                    | 1 << 58;
                entry[3] = self.root;
            }
        }
        entry
    }

    /// Context descriptor of stage 1: unmapped addresses abort, with an event.
    pub(crate) fn descriptor(&self, output_size: u64) -> Descriptor {
        let (no_upper_half, valid) = (1 << 30, 1 << 31);
        let (no_access_flag, aarch64) = (1 << 35, 1 << 41);
        let (record, abort, own) = (1 << 45, 1 << 46, 1 << 47);
        let first = self.size() | self.walk() | no_upper_half | valid | output_size << 32;
        let rest = no_access_flag | aarch64 | record | abort | own | NUMBER << 48;
        // MAIR of attribute 0: normal, write-back, allocating.
        [first | rest, self.root, 0, 0xff, 0, 0, 0, 0]
    }

    /// T0SZ.
    fn size(&self) -> u64 {
        u64::from(64 - self.address_bits)
    }

    /// IR0, OR0 and SH0, at bits 8 to 13 as both have them above their T0SZ.
    fn walk(&self) -> u64 {
        WRITE_BACK << 8 | WRITE_BACK << 10 | INNER_SHAREABLE << 12
    }
}

#[cfg(test)]
mod tests {
    use super::{ABORT, Context, Stage};

    fn bits(words: &[u64], low: usize, high: usize) -> u64 {
        let value = words[low / 64] >> (low % 64);
        value & (u64::MAX >> (63 - (high - low)))
    }

    const fn context(stage: Stage) -> Context {
        Context {
            stage,
            root: 0x4123_4000,
            address_bits: 39,
        }
    }

    /// Field numbers of IHI 0070, 5.2.
    #[test]
    fn an_entry_of_stage_1_leads_to_its_descriptor() {
        let entry = context(Stage::One).entry(0x4567_8040, 0b010);
        assert_eq!((bits(&entry, 0, 0), bits(&entry, 1, 3)), (1, 0b101));
        assert_eq!(bits(&entry, 4, 5), 0, "S1Fmt: one descriptor");
        assert_eq!(bits(&entry, 6, 51) << 6, 0x4567_8040, "S1ContextPtr");
        assert_eq!(bits(&entry, 59, 63), 0, "S1CDMax");
        assert_eq!(bits(&entry, 66, 71), 0b11_01_01, "S1CSH, S1COR, S1CIR");
        assert_eq!(bits(&entry, 91, 95), 0, "S1STALLD, EATS, STRW");
        assert_eq!(bits(&entry, 108, 109), 0b01, "SHCFG");
        assert_eq!(entry[2..], [0; 6]);
    }

    #[test]
    fn an_entry_of_stage_2_has_its_tables() {
        let entry = context(Stage::Two).entry(0x4567_8040, 0b010);
        assert_eq!((bits(&entry, 0, 0), bits(&entry, 1, 3)), (1, 0b110));
        assert_eq!(bits(&entry, 6, 51), 0, "no descriptor");
        assert_eq!(bits(&entry, 128, 143), 1, "S2VMID");
        assert_eq!(bits(&entry, 160, 165), 25, "S2T0SZ");
        assert_eq!(bits(&entry, 166, 167), 1, "S2SL0");
        assert_eq!(bits(&entry, 168, 173), 0b11_01_01, "S2SH0, S2OR0, S2IR0");
        assert_eq!(bits(&entry, 174, 175), 0, "S2TG");
        assert_eq!(bits(&entry, 176, 178), 0b010, "S2PS");
        assert_eq!(bits(&entry, 179, 186), 0b1000_0101, "S2R, S2AFFD, S2AA64");
        assert_eq!(bits(&entry, 196, 243) << 4, 0x4123_4000, "S2TTB");
    }

    /// Field numbers of IHI 0070, 5.4.
    #[test]
    fn a_descriptor_aborts_and_records() {
        let found = context(Stage::One).descriptor(0b010);
        assert_eq!(bits(&found, 0, 5), 25, "T0SZ");
        assert_eq!(bits(&found, 6, 7), 0, "TG0");
        assert_eq!(bits(&found, 8, 13), 0b11_01_01, "SH0, OR0, IR0");
        assert_eq!(bits(&found, 14, 15), 0, "EPD0, ENDI");
        assert_eq!(bits(&found, 30, 31), 0b11, "V, EPD1");
        assert_eq!(bits(&found, 32, 34), 0b010, "IPS");
        assert_eq!(
            bits(&found, 35, 40),
            1,
            "AFFD, and neither WXN, UWXN, TBI nor PAN"
        );
        assert_eq!(
            bits(&found, 41, 47),
            0b111_0001,
            "ASET, A, R, AA64; not S, HA, HD"
        );
        assert_eq!(bits(&found, 48, 63), 1, "ASID");
        assert_eq!(bits(&found, 64 + 4, 64 + 51) << 4, 0x4123_4000, "TTB0");
        assert_eq!(bits(&found, 192, 199), 0xff, "MAIR, attribute 0");
    }

    #[test]
    fn an_aborted_entry_has_no_tables() {
        assert_eq!((ABORT & 1, ABORT >> 1 & 0b111), (1, 0b000));
    }
}

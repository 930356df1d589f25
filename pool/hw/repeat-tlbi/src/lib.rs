//! Broadcast TLB invalidation done twice.
//!
//! After a broadcast TLBI and the DSB that completes it, no access of any core by the invalidated
//! translation is outstanding (Arm ARM, D8.17.5). On a Cortex-A55 (erratum 2441007) and a Cortex-A76
//! (1286807, 4193800) an access of another core may be, rarely; after a second TLBI and DSB none is.
//! Invalidations of a core's own translations are not concerned.
//!
//! [`broadcast_tlbi`] replaces the macro of that name of `hw/arch` in images that link this crate.
//! It takes one DSB and one TLBI more for each invalidation; an image without it has no byte of it.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

/// A broadcast TLBI as assembly text, which the caller's DSB ISH completes: here the second of two.
#[macro_export]
macro_rules! broadcast_tlbi {
    ($operation:literal) => {
        concat!("tlbi ", $operation, "\ndsb ish\ntlbi ", $operation)
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_invalidation_is_completed_and_done_once_more() {
        let lines: Vec<_> = broadcast_tlbi!("vaae1is, {page}").lines().collect();
        let tlbi = "tlbi vaae1is, {page}";
        assert_eq!(lines, [tlbi, "dsb ish", tlbi]);
    }
}

//! Workarounds of the firmware against speculation, passed on to guests.
//!
//! Some CPUs need EL3 to invalidate their branch predictor, or to disable speculation of loads past
//! stores (SMCCC, 7.5 to 7.7). Guests call Mortise for that, as SMC traps, and Mortise calls the
//! firmware on the same core:
//!
//! | function | reply to SMCCC_ARCH_FEATURES | call |
//! |---|---|---|
//! | SMCCC_ARCH_WORKAROUND_1: branch targets (CVE-2017-5715) | the firmware's | passed on |
//! | SMCCC_ARCH_WORKAROUND_3: branch history (CVE-2022-23960) | the firmware's | passed on |
//! | SMCCC_ARCH_WORKAROUND_2: loads past stores (CVE-2018-3639) | 1, not required, once Mortise has turned the mitigation on | nothing to do |
//!
//! The mitigation of the third stays on, as it is a state of the core, which VMs may share. Firmware
//! is only called for features if PSCI_FEATURES says that it has SMCCC_VERSION, and a version of 1.1
//! or later: all replies are NOT_SUPPORTED otherwise.
//!
//! A call is passed on once the firmware has announced the function to any guest, as callers ask for
//! it first: firmware without SMCCC may answer by an exception. A call takes as long as the firmware's
//! own, with interrupts masked; a guest's calls are charged to it as any hypercall is.
#![no_std]
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use hw_arch::firmware::{Call, Smc};
use smccc::arch::{
    self, SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_1, SMCCC_ARCH_WORKAROUND_2,
    SMCCC_ARCH_WORKAROUND_3, SMCCC_VERSION, Version,
};
use smccc::psci;

/// The function is not implemented.
const NOT_SUPPORTED: i32 = -1;
/// The workaround is implemented, and this core does not need it.
const NOT_REQUIRED: i32 = 1;
/// First version with SMCCC_ARCH_FEATURES.
const VERSION_1_1: Version = Version { major: 1, minor: 1 };
/// First version with PSCI_FEATURES.
const PSCI_1_0: psci::Version = psci::Version { major: 1, minor: 0 };

/// The status with which a call of a guest returns, made on its core. `None` if the call is neither
/// of a workaround nor asks for one.
#[must_use]
pub fn answer(function: u32, argument: u32) -> Option<i32> {
    static ANNOUNCED: AtomicU32 = AtomicU32::new(0);
    answer_by::<Smc>(&ANNOUNCED, function, argument)
}

/// Bits of the workarounds that the firmware has announced.
const FIRST: u32 = 1;
const THIRD: u32 = 2;

fn answer_by<C: Call>(announced: &AtomicU32, function: u32, argument: u32) -> Option<i32> {
    let announce = |bit| {
        let reply = feature::<C>(argument);
        if reply >= 0 {
            announced.fetch_or(bit, Relaxed);
        }
        reply
    };
    let pass_on = |bit, call: fn() -> Result<(), arch::Error>| {
        let is_announced = announced.load(Relaxed) & bit != 0;
        if is_announced && call().is_ok() {
            0
        } else {
            NOT_SUPPORTED
        }
    };
    match (function, argument) {
        (SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_1) => Some(announce(FIRST)),
        (SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_3) => Some(announce(THIRD)),
        (SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_2) => Some(keep_on::<C>()),
        (SMCCC_ARCH_WORKAROUND_1, _) => Some(pass_on(FIRST, arch::arch_workaround_1::<C>)),
        (SMCCC_ARCH_WORKAROUND_3, _) => Some(pass_on(THIRD, arch::arch_workaround_3::<C>)),
        (SMCCC_ARCH_WORKAROUND_2, _) => Some(0),
        _ => None,
    }
}

/// The reply of the firmware to SMCCC_ARCH_FEATURES of a function.
fn feature<C: Call>(function: u32) -> i32 {
    let has_features = psci::version::<C>().is_ok_and(|version| version >= PSCI_1_0)
        && psci::psci_features::<C>(SMCCC_VERSION).is_ok()
        && arch::version::<C>().is_ok_and(|version| version >= VERSION_1_1);
    match has_features.then(|| arch::features::<C>(function)) {
        Some(Ok(reply)) => reply as i32,
        _ => NOT_SUPPORTED,
    }
}

/// Turns the mitigation of SMCCC_ARCH_WORKAROUND_2 on for this core, if the firmware has it.
fn keep_on<C: Call>() -> i32 {
    match feature::<C>(SMCCC_ARCH_WORKAROUND_2) {
        0 if arch::arch_workaround_2::<C>(true).is_err() => NOT_SUPPORTED,
        0 => NOT_REQUIRED,
        reply => reply,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use smccc::psci::{PSCI_FEATURES, PSCI_VERSION};
    use std::{cell::RefCell, vec::Vec};

    /// Replies by function and argument.
    type Replies = Vec<(u32, u32, i32)>;
    /// Function and argument of each call but those of PSCI.
    type Calls = Vec<(u32, u32)>;

    std::thread_local! {
        static FIRMWARE: RefCell<(Replies, Calls)> = RefCell::default();
    }

    struct Firmware;

    impl Call for Firmware {
        fn call32(function: u32, [argument, ..]: [u32; 7]) -> [u32; 8] {
            FIRMWARE.with_borrow_mut(|(replies, calls)| {
                let known = |reply: &&(u32, u32, i32)| (reply.0, reply.1) == (function, argument);
                let reply = replies
                    .iter()
                    .find(known)
                    .map_or(NOT_SUPPORTED, |reply| reply.2);
                if ![PSCI_VERSION, PSCI_FEATURES].contains(&function) {
                    calls.push((function, argument));
                }
                [reply as u32; 8]
            })
        }
        fn call64(_: u32, _: [u64; 17]) -> [u64; 18] {
            unreachable!("these functions are of the 32-bit convention")
        }
    }

    const ALL: [u32; 3] = [
        SMCCC_ARCH_WORKAROUND_1,
        SMCCC_ARCH_WORKAROUND_2,
        SMCCC_ARCH_WORKAROUND_3,
    ];

    /// Firmware of PSCI 1.1 and SMCCC 1.1 with these replies besides.
    fn firmware(more: &[(u32, u32, i32)]) {
        let base = [
            (PSCI_VERSION, 0, 0x1_0001),
            (PSCI_FEATURES, SMCCC_VERSION, 0),
            (SMCCC_VERSION, 0, 0x1_0001),
        ];
        let replies = base.iter().chain(more).copied().collect();
        FIRMWARE.set((replies, Vec::new()));
    }

    fn asked(function: u32) -> Option<i32> {
        called(&AtomicU32::new(0), SMCCC_ARCH_FEATURES, function)
    }

    fn called(announced: &AtomicU32, function: u32, argument: u32) -> Option<i32> {
        answer_by::<Firmware>(announced, function, argument)
    }

    fn calls() -> Calls {
        FIRMWARE.with_borrow(|(_, calls)| calls.clone())
    }

    #[test]
    fn replies_of_the_firmware_are_passed_on() {
        for reply in [NOT_SUPPORTED, 0, NOT_REQUIRED] {
            for function in [SMCCC_ARCH_WORKAROUND_1, SMCCC_ARCH_WORKAROUND_3] {
                firmware(&[(SMCCC_ARCH_FEATURES, function, reply)]);
                assert_eq!(asked(function), Some(reply));
            }
        }
    }

    #[test]
    fn calls_are_passed_on_with_their_status() {
        for function in [SMCCC_ARCH_WORKAROUND_1, SMCCC_ARCH_WORKAROUND_3] {
            for status in [0, NOT_SUPPORTED] {
                let announced = AtomicU32::new(0);
                firmware(&[(SMCCC_ARCH_FEATURES, function, 0), (function, 0, status)]);
                assert_eq!(called(&announced, SMCCC_ARCH_FEATURES, function), Some(0));
                assert_eq!(called(&announced, function, 7), Some(status));
                assert_eq!(
                    calls().last(),
                    Some(&(function, 0)),
                    "without the guest's argument"
                );
            }
        }
    }

    #[test]
    fn a_call_that_the_firmware_has_not_announced_does_not_reach_it() {
        let [first, _, third] = ALL;
        let features = (SMCCC_ARCH_FEATURES, first, NOT_REQUIRED);
        firmware(&[features, (first, 0, 0), (third, 0, 0)]);
        let announced = AtomicU32::new(0);
        assert_eq!(called(&announced, first, 0), Some(NOT_SUPPORTED));
        assert!(calls().is_empty());
        assert_eq!(
            called(&announced, SMCCC_ARCH_FEATURES, first),
            Some(NOT_REQUIRED)
        );
        assert_eq!(called(&announced, first, 0), Some(0));
        let before = calls();
        assert_eq!(called(&announced, third, 0), Some(NOT_SUPPORTED));
        assert_eq!(calls(), before);
    }

    #[test]
    fn the_mitigation_of_loads_past_stores_is_turned_on_for_good() {
        firmware(&[
            (SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_2, 0),
            (SMCCC_ARCH_WORKAROUND_2, 1, 0),
        ]);
        assert_eq!(asked(SMCCC_ARCH_WORKAROUND_2), Some(NOT_REQUIRED));
        assert_eq!(calls().last(), Some(&(SMCCC_ARCH_WORKAROUND_2, 1)));
        let before = calls();
        assert_eq!(
            called(&AtomicU32::new(0), SMCCC_ARCH_WORKAROUND_2, 0),
            Some(0)
        );
        assert_eq!(calls(), before, "a guest turns nothing off");
    }

    #[test]
    fn a_mitigation_that_is_not_there_is_not_announced() {
        firmware(&[(SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_2, 0)]);
        assert_eq!(asked(SMCCC_ARCH_WORKAROUND_2), Some(NOT_SUPPORTED));
        firmware(&[(SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_2, NOT_REQUIRED)]);
        assert_eq!(asked(SMCCC_ARCH_WORKAROUND_2), Some(NOT_REQUIRED));
    }

    #[test]
    fn firmware_without_smccc_1_1_is_not_asked_for_features() {
        let olds: [&[(u32, u32, i32)]; 4] = [
            &[],
            &[(PSCI_VERSION, 0, 2), (PSCI_FEATURES, SMCCC_VERSION, 0)],
            &[(PSCI_VERSION, 0, 0x1_0001)],
            &[
                (PSCI_VERSION, 0, 0x1_0000),
                (PSCI_FEATURES, SMCCC_VERSION, 0),
                (SMCCC_VERSION, 0, 0x1_0000),
            ],
        ];
        for old in olds {
            FIRMWARE.set((old.to_vec(), Vec::new()));
            for function in ALL {
                assert_eq!(asked(function), Some(NOT_SUPPORTED));
            }
            assert!(
                calls()
                    .iter()
                    .all(|(function, _)| *function == SMCCC_VERSION)
            );
        }
    }

    #[test]
    fn other_calls_are_left_to_mortise() {
        firmware(&[]);
        assert_eq!(asked(SMCCC_VERSION), None);
        assert_eq!(asked(SMCCC_ARCH_FEATURES), None);
        assert_eq!(asked(0x8000_0002), None);
        assert_eq!(called(&AtomicU32::new(0), SMCCC_VERSION, 0), None);
        assert_eq!(called(&AtomicU32::new(0), 0x8000_0002, 0), None);
        assert!(calls().is_empty());
    }

    #[test]
    fn on_the_host_there_is_no_firmware() {
        assert_eq!(
            answer(SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_1),
            Some(NOT_SUPPORTED)
        );
    }
}

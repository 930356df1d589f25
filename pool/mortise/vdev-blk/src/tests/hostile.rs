//! Tests of the virtual disk with untrusted drivers.

use super::*;
use proptest::prelude::*;

#[test]
fn features_are_agreed_on_or_not() {
    for (low, high) in [(0, 0), (u32::MAX, 1), (0, 3)] {
        let mut driver = Driver::start(false);
        driver.set(offset::STATUS, 0);
        for (select, half) in [(0, low), (1, high), (2, u32::MAX)] {
            driver.set(offset::WANTED_SELECT, select);
            driver.set(offset::WANTED, half);
        }
        driver.set(offset::STATUS, 3 | status::FEATURES_OK);
        assert_eq!(driver.get(offset::STATUS), 3, "{low:#x} {high:#x}");
    }
}

#[test]
fn an_invalid_queue_is_not_ready() {
    for (register, value) in [
        (offset::QUEUE_SIZE, 0),
        (offset::QUEUE_SIZE, 6),
        (offset::QUEUE_SIZE, 256),
        (offset::QUEUE_SIZE, 1 << 16 | 8),
        (offset::PARTS[0], 8),
        (offset::PARTS[1], 1),
        (offset::PARTS[2], 2),
    ] {
        let mut driver = Driver::start(false);
        driver.set(register, value);
        assert_eq!(driver.get(offset::QUEUE_READY), 1, "it is as it was");
        assert_eq!(driver.request(0, 0, &[16], &[512, 1]).0, 0);
        driver.set(offset::QUEUE_READY, 0);
        driver.set(register, value);
        driver.set(offset::QUEUE_READY, 1);
        assert_eq!(
            driver.get(offset::QUEUE_READY),
            0,
            "{register:#x} {value:#x}"
        );
        driver.set(offset::NOTIFY, 0);
        assert_eq!(driver.run(), 0);
    }
}

#[test]
fn driver_errors_need_a_reset() {
    let whole = (DATA, 16);
    let outside: [(u64, u32); 4] = [
        (MEMORY as u64, 512),
        (MEMORY as u64 - 1, 512),
        (u64::MAX - 100, 512),
        (0x4020_0000, u32::MAX),
    ];
    let mut driver = Driver::start(false);
    let before = driver.world.disk.clone();
    driver.world.put(DATA, &[0; 16]);
    for buffer in outside {
        driver.world.describe(0, whole, 1, 1);
        // The length lies within the disk, so that the buffer is accessed.
        driver
            .world
            .describe(1, (buffer.0, buffer.1.min(512)), 3, 2);
        driver.world.describe(2, (DATA + 1024, 1), 2, 0);
        driver.breaks();
        driver.world.describe(0, buffer, 0, 0);
        driver.breaks();
    }
    // A loop; no status; no header; a readable buffer after a writable one.
    driver.world.describe(0, whole, 1, 0);
    driver.breaks();
    driver.world.describe(0, whole, 0, 0);
    driver.breaks();
    driver.world.describe(0, (DATA, 1), 2, 0);
    driver.breaks();
    driver.world.describe(0, whole, 1, 1);
    driver.world.describe(1, (DATA + 1024, 512), 3, 2);
    driver.world.describe(2, (DATA, 16), 0, 0);
    driver.breaks();
    driver.world.describe(0, whole, 1, 1);
    driver.world.describe(1, (DATA + 1024, 0), 2, 0);
    driver.breaks();
    assert_eq!(driver.world.disk, before);
}

/// A buffer larger than the disk is skipped at once, at any address.
#[test]
fn four_gibibytes_are_one_step() {
    let mut driver = Driver::start(false);
    driver.world.put(DATA, &[0; 16]);
    driver.world.describe(0, (DATA, 16), 1, 1);
    driver.world.describe(1, (DATA, u32::MAX), 3, 2);
    driver.world.describe(2, (DATA + 16, 1), 2, 0);
    driver.world.put(DATA + 16, &[0xff]);
    driver.offer();
    assert_eq!(driver.run(), 1);
    assert_eq!(driver.world.memory[DATA as usize + 16], 1, "it failed");
}

#[test]
fn a_reset_ends_a_request_in_progress() {
    for (register, value) in [(offset::STATUS, 0), (offset::QUEUE_READY, 0)] {
        for steps in 1..12 {
            let mut driver = Driver::start(false);
            driver.world.put(DATA, &[0; 16]);
            driver.world.describe(0, (DATA, 16), 1, 1);
            driver.world.describe(1, (DATA + 16, 512), 3, 2);
            driver.world.describe(2, (DATA + 528, 1), 2, 0);
            driver.world.put(DATA + 528, &[0xff]);
            driver.offer();
            for _ in 0..steps {
                assert_ne!(driver.block.step(&mut driver.world), Step::Idle);
            }
            driver.set(register, value);
            assert_eq!(driver.run(), 0, "{steps}");
            assert_eq!(driver.world.memory[DATA as usize + 528], 0xff);
            driver.configure_queue();
            assert_eq!(driver.request(0, 0, &[16], &[512, 1]), (0, 513));
        }
    }
}

#[test]
fn concurrent_changes_do_not_affect_what_was_read() {
    let mut driver = Driver::start(false);
    driver.world.put(DATA, &[0; 16]);
    driver.world.describe(0, (DATA, 16), 1, 1);
    driver.world.describe(1, (DATA + 16, 512), 3, 2);
    driver.world.describe(2, (DATA + 528, 1), 2, 0);
    driver.offer();
    // Taken, descriptor, header, descriptor, and a piece of the data.
    for _ in 0..5 {
        assert_eq!(driver.block.step(&mut driver.world), Step::More);
    }
    driver
        .world
        .describe(1, (u64::MAX, u32::MAX), 0xffff, 0xffff);
    driver.world.put(DATA, &[0xff; 16]);
    assert_eq!(driver.run(), 1);
    assert_eq!(
        driver.world.memory[DATA as usize + 16..][..512],
        driver.world.disk[..512]
    );
}

proptest! {
    /// Random accesses of a driver to registers and memory between any two steps: the device stays
    /// valid, and works after a reset.
    #[test]
    fn a_driver_harms_only_itself(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..8], 0x300),
        actions in prop::collection::vec(
            (0u8..5, prop_oneof![0usize..0x120, Just(offset::NOTIFY)], any::<u32>(), any::<u8>()), 1..200,
        ),
    ) {
        let mut driver = Driver::start(true);
        let before = driver.world.disk.clone();
        driver.world.put(0, &bytes);
        for (action, at, value, width) in actions {
            match action {
                0 => driver.block.write(at, [1, 2, 4, 8][usize::from(width % 4)], value.into()),
                1 => { let _ = driver.block.read(at, width); }
                2 => driver.world.put(u64::from(value % 0x300), &[width]),
                _ => {
                    driver.set(offset::NOTIFY, 0);
                    driver.block.step(&mut driver.world);
                }
            }
        }
        prop_assert_eq!(&driver.world.disk, &before);
        driver.configure_queue();
        prop_assert_eq!(driver.request(0, 0, &[16], &[512, 1]), (0, 513));
    }
}

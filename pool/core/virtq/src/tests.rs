//! Tests of [`Queue`] with correct and with hostile drivers.

use super::*;
use proptest::prelude::*;

const SIZE: u16 = 8;
const AVAILABLE: u64 = 0x100;
const USED: u64 = 0x200;

/// The driver's memory.
struct Ram([u8; 0x300]);

impl Ram {
    fn new() -> Self {
        Self([0; 0x300])
    }

    fn describe(&mut self, number: u64, address: u64, length: u32, flags: u16, next: u16) {
        self.put(16 * number, &address.to_le_bytes());
        self.put(16 * number + 8, &length.to_le_bytes());
        self.put(16 * number + 12, &flags.to_le_bytes());
        self.put(16 * number + 14, &next.to_le_bytes());
    }

    /// Makes chains with these heads available.
    fn offer(&mut self, from: u16, heads: &[u16]) {
        for (offset, head) in (0..).zip(heads) {
            let place = u64::from(from.wrapping_add(offset) % SIZE);
            self.put(AVAILABLE + 4 + 2 * place, &head.to_le_bytes());
        }
        let index = from.wrapping_add(heads.len() as u16);
        self.put(AVAILABLE + 2, &index.to_le_bytes());
    }

    fn put(&mut self, at: u64, bytes: &[u8]) {
        self.write(at, bytes).unwrap();
    }
}

impl Memory for Ram {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        self.0.read(at, bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        self.0.write(at, bytes)
    }
}

#[test]
fn memory_from_address_zero_on_refuses_what_lies_beyond_it() {
    let mut memory = [1, 2, 3, 4];
    assert_eq!(memory.write(2, &[7, 8]), Ok(()));
    let mut bytes = [0; 2];
    assert_eq!(memory.read(2, &mut bytes), Ok(()));
    assert_eq!(bytes, [7, 8]);
    for at in [3, 4, u64::MAX - 1, u64::MAX] {
        assert_eq!(memory.write(at, &[0; 2]), Err(Outside));
        assert_eq!(memory.read(at, &mut bytes), Err(Outside));
    }
    assert_eq!((memory, bytes), ([1, 2, 7, 8], [7, 8]));
}

#[test]
fn words_are_little_endian_and_touch_only_their_own_bytes() {
    let mut memory = [0xee; 20];
    assert_eq!(memory.write8(1, 0x12), Ok(()));
    assert_eq!(memory.write16(2, 0x3456), Ok(()));
    assert_eq!(memory.write32s(8, [0x0102_0304, 0xf5f6_f7f8]), Ok(()));
    assert_eq!(
        memory[..8],
        [0xee, 0x12, 0x56, 0x34, 0xee, 0xee, 0xee, 0xee]
    );
    assert_eq!(memory[8..16], [4, 3, 2, 1, 0xf8, 0xf7, 0xf6, 0xf5]);
    assert_eq!(memory[16..], [0xee; 4]);
    assert_eq!(memory.read16(2), Ok(0x3456));
    let words = [0xeeee_eeee_3456_12ee, 0xf5f6_f7f8_0102_0304];
    assert_eq!(memory.read64s(0), Ok(words));
    assert_eq!(memory.write8(20, 0), Err(Outside));
    assert_eq!(memory.write16(19, 0), Err(Outside));
    assert_eq!(memory.write32s(13, [0; 2]), Err(Outside));
    assert_eq!(memory.read16(19), Err(Outside));
    assert_eq!(memory.read64s(5), Err(Outside));
}

/// Returns a chain and publishes it.
fn give(queue: &mut Queue, ram: &mut Ram, chain: Chain, written: u32) -> Result<bool, Violation> {
    queue.put_used(ram, chain, written)?;
    queue.publish(ram)?;
    queue.needs_interrupt(ram)
}

/// Takes the next available chain.
fn take(queue: &mut Queue, ram: &Ram) -> Result<Option<Chain>, Violation> {
    if !queue.has_more() {
        queue.poll(ram)?;
    }
    queue.take(ram)
}

fn queue() -> Queue {
    Queue::new(SIZE, 0, AVAILABLE, USED).unwrap()
}

#[test]
fn a_chain_comes_in_its_order_and_goes_back() {
    let (mut ram, mut queue) = (Ram::new(), queue());
    ram.describe(3, 0x1000, 16, flag::NEXT, 5);
    ram.describe(5, 0x2000, 512, flag::NEXT | flag::WRITE, 0);
    ram.describe(0, 0x3000, 1, flag::WRITE, 77);
    ram.offer(0, &[3]);
    let mut chain = take(&mut queue, &ram).unwrap().unwrap();
    let mut next = || chain.next(&queue, &ram).unwrap();
    let seen = [next(), next(), next()].map(Option::unwrap);
    assert_eq!(seen.map(|it| it.address), [0x1000, 0x2000, 0x3000]);
    assert_eq!(seen.map(|it| it.writable), [false, true, true]);
    assert_eq!(seen.map(|it| it.last), [false, false, true]);
    assert_eq!(next(), None);
    assert_eq!(take(&mut queue, &ram), Ok(None));
    assert_eq!(give(&mut queue, &mut ram, chain, 513), Ok(true));
    assert_eq!(ram.0[0x202..0x20c], [1, 0, 3, 0, 0, 0, 1, 2, 0, 0]);
}

#[test]
fn a_driver_that_does_not_want_to_be_told_is_not() {
    let (mut ram, mut queue) = (Ram::new(), queue());
    ram.put(AVAILABLE, &[1, 0]);
    ram.offer(0, &[0]);
    let chain = take(&mut queue, &ram).unwrap().unwrap();
    assert_eq!(give(&mut queue, &mut ram, chain, 0), Ok(false));
}

#[test]
fn indices_go_round() {
    let (mut ram, mut queue) = (Ram::new(), queue());
    for index in 0..=u16::MAX {
        ram.offer(index, &[index % SIZE]);
        let chain = take(&mut queue, &ram).unwrap().unwrap();
        assert_eq!(chain.head, index % SIZE);
        give(&mut queue, &mut ram, chain, 0).unwrap();
        assert_eq!(take(&mut queue, &ram), Ok(None));
    }
    assert_eq!((queue.taken, queue.given), (0, 0));
}

#[test]
fn returned_chains_fill_the_used_ring_in_order_and_round() {
    let (mut ram, mut queue) = (Ram::new(), queue());
    let mut ring = [(0, 0); SIZE as usize];
    for index in 0..3 * SIZE {
        let head = (5 * index) % SIZE;
        ram.offer(index, &[head]);
        let chain = take(&mut queue, &ram).unwrap().unwrap();
        assert_eq!(
            give(&mut queue, &mut ram, chain, 100 + u32::from(index)),
            Ok(true)
        );
        ring[usize::from(index % SIZE)] = (u32::from(head), 100 + u32::from(index));
        let used = ram.0.as_slice().split_at(USED as usize).1;
        assert_eq!(used[..4], [0, 0, index as u8 + 1, 0]);
        let elements = used[4..].as_chunks::<8>().0.iter().map(|element| {
            let [head, written] = [0, 4].map(|at| &element[at..at + 4]);
            [head, written].map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        });
        let elements: Vec<_> = elements.map(|[head, written]| (head, written)).collect();
        assert_eq!(elements[..SIZE.into()], ring);
        let beyond = &elements[SIZE.into()..];
        assert!(beyond.iter().all(|element| *element == (0, 0)));
    }
}

#[test]
fn what_no_driver_may_do_breaks_the_queue() {
    let walk = |ram: &Ram| -> Result<(), Violation> {
        let mut queue = queue();
        let mut chain = take(&mut queue, ram)?.unwrap();
        while chain.next(&queue, ram)?.is_some() {}
        Ok(())
    };
    let offered = |change: &dyn Fn(&mut Ram)| {
        let mut ram = Ram::new();
        ram.offer(0, &[0]);
        change(&mut ram);
        walk(&ram)
    };
    let index = |index: u16| move |ram: &mut Ram| ram.put(AVAILABLE + 2, &index.to_le_bytes());
    assert_eq!(offered(&index(SIZE)), Ok(()));
    assert_eq!(offered(&index(SIZE + 1)), Err(Violation::TooMany));
    assert_eq!(offered(&index(u16::MAX)), Err(Violation::TooMany));
    assert_eq!(
        offered(&|ram| ram.offer(0, &[SIZE])),
        Err(Violation::Number)
    );
    let described = |flags, next| offered(&|ram| ram.describe(0, 0, 1, flags, next));
    assert_eq!(described(flag::NEXT, 0), Err(Violation::Loop));
    assert_eq!(described(flag::NEXT, SIZE), Err(Violation::Number));
    assert_eq!(described(4, 0), Err(Violation::Kind), "indirect");
    let back = |ram: &mut Ram| {
        ram.describe(0, 0, 1, flag::NEXT | flag::WRITE, 1);
        ram.describe(1, 0, 1, 0, 0);
    };
    assert_eq!(offered(&back), Err(Violation::Shape));
}

#[test]
fn parts_that_are_not_the_driver_s_are_noticed() {
    for (available, used) in [
        (0x2f0, USED),
        (u64::MAX - 1, USED),
        (AVAILABLE, u64::MAX - 3),
    ] {
        let mut ram = Ram::new();
        ram.offer(0, &[0]);
        ram.0[0x2f2] = 8;
        let mut queue = Queue::new(SIZE, 0, available, used).unwrap();
        let mut broken = Ok(());
        for _ in 0..SIZE {
            broken = match take(&mut queue, &ram) {
                Ok(Some(chain)) => give(&mut queue, &mut ram, chain, 0).map(|_| ()),
                other => other.map(|_| ()),
            };
            if broken.is_err() {
                break;
            }
        }
        assert_eq!(broken, Err(Violation::Outside), "{available:#x} {used:#x}");
    }
    let mut queue = Queue::new(SIZE, !15, AVAILABLE, USED).unwrap();
    let mut ram = Ram::new();
    ram.offer(0, &[1]);
    let mut chain = take(&mut queue, &ram).unwrap().unwrap();
    assert_eq!(chain.next(&queue, &ram), Err(Violation::Outside));
}

#[test]
fn sizes_and_addresses_are_as_they_must_be() {
    for (size, descriptors, available, used) in [
        (0, 0, 0, 0),
        (3, 0, 0, 0),
        (8, 8, 0, 0),
        (8, 0, 1, 0),
        (8, 0, 0, 2),
    ] {
        assert_eq!(Queue::new(size, descriptors, available, used), None);
    }
}

#[test]
fn a_buffer_is_used_up_byte_by_byte() {
    let mut buffer = Buffer {
        address: u64::MAX - 4,
        length: 8,
        writable: false,
        last: true,
    };
    assert_eq!(buffer.skip(9), Err(Violation::Shape));
    let mut buffer = Buffer {
        length: 8,
        ..buffer
    };
    assert_eq!(buffer.skip(4), Ok(()));
    assert_eq!((buffer.address, buffer.length), (u64::MAX, 4));
    assert_eq!(buffer.skip(4), Err(Violation::Outside));
}

proptest! {
    /// With arbitrary memory, a chain ends after at most as many steps as there are descriptors, and only
    /// the used ring is written.
    #[test]
    fn any_rings_are_walked_in_bounded_steps(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..8], 0x300),
        starts in prop::array::uniform3(0u64..0x30),
        waiting in 0u16..10,
    ) {
        let mut ram = Ram(bytes.try_into().unwrap());
        let [descriptors, available, used] = starts.map(|start| start * 16);
        let mut queue = Queue::new(SIZE, descriptors, available, used).unwrap();
        let _ = ram.write(available + 2, &waiting.to_le_bytes());
        for _ in 0..waiting {
            let Ok(Some(mut chain)) = take(&mut queue, &ram) else {
                break;
            };
            let mut buffers = 0;
            while let Ok(Some(buffer)) = chain.next(&queue, &ram) {
                buffers += 1;
                prop_assert_eq!(buffer.last, chain.next.is_none());
            }
            prop_assert!(buffers <= SIZE);
            let before = ram.0;
            let _ = give(&mut queue, &mut ram, chain, 7);
            let ring = used as usize..used as usize + 4 + 8 * usize::from(SIZE);
            let changed = before.iter().zip(&ram.0).enumerate();
            prop_assert!(changed.filter(|(_, (old, new))| old != new).all(|(at, _)| ring.contains(&at)));
        }
    }
}

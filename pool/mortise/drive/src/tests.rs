use crate::range::{Part, Range, SharedDisk};
use hw_virtio_blk::{BUFFER, Request, SECTOR};
use mortise_vdev_blk::IoError;
use proptest::prelude::*;

const FIRST: u64 = 3;
const SECTORS: u64 = 20;
const BEHIND: u64 = 5;

/// A physical disk and a buffer.
struct Disk {
    content: Vec<u8>,
    buffer: Vec<u8>,
    /// The request in flight, and the number of polls until it completes.
    in_flight: Option<(Request, usize)>,
    over: bool,
    delay: usize,
    good: bool,
    flushes: usize,
    pieces: usize,
}

impl Disk {
    fn new() -> Self {
        let sectors = FIRST + SECTORS + BEHIND;
        Self {
            content: (0..sectors * SECTOR).map(|at| (at / 7) as u8).collect(),
            buffer: vec![0xee; BUFFER],
            in_flight: None,
            over: false,
            delay: 1,
            good: true,
            flushes: 0,
            pieces: 0,
        }
    }

    fn sectors(&self) -> &[u8] {
        &self.content[(FIRST * SECTOR) as usize..][..(SECTORS * SECTOR) as usize]
    }
}

impl SharedDisk for Disk {
    fn submit(&mut self, request: Request) {
        assert!(self.in_flight.is_none(), "one at a time");
        if let Request::Read { sector, count } | Request::Write { sector, count } = request {
            assert!(count > 0 && count * SECTOR <= BUFFER as u64);
            assert!(sector >= FIRST && sector + count <= FIRST + SECTORS);
        }
        self.pieces += 1;
        self.over = false;
        self.in_flight = Some((request, self.delay));
    }

    fn poll(&mut self) -> Option<bool> {
        if let Some((_, left @ 1..)) = &mut self.in_flight {
            *left -= 1;
            return None;
        }
        match self.in_flight.take() {
            Some((Request::Read { sector, count }, _)) => {
                let (at, size) = ((sector * SECTOR) as usize, (count * SECTOR) as usize);
                self.buffer[..size].copy_from_slice(&self.content[at..at + size]);
            }
            Some((Request::Write { sector, count }, _)) => {
                let (at, size) = ((sector * SECTOR) as usize, (count * SECTOR) as usize);
                if self.good {
                    self.content[at..at + size].copy_from_slice(&self.buffer[..size]);
                }
            }
            Some((Request::Flush, _)) => self.flushes += 1,
            None => assert!(self.over, "it has nothing"),
        }
        self.over = true;
        Some(self.good)
    }
}

/// The device of the range, which may abandon a request.
struct Owner {
    range: Range,
    disk: Disk,
    /// Bytes copied at once.
    pace: u32,
}

/// The request was abandoned.
const GAVE_UP: Result<(), IoError> = Ok(());

impl Owner {
    fn new() -> Self {
        Self {
            range: Range::new(FIRST, SECTORS),
            disk: Disk::new(),
            pace: u32::MAX,
        }
    }

    /// Reads into consecutive buffers of these lengths, unless it abandons the request after
    /// `calls` calls.
    fn read(&mut self, from: u64, lengths: &[u32], mut calls: usize) -> Result<Vec<u8>, IoError> {
        self.range.begin();
        let (mut at, mut bytes) = (from, Vec::new());
        for &length in lengths {
            let mut left = length;
            while left > 0 && calls > 0 {
                calls -= 1;
                let Some(Part { offset, size }) = self.range.load(&mut self.disk, at, left)? else {
                    continue;
                };
                assert!(size > 0 && size <= left);
                let done = size.min(self.pace);
                bytes.extend(&self.disk.buffer[offset as usize..][..done as usize]);
                at += u64::from(done);
                left -= done;
            }
        }
        Ok(bytes)
    }

    fn write(
        &mut self,
        to: u64,
        lengths: &[u32],
        value: u8,
        mut calls: usize,
    ) -> Result<(), IoError> {
        self.range.begin();
        let mut at = to;
        for &length in lengths {
            let mut left = length;
            while left > 0 {
                if calls == 0 {
                    return GAVE_UP;
                }
                calls -= 1;
                let Some(Part { offset, size }) = self.range.store(&mut self.disk, at, left)?
                else {
                    continue;
                };
                assert!(size > 0 && size <= left);
                let done = size.min(self.pace);
                self.disk.buffer[offset as usize..][..done as usize].fill(value);
                self.range.commit(done);
                at += u64::from(done);
                left -= done;
            }
        }
        self.settle(false, calls)
    }

    fn settle(&mut self, all: bool, mut calls: usize) -> Result<(), IoError> {
        while calls > 0 && !self.range.settle(&mut self.disk, all)? {
            calls -= 1;
        }
        Ok(())
    }
}

const ENOUGH: usize = 10_000;

#[test]
fn writes_change_the_range_only() {
    let mut owner = Owner::new();
    let before = owner.disk.content.clone();
    owner.write(512, &[512, 6000, 144], 0xa5, ENOUGH).unwrap();
    let end = 512 + 6656;
    assert!(
        owner.disk.sectors()[512..end]
            .iter()
            .all(|byte| *byte == 0xa5)
    );
    assert_eq!(
        owner.disk.sectors()[..512],
        before[(FIRST * SECTOR) as usize..][..512]
    );
    assert_eq!(
        owner.disk.content[..(FIRST * SECTOR) as usize],
        before[..(FIRST * SECTOR) as usize]
    );
    let behind = ((FIRST + SECTORS) * SECTOR) as usize;
    assert_eq!(owner.disk.content[behind..], before[behind..]);
    assert_eq!(owner.disk.pieces, 2, "whole buffers");
    let read = owner.read(0, &[100, 412, 8000], ENOUGH).unwrap();
    assert_eq!(read, owner.disk.sectors()[..8512]);
}

#[test]
fn the_last_sector_is_accessible_and_none_after_it() {
    let mut owner = Owner::new();
    let last = (SECTORS - 1) * SECTOR;
    owner.write(last, &[512], 1, ENOUGH).unwrap();
    assert_eq!(owner.read(last, &[512], ENOUGH).unwrap(), [1; 512]);
    // The device checks the size of the disk before; the range checks it again.
    assert_eq!(owner.read(last + 512, &[512], ENOUGH), Err(IoError::Failed));
    assert_eq!(owner.read(last, &[1024], ENOUGH), Err(IoError::Failed));
    assert_eq!(owner.read(u64::MAX, &[512], ENOUGH), Err(IoError::Failed));
    assert_eq!(owner.write(last, &[1024], 2, ENOUGH), Err(IoError::Failed));
    assert_eq!(owner.write(100, &[512], 2, ENOUGH), Err(IoError::Failed));
    assert_eq!(owner.read(last, &[512], ENOUGH).unwrap(), [1; 512]);
}

#[test]
fn a_failure_is_reported_and_the_next_request_works() {
    let mut owner = Owner::new();
    owner.disk.good = false;
    assert_eq!(owner.read(0, &[512], ENOUGH), Err(IoError::Failed));
    assert_eq!(owner.write(0, &[512], 1, ENOUGH), Err(IoError::Failed));
    assert_eq!(owner.write(0, &[8192], 1, ENOUGH), Err(IoError::Failed));
    owner.range.begin();
    assert_eq!(owner.settle(true, ENOUGH), Err(IoError::Failed));
    owner.disk.good = true;
    owner.write(0, &[512], 1, ENOUGH).unwrap();
    assert_eq!(owner.read(0, &[512], ENOUGH).unwrap(), [1; 512]);
}

#[test]
fn each_flush_reaches_the_disk() {
    let mut owner = Owner::new();
    for round in 1..4 {
        owner.range.begin();
        owner.settle(true, ENOUGH).unwrap();
        assert_eq!(owner.disk.flushes, round);
        owner.write(0, &[512], 1, ENOUGH).unwrap();
        assert_eq!(owner.disk.flushes, round);
    }
    // An abandoned flush does not complete the next one.
    owner.range.begin();
    owner.settle(true, 1).unwrap();
    owner.range.begin();
    owner.settle(true, ENOUGH).unwrap();
    assert_eq!(owner.disk.flushes, 5);
}

#[test]
fn an_abandoned_request_does_not_affect_others() {
    for calls in 0..8 {
        let mut owner = Owner::new();
        owner.disk.delay = 3;
        owner.write(0, &[512], 1, calls).unwrap();
        owner.write(512, &[512], 2, ENOUGH).unwrap();
        assert_eq!(
            owner.read(512, &[512], ENOUGH).unwrap(),
            [2; 512],
            "{calls}"
        );
        let first = owner.read(0, &[512], ENOUGH).unwrap();
        assert_eq!(first, owner.disk.sectors()[..512], "{calls}");
    }
}

#[derive(Clone, Debug)]
enum DriverRequest {
    Read(u64, Vec<u32>),
    Write(u64, Vec<u32>, u8),
    Flush,
}

fn request() -> impl Strategy<Value = DriverRequest> {
    let lengths = || {
        prop::collection::vec(prop_oneof![1u32..700, Just(512), Just(4096)], 1..5).prop_map(|all| {
            let mut all = all;
            let over = all.iter().sum::<u32>() % 512;
            all.push(512 - over);
            all
        })
    };
    prop_oneof![
        (0..SECTORS, lengths()).prop_map(|(sector, lengths)| DriverRequest::Read(sector, lengths)),
        (0..SECTORS, lengths(), any::<u8>())
            .prop_map(|(s, lengths, v)| DriverRequest::Write(s, lengths, v)),
        Just(DriverRequest::Flush),
    ]
}

proptest! {
    /// Random requests in random pieces, abandoned or not, on a disk of random latency: a read
    /// returns what was written, and nothing outside the range is changed.
    #[test]
    fn a_range_behaves_like_a_disk(
        requests in prop::collection::vec((request(), 0usize..4, prop_oneof![Just(ENOUGH), 0usize..12]), 1..20),
        pace in prop_oneof![Just(u32::MAX), 1u32..600],
    ) {
        let mut owner = Owner::new();
        owner.pace = pace;
        let mut model = owner.disk.sectors().to_vec();
        let outside = owner.disk.content.clone();
        for (request, delay, calls) in requests {
            owner.disk.delay = delay;
            let size = SECTORS * SECTOR;
            match request {
                DriverRequest::Flush => owner.range.begin(),
                DriverRequest::Read(sector, lengths) => {
                    let (from, all) = (sector * SECTOR, lengths.iter().map(|l| u64::from(*l)).sum::<u64>());
                    if from + all > size {
                        continue;
                    }
                    let read = owner.read(from, &lengths, calls).unwrap();
                    prop_assert_eq!(&read[..], &model[from as usize..][..read.len()]);
                    prop_assert!(calls < ENOUGH || read.len() as u64 == all);
                }
                DriverRequest::Write(sector, lengths, value) => {
                    let (to, all) = (sector * SECTOR, lengths.iter().map(|l| u64::from(*l)).sum::<u64>());
                    if to + all > size {
                        continue;
                    }
                    owner.write(to, &lengths, value, calls).unwrap();
                    if calls == ENOUGH {
                        model[to as usize..][..all as usize].fill(value);
                    } else {
                        // A part of the bytes may be stored, as on any disk that is reset.
                        owner.range.begin();
                        while owner.range.settle(&mut owner.disk, false) != Ok(true) {}
                        for (at, byte) in model.iter_mut().enumerate() {
                            let there = owner.disk.sectors()[at];
                            let asked = (to..to + all).contains(&(at as u64)) && there == value;
                            prop_assert!(there == *byte || asked);
                            *byte = there;
                        }
                    }
                }
            }
        }
        owner.range.begin();
        while owner.range.settle(&mut owner.disk, true) != Ok(true) {}
        prop_assert_eq!(owner.disk.sectors(), &model[..]);
        let (first, end) = ((FIRST * SECTOR) as usize, ((FIRST + SECTORS) * SECTOR) as usize);
        prop_assert_eq!(&owner.disk.content[..first], &outside[..first]);
        prop_assert_eq!(&owner.disk.content[end..], &outside[end..]);
    }
}

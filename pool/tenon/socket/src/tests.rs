//! Tests of sockets without a processor: bytes, messages, names, and what is in flight.

use crate::{Credentials, Kind, NameKind, Sending, Sockets};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Mutex;
use tenon_files::{FileReference, Files, Memory, Operations};
use tenon_frames::Frames;
use tenon_program::Errno;
use tenon_vfs::Tree;

const NONE: u32 = u32::MAX;

/// Sockets of one test at a time, which the functions of their objects find.
static SOCKETS: Mutex<Sockets> = Mutex::new(Sockets::new());
/// One test at a time.
static TURN: Mutex<()> = Mutex::new(());

static OPERATIONS: Operations = Operations {
    release: |files, _, frames| tidy(files, frames),
    close: |files, number, frames| {
        SOCKETS.lock().unwrap().close(number, (files, frames));
        tidy(files, frames);
    },
    ..Operations::NONE
};

fn tidy(files: &mut Files, frames: &mut Frames) {
    {
        let mut sockets = SOCKETS.lock().unwrap();
        sockets.sweep((files, frames), &OPERATIONS);
        if !sockets.begin_burial() {
            return;
        }
    }
    loop {
        let file = SOCKETS.lock().unwrap().bury((files, frames), &OPERATIONS);
        let Some(file) = file else { return };
        files.close(file, frames);
    }
}

struct Bench {
    frames: Frames,
    files: Files,
    total: usize,
}

impl Bench {
    fn new() -> Self {
        let mut frames = Frames::of_host(300);
        let files = Files::new(Tree::new(b"", &mut frames).unwrap());
        let total = frames.available();
        *SOCKETS.lock().unwrap() = Sockets::new();
        Self {
            frames,
            files,
            total,
        }
    }

    fn socket(&mut self, kind: Kind) -> (u32, FileReference) {
        let mut sockets = SOCKETS.lock().unwrap();
        let credentials = Credentials::default();
        let number = sockets.create(kind, credentials, &mut self.frames).unwrap();
        let opened = self
            .files
            .open_special(&OPERATIONS, number, 0, &mut self.frames);
        let (file, source) = opened.unwrap();
        sockets.set_description(number, source, Files::number(&file));
        (number, file)
    }

    fn pair(&mut self, kind: Kind) -> [(u32, FileReference); 2] {
        let pair = [self.socket(kind), self.socket(kind)];
        SOCKETS.lock().unwrap().pair(pair[0].0, pair[1].0);
        pair
    }

    fn send(
        &mut self,
        number: u32,
        bytes: &[u8],
        passed: &[&FileReference],
    ) -> Result<Option<usize>, Errno> {
        let mut bytes = bytes.to_vec();
        let mut memory = Memory::Kernel(&mut bytes);
        let length = match &memory {
            Memory::Kernel(bytes) => bytes.len(),
            _ => 0,
        };
        let mut list = NONE;
        for file in passed.iter().rev() {
            let file = self.files.share(file);
            let parts = (&mut self.files, &mut self.frames);
            SOCKETS
                .lock()
                .unwrap()
                .pass(&mut list, (file, 1), parts, &OPERATIONS)
                .unwrap();
        }
        let mut sending = Sending {
            memory: &mut memory,
            length,
            offset: 0,
            target: None,
            own: Credentials::default(),
            credentials: None,
            passed: list,
        };
        let parts = (&mut self.files, &mut self.frames);
        let sent = SOCKETS.lock().unwrap().send(number, &mut sending, parts);
        let left = sending.passed;
        SOCKETS.lock().unwrap().discard_passed(left);
        tidy(&mut self.files, &mut self.frames);
        sent
    }

    /// What is received, and how many descriptions came with it, which are closed.
    fn receive(&mut self, number: u32, most: usize) -> Result<Option<(Vec<u8>, usize)>, Errno> {
        let mut bytes = vec![0; most];
        let mut memory = Memory::Kernel(&mut bytes);
        let parts = (&mut self.files, &mut self.frames);
        let to = (&mut memory, 0, most);
        let received = SOCKETS
            .lock()
            .unwrap()
            .receive(number, to, false, parts, &OPERATIONS)?;
        let Some(mut received) = received else {
            return Ok(None);
        };
        let mut count = 0;
        SOCKETS
            .lock()
            .unwrap()
            .release_name(received.from, &mut self.frames);
        loop {
            let parts = (&mut self.files, &mut self.frames);
            let mut sockets = SOCKETS.lock().unwrap();
            let file = sockets.take_passed(&mut received.passed, parts, &OPERATIONS);
            drop(sockets);
            let Some(file) = file else { break };
            count += 1;
            self.files.close(file, &mut self.frames);
        }
        bytes.truncate(received.count);
        Ok(Some((bytes, count)))
    }

    fn close(&mut self, file: FileReference) {
        self.files.close(file, &mut self.frames);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send(usize, bool),
    Receive(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..9000usize, any::<bool>()).prop_map(|(length, passes)| Step::Send(length, passes)),
        (1..20000usize).prop_map(Step::Receive),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_stream_carries_bytes_in_order_and_descriptions_with_theirs(steps in steps()) {
        let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
        let mut bench = Bench::new();
        let [(one, first), (other, second)] = bench.pair(Kind::Stream);
        let (mut model, mut next): (VecDeque<(u8, usize)>, u8) = (VecDeque::new(), 0);
        for step in steps {
            match step {
                Step::Send(length, passes) => {
                    let bytes: Vec<u8> = (0..length).map(|i| next.wrapping_add(i as u8)).collect();
                    let passed: &[&FileReference] = if passes { &[&first, &first] } else { &[] };
                    if let Some(count) = bench.send(one, &bytes, passed).unwrap() {
                        for (index, byte) in bytes[..count].iter().enumerate() {
                            let with = if index == 0 && passes { 2 } else { 0 };
                            model.push_back((*byte, with));
                        }
                        next = next.wrapping_add(count as u8);
                    } else {
                        prop_assert!(model.len() >= crate::BUFFER as usize);
                    }
                }
                Step::Receive(most) => match bench.receive(other, most).unwrap() {
                    None => prop_assert!(model.is_empty()),
                    Some((bytes, count)) => {
                        prop_assert!(!bytes.is_empty() && bytes.len() <= model.len());
                        let expected: Vec<(u8, usize)> = model.drain(..bytes.len()).collect();
                        let text: Vec<u8> = expected.iter().map(|(byte, _)| *byte).collect();
                        prop_assert_eq!(bytes, text);
                        prop_assert_eq!(count, expected.iter().map(|(_, with)| with).sum::<usize>());
                    }
                },
            }
        }
        bench.close(first);
        bench.close(second);
        prop_assert_eq!(bench.frames.available(), bench.total);
    }
}

#[test]
fn messages_keep_their_bounds_and_senders() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let mut bench = Bench::new();
    let [(one, first), (other, second)] = bench.pair(Kind::Datagram);
    let parts = (&mut bench.files, &mut bench.frames);
    SOCKETS
        .lock()
        .unwrap()
        .bind(one, NameKind::Abstract, b"\0name", parts)
        .unwrap();
    assert_eq!(bench.send(one, b"first", &[]), Ok(Some(5)));
    assert_eq!(bench.send(one, b"", &[]), Ok(Some(0)));
    assert_eq!(bench.send(one, &[7; 300_000], &[]), Err(Errno::EMSGSIZE));
    assert_eq!(bench.receive(other, 3), Ok(Some((b"fir".to_vec(), 0))));
    assert_eq!(bench.receive(other, 3), Ok(Some((vec![], 0))));
    assert_eq!(bench.receive(other, 3), Ok(None));
    for _ in 0..11 {
        assert_eq!(bench.send(one, &[1; 1000], &[&second]), Ok(Some(1000)));
    }
    assert_eq!(bench.send(one, &[1; 1000], &[&second]), Ok(None));
    bench.close(first);
    assert_eq!(bench.send(other, b"x", &[]), Err(Errno::ECONNREFUSED));
    assert_eq!(bench.send(other, b"x", &[]), Err(Errno::ENOTCONN));
    bench.close(second);
    assert_eq!(bench.frames.available(), bench.total);
}

#[test]
fn sockets_that_only_their_messages_refer_to_are_closed() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let mut bench = Bench::new();
    // One in its own messages; a ring of three; a chain that a socket which is open still reaches.
    let [(one, first), (_, second)] = bench.pair(Kind::Stream);
    assert_eq!(bench.send(one, b"x", &[&first, &second]), Ok(Some(1)));
    bench.close(first);
    bench.close(second);
    assert_eq!(bench.frames.available(), bench.total);
    let pairs: Vec<_> = (0..3).map(|_| bench.pair(Kind::Stream)).collect();
    for index in 0..3 {
        let (from, file) = (pairs[index][0].0, &pairs[(index + 1) % 3][1].1);
        assert_eq!(bench.send(from, b"x", &[file]), Ok(Some(1)));
    }
    for [(_, one), (_, other)] in pairs {
        bench.close(one);
        bench.close(other);
    }
    assert_eq!(bench.frames.available(), bench.total);
    let [(one, first), (other, second)] = bench.pair(Kind::Stream);
    let [(inner, third), (_, fourth)] = bench.pair(Kind::Stream);
    assert_eq!(bench.send(inner, b"in", &[&fourth]), Ok(Some(2)));
    assert_eq!(bench.send(one, b"out", &[&fourth]), Ok(Some(3)));
    bench.close(third);
    bench.close(fourth);
    assert_eq!(bench.receive(other, 9), Ok(Some((b"out".to_vec(), 1))));
    bench.close(first);
    bench.close(second);
    assert_eq!(bench.frames.available(), bench.total);
}

#[test]
fn a_connection_waits_until_it_is_accepted() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let mut bench = Bench::new();
    let (listener, file) = bench.socket(Kind::Packet);
    let own = Credentials::default();
    let mut clients = Vec::new();
    {
        let mut sockets = SOCKETS.lock().unwrap();
        let parts = (&mut bench.files, &mut bench.frames);
        sockets
            .bind(listener, NameKind::Abstract, b"\0server", parts)
            .unwrap();
        sockets.listen(listener, 1, own, &mut bench.files).unwrap();
    }
    for expected in [Ok(Some(())), Ok(Some(())), Ok(None)] {
        let (client, file) = bench.socket(Kind::Packet);
        let parts = (&mut bench.files, &mut bench.frames);
        let found = SOCKETS
            .lock()
            .unwrap()
            .find(NameKind::Abstract, b"\0server");
        assert_eq!(found, Some(listener));
        let connected = SOCKETS
            .lock()
            .unwrap()
            .connect(client, listener, own, parts);
        assert_eq!(connected, expected);
        clients.push((client, file));
    }
    assert_eq!(bench.send(clients[0].0, b"early", &[]), Ok(Some(5)));
    let accepted = SOCKETS.lock().unwrap().accept(listener, &mut bench.files);
    let accepted = accepted.unwrap().unwrap();
    assert_eq!(bench.receive(accepted, 9), Ok(Some((b"early".to_vec(), 0))));
    bench.close(file);
    assert_eq!(bench.receive(clients[1].0, 9), Err(Errno::ECONNRESET));
    assert_eq!(bench.receive(clients[1].0, 9), Ok(Some((vec![], 0))));
    let parts = (&mut bench.files, &mut bench.frames);
    SOCKETS.lock().unwrap().close(accepted, parts);
    for (_, file) in clients {
        bench.close(file);
    }
    assert_eq!(bench.frames.available(), bench.total);
}

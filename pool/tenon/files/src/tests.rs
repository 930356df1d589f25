//! Tests of open files, pipes and sources.

use crate::{Descriptor, Descriptors, End, Files, Object, Ring, Side, ready};
use proptest::prelude::*;
use std::collections::VecDeque;
use tenon_frames::{Frames, PAGE};
use tenon_program::Errno;
use tenon_vfs::Tree;

#[derive(Clone, Debug)]
enum Step {
    Write(usize),
    Read(usize),
    CloseReader,
    CloseWriter,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..9000usize).prop_map(Step::Write),
        5 => (0..9000usize).prop_map(Step::Read),
        1 => Just(Step::CloseReader),
        1 => Just(Step::CloseWriter),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #[test]
    fn a_pipe_carries_bytes_in_order_until_an_end_is_closed(steps in steps()) {
        let mut machine = Frames::of_host(24);
        let frames = &mut machine;
        let mut files = Files::new(Tree::new(b"", frames).unwrap());
        let total = frames.available();
        let (reader, writer) = files.pipe(0, frames).unwrap();
        let Object::Pipe(index, End::Read, None) = files.get(&reader).unwrap().object else { panic!() };
        let (mut ends, mut model) = ((Some(reader), Some(writer)), VecDeque::new());
        let mut next = 0u8;
        for step in steps {
            match step {
                Step::Write(length) if ends.1.is_some() => {
                    let bytes: Vec<u8> = (0..length).map(|i| next.wrapping_add(i as u8)).collect();
                    let room = 16 * PAGE - model.len();
                    match files.write_pipe(index, &bytes, frames) {
                        Some(Err(error)) => {
                            prop_assert!(ends.0.is_none());
                            prop_assert_eq!(error, Errno::EPIPE);
                        }
                        None => prop_assert!(room == 0 && length > 0),
                        Some(Ok(count)) => {
                            prop_assert_eq!(count, length.min(room));
                            model.extend(&bytes[..count]);
                            next = next.wrapping_add(count as u8);
                        }
                    }
                }
                Step::Read(length) if ends.0.is_some() => {
                    let mut bytes = vec![0; length];
                    match files.read_pipe(index, &mut bytes, frames) {
                        None => prop_assert!(model.is_empty() && ends.1.is_some()),
                        Some(count) => {
                            prop_assert_eq!(count, length.min(model.len()));
                            let expected: Vec<u8> = model.drain(..count).collect();
                            prop_assert_eq!(&bytes[..count], &expected[..]);
                        }
                    }
                }
                Step::CloseReader => if let Some(end) = ends.0.take() {
                    files.close(end, frames);
                },
                Step::CloseWriter => if let Some(end) = ends.1.take() {
                    files.close(end, frames);
                },
                _ => {}
            }
            if ends.0.is_none() && ends.1.is_none() {
                break;
            }
        }
        for end in [ends.0, ends.1].into_iter().flatten() {
            let shared = files.share(&end);
            files.close(end, frames);
            prop_assert!(files.get(&shared).is_ok());
            files.close(shared, frames);
        }
        prop_assert_eq!(frames.available(), total);
    }
}

#[test]
fn open_files_and_pipes_end_where_memory_does() {
    let mut machine = Frames::of_host(40);
    let frames = &mut machine;
    let mut files = Files::new(Tree::new(b"", frames).unwrap());
    let total = frames.available();
    let file = files.tree.files.create_unnamed(0o600, frames).unwrap();
    let mut open = vec![files.open(Object::File(file), 0, frames).unwrap()];
    files.tree.files.let_go(file, frames);
    loop {
        match files.pipe(0, frames) {
            Ok((reader, writer)) => open.extend([reader, writer]),
            Err(error) => break assert_eq!(error, Errno::ENFILE),
        }
    }
    // More than there were room for in arrays.
    assert!(open.len() > 1000);
    let Object::Pipe(index, ..) = files.get(&open[1]).unwrap().object else {
        panic!();
    };
    let written = files.write_pipe(index, &[1; PAGE], frames);
    assert!(matches!(written, Some(Ok(_) | Err(Errno::ENOMEM))));
    for file in open {
        files.close(file, frames);
    }
    assert_eq!(frames.available(), total);
}

#[test]
fn descriptors_are_shared_by_a_copy() {
    let mut machine = Frames::of_host(24);
    let frames = &mut machine;
    let mut files = Files::new(Tree::new(b"", frames).unwrap());
    let mut own = Descriptors::new(600);
    let total = frames.available();
    let (reader, writer) = files.pipe(0, frames).unwrap();
    let descriptor = |file, close_on_exec| Descriptor {
        file,
        close_on_exec,
    };
    assert_eq!(own.insert(descriptor(reader, false), 0, frames), Ok(0));
    assert_eq!(own.insert(descriptor(writer, true), 580, frames), Ok(580));
    let mut copy = own.share(&mut files, frames).unwrap();
    own.close_all(true, &mut files, frames);
    assert!(own.get(580).is_err() && own.get(0).is_ok());
    own.close_all(false, &mut files, frames);
    assert!(
        copy.get(580)
            .is_ok_and(|descriptor| descriptor.close_on_exec)
    );
    assert_eq!(copy.next(1), Some(580));
    assert_eq!(copy.close(3, &mut files, frames), Err(Errno::EBADF));
    copy.close_all(false, &mut files, frames);
    assert_eq!(frames.available(), total);
}

#[test]
fn an_event_wakes_one_reader_and_all_that_poll() {
    let mut machine = Frames::of_host(24);
    let frames = &mut machine;
    let mut files = Files::new(Tree::new(b"", frames).unwrap());
    let source = files.new_source(frames).unwrap();
    for thread in [3, 70, 5] {
        files.enlist(source, Side::Read, thread);
    }
    for thread in [9, 10] {
        files.enlist(source, Side::Poll, thread);
    }
    files.enlist(source, Side::Write, 1);
    files.notify(source, ready::READABLE);
    assert_eq!(files.take_woken(), 1 << 3 | 1 << 9 | 1 << 10);
    files.notify(source, ready::READABLE);
    assert_eq!(files.take_woken(), 1 << 5);
    // One that leaves wakes those with its bit, and no other.
    files.delist(source, Side::Read, 6);
    assert_eq!(files.take_woken(), 1 << 6);
    files.notify(source, ready::HANGUP);
    assert_eq!(files.take_woken(), 1 << 1);
    files.remove_source(source, frames);
}

#[test]
fn a_pipe_keeps_its_bytes_when_its_capacity_changes() {
    let mut machine = Frames::of_host(64);
    let frames = &mut machine;
    let mut files = Files::new(Tree::new(b"", frames).unwrap());
    let total = frames.available();
    let (reader, writer) = files.pipe(0, frames).unwrap();
    let Object::Pipe(index, ..) = files.get(&reader).unwrap().object else {
        panic!()
    };
    let bytes: Vec<u8> = (0..9000u32).map(|i| i as u8).collect();
    // So that the bytes begin within the ring.
    files
        .write_pipe(index, &[0; 15 * PAGE + 100], frames)
        .unwrap()
        .unwrap();
    files
        .read_pipe(index, &mut [0; 15 * PAGE + 99], frames)
        .unwrap();
    files.write_pipe(index, &bytes, frames).unwrap().unwrap();
    assert_eq!(
        files.set_pipe_capacity(index, 8192, frames),
        Err(Errno::EBUSY)
    );
    assert_eq!(files.set_pipe_capacity(index, 8193, frames), Ok(16384));
    assert_eq!(files.fill(index), Some((9001, 16384 - 9001)));
    assert_eq!(files.set_pipe_capacity(index, 1 << 20, frames), Ok(1 << 20));
    assert_eq!(
        files.set_pipe_capacity(index, (1 << 20) + 1, frames),
        Err(Errno::EPERM)
    );
    let mut read = vec![0; 9001];
    assert_eq!(files.read_pipe(index, &mut read, frames), Some(9001));
    assert_eq!(read[1..], bytes);
    files.close(reader, frames);
    files.close(writer, frames);
    assert_eq!(frames.available(), total);
}

#[test]
fn a_ring_keeps_no_page_of_bytes_that_it_does_not_have() {
    let mut machine = Frames::of_host(64);
    let frames = &mut machine;
    let mut ring = Ring::new(8 * PAGE);
    assert_eq!(ring.append(&vec![1; PAGE], frames), PAGE);
    let used = frames.available();
    for first in [0, PAGE - 1, PAGE, 3 * PAGE + 5] {
        // A buffer that ends at memory which cannot be read.
        let appended = ring.append_with(6 * PAGE, frames, |_, _, part, _| {
            if part.start < first { Ok(()) } else { Err(()) }
        });
        assert_eq!(appended.is_err(), first == 0);
        ring.truncate(PAGE, frames);
        // A node at most, from the second page on.
        assert!(used - frames.available() <= 1, "{first}");
        assert_eq!(ring.len(), PAGE);
    }
    ring.skip(PAGE, frames);
    assert!(ring.append_with(5, frames, |_, _, _, _| Err(())).is_err());
    assert!(used - frames.available() <= 1);
    ring.release(frames);
}

#[test]
fn a_full_ring_keeps_the_page_in_which_it_begins() {
    let mut machine = Frames::of_host(64);
    let frames = &mut machine;
    let mut ring = Ring::new(4 * PAGE);
    assert_eq!(ring.append(&vec![1; 4 * PAGE], frames), 4 * PAGE);
    ring.skip(PAGE + 10, frames);
    assert_eq!(ring.append(&vec![2; PAGE], frames), PAGE);
    // The rest of the room is in the page that has the first bytes.
    assert!(ring.append_with(10, frames, |_, _, _, _| Err(())).is_err());
    let mut bytes = vec![0; 4 * PAGE - 10];
    assert_eq!(ring.peek(0, &mut bytes), bytes.len());
    assert!(bytes[..3 * PAGE - 10].iter().all(|&byte| byte == 1));
    assert!(bytes[3 * PAGE - 10..].iter().all(|&byte| byte == 2));
    ring.release(frames);
}

#[test]
fn a_pipe_that_is_read_keeps_one_page() {
    let mut machine = Frames::of_host(64);
    let frames = &mut machine;
    let mut files = Files::new(Tree::new(b"", frames).unwrap());
    let (reader, writer) = files.pipe(0, frames).unwrap();
    let Object::Pipe(index, ..) = files.get(&reader).unwrap().object else {
        panic!()
    };
    let unused = frames.available();
    for (length, most) in [(PAGE, 1), (PAGE, 1), (100, 1), (5 * PAGE + 7, 2), (PAGE, 2)] {
        let written = files.write_pipe(index, &vec![1; length], frames);
        assert_eq!(written, Some(Ok(length)));
        let read = files.read_pipe(index, &mut vec![0; length], frames);
        assert_eq!(read, Some(length));
        // The page, and once there were several a node.
        assert_eq!(unused - frames.available(), most);
    }
    files.close(reader, frames);
    files.close(writer, frames);
}

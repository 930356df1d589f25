//! Tests of what needs no processor: open files, pipes, futexes, the table of calls.

use crate::file::{Files, Object};
use crate::process::{Descriptors, Process};
use crate::{Call, Caller, Calls, WakeOperation, disjoint, table};
use proptest::prelude::*;
use std::collections::VecDeque;
use tenon_address_space::PAGE;
use tenon_frames::Frames;
use tenon_program::Errno;
use tenon_vfs::{ROOT, Tree};

/// Memory of the frames.
struct Machine {
    _ram: Vec<[u8; PAGE]>,
    frames: Frames,
}

fn machine(pages: usize) -> Machine {
    let ram = vec![[0xa5; PAGE]; pages + 1];
    let start = (ram.as_ptr() as usize).next_multiple_of(PAGE);
    // SAFETY: nothing else uses the memory, which has its own address.
    let frames = unsafe { Frames::new(start..start + pages * PAGE) };
    Machine { _ram: ram, frames }
}

/// A process without memory.
fn process(files: Descriptors) -> Process {
    Process {
        number: 1,
        parent: 0,
        space: None,
        heap: 0..0,
        files,
        directory: ROOT,
        mask: 0,
        name: heapless::String::new(),
        end: None,
        own_program: false,
        exit: None,
    }
}

#[test]
fn an_operation_changes_and_compares_a_word() {
    let operation = |change: u32, operand: u32, compare: u32, with: u32| {
        WakeOperation(change << 28 | compare << 24 | (operand & 0xfff) << 12 | with & 0xfff)
    };
    let changed = |change, operand| operation(change, operand, 0, 0).apply(0b1100);
    assert_eq!(changed(0, 5), Some(5));
    assert_eq!(changed(1, 0xfff), Some(0b1011));
    assert_eq!(changed(2, 0b11), Some(0b1111));
    assert_eq!(changed(3, 0b100), Some(0b1000));
    assert_eq!(changed(4, 0b110), Some(0b1010));
    assert_eq!(changed(5, 0), None);
    // The operand as a number of a bit.
    assert_eq!(changed(8 | 2, 0), Some(0b1101));
    let compared = |compare, old: i32| operation(0, 0, compare, 0xffe).compare(old as u32);
    for (compare, [below, same, above]) in [
        (0, [false, true, false]),
        (1, [true, false, true]),
        (2, [true, false, false]),
        (3, [true, true, false]),
        (4, [false, false, true]),
        (5, [false, true, true]),
    ] {
        let results = [-3, -2, 1].map(|old| compared(compare, old));
        assert_eq!(results, [Some(below), Some(same), Some(above)]);
    }
    assert_eq!(compared(6, 0), None);
}

fn nothing(_: &Caller) -> Result<u64, Errno> {
    Ok(0)
}

#[test]
fn a_call_has_one_function() {
    const ONE: Calls = Calls(&[Call(3, nothing), Call(511, nothing)]);
    const TWO: Calls = Calls(&[Call(4, nothing)]);
    const SAME: Calls = Calls(&[Call(4, nothing), Call(3, nothing)]);
    assert!(disjoint(&ONE, &TWO));
    assert!(!disjoint(&ONE, &SAME) && !disjoint(&SAME, &ONE));
    let table = table(&[&ONE, &TWO]);
    let served: Vec<usize> = (0..512).filter(|n| table[*n].is_some()).collect();
    assert_eq!(served, [3, 4, 511]);
}

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
        let mut machine = machine(24);
        let frames = &mut machine.frames;
        let mut files = Files::new(Tree::new(b"", frames).unwrap());
        let total = frames.available();
        let (reader, writer) = files.pipe(0, frames).unwrap();
        let Object::Pipe(index, false) = files.get(&reader).unwrap().object else { panic!() };
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
    let mut machine = machine(40);
    let frames = &mut machine.frames;
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
    let Object::Pipe(index, _) = files.get(&open[1]).unwrap().object else {
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
    let mut machine = machine(24);
    let frames = &mut machine.frames;
    let mut files = Files::new(Tree::new(b"", frames).unwrap());
    let mut own = Descriptors::new(600);
    let total = frames.available();
    let mut process = process(own);
    let (reader, writer) = files.pipe(0, frames).unwrap();
    assert_eq!(process.install(reader, false, 0, frames), Ok(0));
    assert_eq!(process.install(writer, true, 580, frames), Ok(580));
    own = process.files;
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

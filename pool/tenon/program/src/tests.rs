//! Tests of programs, arguments and scripts.

use crate::load::TEXT;
use crate::{Errno, Space, Strings, load, script};
use proptest::prelude::*;
use tenon_address_space::{Access, KernelPart};
use tenon_frames::{Frames, Object};

/// Frames, all of which are free.
struct Machine {
    frames: Frames,
    total: usize,
}

fn machine(pages: usize) -> Machine {
    let frames = Frames::of_host(pages);
    let total = frames.available();
    Machine { frames, total }
}

fn space(frames: &mut Frames) -> Space {
    Space::new(KernelPart::EMPTY, 1, frames).unwrap()
}

fn strings() -> Box<Strings> {
    Box::new(Strings::new())
}

/// A program of two segments at `base`, of which the second one has 3 pages of zeros behind it.
fn program(kind: u16, base: u64, interpreter: Option<&str>) -> Vec<u8> {
    let path = interpreter.map(|path| format!("{path}\0"));
    let headers = 2 + u16::from(path.is_some());
    let mut file = vec![0; 0x3000];
    file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(16, &kind.to_le_bytes());
    put(18, &183u16.to_le_bytes());
    put(20, &1u32.to_le_bytes());
    put(24, &(base + 0x1004).to_le_bytes());
    put(32, &64u64.to_le_bytes());
    put(52, &64u16.to_le_bytes());
    put(54, &56u16.to_le_bytes());
    put(56, &headers.to_le_bytes());
    let mut header = |index: usize, kind: u32, flags: u32, words: [u64; 6]| {
        let at = 64 + 56 * index;
        put(at, &kind.to_le_bytes());
        put(at + 4, &flags.to_le_bytes());
        for (place, word) in (at + 8..).step_by(8).zip(words) {
            put(place, &word.to_le_bytes());
        }
    };
    header(0, 1, 5, [0, base, base, 0x2000, 0x2000, 0x1000]);
    let second = base + 0x12010;
    header(1, 1, 6, [0x2010, second, second, 0x20, 0x3020, 0x1000]);
    if let Some(path) = &path {
        let size = path.len() as u64;
        header(2, 3, 4, [0x2800, 0, 0, size, size, 1]);
    }
    if let Some(path) = path {
        put(0x2800, path.as_bytes());
    }
    put(0x2010, b"variables of the program");
    file
}

const EXECUTABLE: u16 = 2;
const RELOCATABLE: u16 = 3;

fn word(space: &mut Space, at: usize, frames: &mut Frames) -> usize {
    let mut bytes = [0; 8];
    space.read(at, &mut bytes, frames).unwrap();
    u64::from_le_bytes(bytes) as usize
}

fn text(space: &mut Space, at: usize, frames: &mut Frames) -> String {
    let mut bytes = [0; 64];
    let length = space.read_string(at, &mut bytes, frames).unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

fn none(_: &str, _: &mut Frames) -> Result<Object, Errno> {
    Err(Errno::ENOENT)
}

#[test]
fn a_program_finds_its_variables_arguments_and_entropy() {
    let mut machine = machine(64);
    let frames = &mut machine.frames;
    let mut space = space(frames);
    let mut strings = strings();
    for argument in ["name", "", "two words"] {
        strings.push(argument.as_bytes(), false).unwrap();
    }
    strings.push(b"HOME=/", true).unwrap();
    let file = program(EXECUTABLE, 0x40_0000, None).leak();
    let file = frames.create_object(file).unwrap();
    let random = core::array::from_fn(|index| index as u8);
    let start = load(
        &mut space,
        &file,
        (&strings, "/bin/x"),
        &mut none,
        &random,
        frames,
    )
    .unwrap();
    frames.release_object(file);
    assert_eq!(start.pc, 0x40_1004);
    assert_eq!(start.heap, 0x41_6000);
    assert_eq!(start.sp % 16, 0);
    assert_eq!(
        text(&mut space, 0x41_2010, frames),
        "variables of the program"
    );
    let mut zeros = [1; 0x3000 - 24];
    space.read(0x41_2010 + 24, &mut zeros, frames).unwrap();
    assert!(zeros.iter().all(|byte| *byte == 0));
    let words: Vec<usize> = (0..7)
        .map(|index| word(&mut space, start.sp + 8 * index, frames))
        .collect();
    assert_eq!((words[0], words[4], words[6]), (3, 0, 0));
    let strings: Vec<String> = [words[1], words[2], words[3], words[5]]
        .into_iter()
        .map(|at| text(&mut space, at, frames))
        .collect();
    assert_eq!(strings, ["name", "", "two words", "HOME=/"]);
    let mut vector = std::collections::HashMap::new();
    for pair in (start.sp + 56..).step_by(16) {
        match word(&mut space, pair, frames) {
            0 => break,
            key => vector.insert(key, word(&mut space, pair + 8, frames)),
        };
    }
    assert_eq!(vector[&3], 0x40_0040);
    assert_eq!((vector[&4], vector[&5], vector[&9]), (56, 2, 0x40_1004));
    assert_eq!(text(&mut space, vector[&31], frames), "/bin/x");
    let mut entropy = [0; 16];
    space.read(vector[&25], &mut entropy, frames).unwrap();
    assert_eq!(entropy, random[16..]);
    let denied =
        |space: &mut Space, at, access, frames: &mut Frames| space.fault(at, access, frames);
    assert!(denied(&mut space, 0x40_1004, Access::Write, frames).is_err());
    assert!(denied(&mut space, 0x41_2010, Access::Execute, frames).is_err());
    assert!(denied(&mut space, start.sp, Access::Execute, frames).is_err());
    space.release(frames);
    assert_eq!(machine.frames.available(), machine.total);
}

#[test]
fn an_interpreter_begins_and_knows_the_program() {
    let mut machine = machine(64);
    let frames = &mut machine.frames;
    let mut space = space(frames);
    let file = program(RELOCATABLE, 0, Some("/lib/ld.so")).leak();
    let file = frames.create_object(file).unwrap();
    let interpreter: &'static [u8] = program(RELOCATABLE, 0, None).leak();
    let mut lookup = |path: &str, frames: &mut Frames| match path {
        "/lib/ld.so" => frames.create_object(interpreter).ok_or(Errno::ENOMEM),
        _ => Err(Errno::ENOENT),
    };
    let strings = strings();
    let random = [7; 32];
    let start = load(
        &mut space,
        &file,
        (&strings, "x"),
        &mut lookup,
        &random,
        frames,
    )
    .unwrap();
    let mut code = [0; 4];
    space.read(start.pc, &mut code, frames).unwrap();
    // The program lies below, and its heap behind it.
    assert!(start.heap < start.pc && start.heap > 0x55_0000_0000);
    let missing = load(
        &mut self::space(frames),
        &file,
        (&strings, "x"),
        &mut none,
        &[7; 32],
        frames,
    );
    assert_eq!(missing.unwrap_err(), Errno::ENOENT);
}

#[test]
fn what_cannot_be_loaded_is_an_error() {
    type Change = fn(&mut Vec<u8>);
    let cases: [(Change, Errno); 7] = [
        (|file| file.truncate(40), Errno::ENOEXEC),
        (|file| file[18] = 62, Errno::ENOEXEC),
        (|file| file[16] = 1, Errno::ENOEXEC),
        // A segment of the kernel, one that ends behind all addresses, two in one page.
        (|file| file[64 + 16 + 3] = 0x41, Errno::ENOEXEC),
        (|file| file[64 + 40..64 + 48].fill(0xff), Errno::ENOEXEC),
        (
            |file| file[136..140].copy_from_slice(&0x40_1010u32.to_le_bytes()),
            Errno::ENOMEM,
        ),
        // Writable code.
        (|file| file[64 + 4] = 7, Errno::EACCES),
    ];
    for (change, error) in cases {
        let mut machine = machine(64);
        let mut space = space(&mut machine.frames);
        let mut file = program(EXECUTABLE, 0x40_0000, None);
        change(&mut file);
        let file = machine.frames.create_object(file.leak()).unwrap();
        let loaded = load(
            &mut space,
            &file,
            (&strings(), "x"),
            &mut none,
            &[0; 32],
            &mut machine.frames,
        );
        machine.frames.release_object(file);
        assert_eq!(loaded.unwrap_err(), error);
        space.release(&mut machine.frames);
        assert_eq!(machine.frames.available(), machine.total);
    }
}

#[test]
fn the_interpreter_of_a_script_has_one_argument() {
    assert_eq!(script(b"#!/bin/sh\necho"), Some(("/bin/sh", None)));
    assert_eq!(
        script(b"#! /bin/sh -e -u \n"),
        Some(("/bin/sh", Some("-e -u")))
    );
    assert_eq!(script(b"#!/bin/sh"), Some(("/bin/sh", None)));
    for none in [&b"#!\n"[..], b"#", b"", b"/bin/sh", b"#!\xff\n"] {
        assert_eq!(script(none), None);
    }
}

#[test]
fn arguments_end_where_there_is_no_room() {
    let mut strings = strings();
    strings.push(b"script", false).unwrap();
    strings.push(b"x", false).unwrap();
    strings.push(b"A=1", true).unwrap();
    assert_eq!(strings.push(b"late", false), Err(Errno::E2BIG));
    strings.replace_first(&["/bin/sh", "-e", "script"]).unwrap();
    assert_eq!(strings.bytes(), b"/bin/sh\0-e\0script\0x\0A=1\0");
    assert_eq!(strings.counts(), (4, 5));
    let long = "x".repeat(TEXT);
    assert_eq!(strings.push(long.as_bytes(), true), Err(Errno::E2BIG));
    assert_eq!(strings.replace_first(&[&long]), Err(Errno::E2BIG));
    strings.clear();
    while strings.push(b"", true).is_ok() {}
    assert_eq!(strings.counts().1, 512);
}

proptest! {
    #[test]
    fn any_change_of_a_program_is_loaded_or_refused(
        changes in prop::collection::vec((0..0x180usize, any::<u8>()), 0..6),
        pages in 0..40usize,
    ) {
        let mut machine = machine(pages + 8);
        let mut space = space(&mut machine.frames);
        let mut file = program(EXECUTABLE, 0x40_0000, Some("/i"));
        for (at, byte) in changes {
            file[at] = byte;
        }
        let interpreter: &'static [u8] = program(RELOCATABLE, 0, None).leak();
        let mut lookup = |_: &str, frames: &mut Frames| {
            frames.create_object(interpreter).ok_or(Errno::ENOMEM)
        };
        let random = [0xff; 32];
        let file = machine.frames.create_object(file.leak()).unwrap();
        let frames = &mut machine.frames;
        let _ = load(&mut space, &file, (&strings(), "x"), &mut lookup, &random, frames);
        machine.frames.release_object(file);
        space.release(&mut machine.frames);
        prop_assert_eq!(machine.frames.available(), machine.total);
    }
}

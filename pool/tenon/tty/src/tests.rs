//! Tests of [`Terminal`].

use super::*;
use proptest::prelude::*;

/// A terminal, and what it has echoed.
struct Screen {
    terminal: Terminal,
    echo: Vec<u8>,
}

impl Default for Screen {
    fn default() -> Self {
        let room = Box::leak(Box::default());
        Self {
            terminal: Terminal::new(room),
            echo: Vec::new(),
        }
    }
}

impl Screen {
    fn kind(&mut self, bytes: &[u8]) -> Vec<Signal> {
        let Self { terminal, echo } = self;
        let receive = |byte: &u8| terminal.receive(*byte, &mut |bytes| echo.extend(bytes));
        bytes.iter().filter_map(receive).collect()
    }

    fn read(&mut self, size: usize) -> Option<String> {
        let mut bytes = vec![0; size];
        let count = self.terminal.read(&mut bytes)?;
        bytes.truncate(count);
        Some(String::from_utf8(bytes).unwrap())
    }

    fn echo(&mut self) -> String {
        String::from_utf8(std::mem::take(&mut self.echo)).unwrap()
    }

    fn change(&mut self, change: impl FnOnce(&mut Attributes)) {
        let mut attributes = *self.terminal.attributes();
        change(&mut attributes);
        self.terminal.set_attributes(attributes);
    }
}

#[test]
fn lines_are_edited_before_they_are_read() {
    let mut screen = Screen::default();
    screen.kind(b"one two\x17three");
    assert_eq!(screen.read(64), None);
    screen.kind(b"\n");
    assert_eq!(screen.read(64).unwrap(), "one three\n");
    screen.echo();
    screen.kind(b"gone\x15kept\x7f\x7f\r");
    assert_eq!(screen.read(64).unwrap(), "ke\n");
    let erased = "gone".to_owned() + &"\x08 \x08".repeat(4) + "kept" + &"\x08 \x08".repeat(2);
    assert_eq!(screen.echo(), erased + "\r\n");
    screen.kind(b"\x7f\x7f\x17\x15");
    assert_eq!(screen.echo(), "");
    screen.kind(b"a\x16\x03b\n");
    assert_eq!(screen.read(64).unwrap(), "a\x03b\n");
    assert_eq!(screen.echo(), "a^\x08^Cb\r\n");
}

#[test]
fn tabs_and_control_characters_are_erased_as_wide_as_they_are() {
    let mut screen = Screen::default();
    screen.kind(b"ab\t\x7f");
    assert_eq!(screen.echo(), "ab\t".to_owned() + &"\x08".repeat(6));
    screen.kind(b"\x01\x7f");
    assert_eq!(screen.echo(), "^A\x08 \x08\x08 \x08");
    screen.change(|attributes| attributes.input |= flag::UTF8);
    screen.kind("\u{e9}\x7f\x7f\x7f\n".as_bytes());
    assert_eq!(screen.read(9).unwrap(), "\n");
}

#[test]
fn lines_are_read_one_by_one_and_in_parts() {
    let mut screen = Screen::default();
    screen.kind(b"first\nsecond\n");
    assert_eq!(screen.read(3).unwrap(), "fir");
    assert_eq!(screen.read(64).unwrap(), "st\n");
    assert_eq!(screen.terminal.available(), 7);
    assert_eq!(screen.read(64).unwrap(), "second\n");
    screen.kind(b"half\x04");
    assert_eq!(screen.read(64).unwrap(), "half");
    assert_eq!(screen.read(64), None);
    screen.kind(b"\x04");
    assert_eq!(screen.read(64).unwrap(), "");
    screen.kind(b"fits\x04");
    assert_eq!(screen.read(4).unwrap(), "fits");
    assert_eq!(screen.read(4), None);
    screen.kind(b"x\n\x04");
    assert_eq!(screen.read(2).unwrap(), "x\n");
    assert_eq!(screen.read(2).unwrap(), "");
}

#[test]
fn signals_drop_the_line() {
    let mut screen = Screen::default();
    let signals = screen.kind(b"lost\x03more\x1alast\x1c");
    assert_eq!(signals, [Signal::Interrupt, Signal::Suspend, Signal::Quit]);
    assert_eq!(screen.echo(), "lost^Cmore^Zlast^\\");
    screen.kind(b"\n");
    assert_eq!(screen.read(64).unwrap(), "\n");
    screen.change(|attributes| attributes.local &= !control::SIGNALS);
    assert_eq!(screen.kind(b"\x03\n"), []);
    assert_eq!(screen.read(64).unwrap(), "\x03\n");
}

#[test]
fn raw_input_is_there_at_once() {
    let mut screen = Screen::default();
    screen.kind(b"typed");
    screen.change(|attributes| {
        attributes.local &= !(control::CANONICAL | control::ECHO | control::SIGNALS);
        attributes.input = 0;
    });
    screen.echo();
    assert_eq!(screen.read(3).unwrap(), "typ");
    screen.kind(b"\x7f\r\x04");
    assert_eq!(screen.read(64).unwrap(), "ed\x7f\r\x04");
    assert_eq!(screen.echo(), "");
    screen.kind(b"rest");
    screen.change(|attributes| attributes.local |= control::CANONICAL);
    assert_eq!(screen.read(64).unwrap(), "rest");
}

#[test]
fn output_is_stopped_and_started() {
    let mut screen = Screen::default();
    screen.kind(b"\x13");
    assert!(screen.terminal.is_stopped());
    screen.kind(b"\x11");
    assert!(!screen.terminal.is_stopped());
    screen.kind(b"\x13\x03");
    assert!(!screen.terminal.is_stopped());
    let mut written: Vec<u8> = Vec::new();
    screen
        .terminal
        .send(b"a\n\tb\r", &mut |bytes| written.extend(bytes));
    assert_eq!(written, b"a\r\n\tb\r");
    screen.change(|attributes| attributes.output = flag::PROCESS | flag::TABS);
    written.clear();
    screen
        .terminal
        .send(b"\tx\ty\n", &mut |bytes| written.extend(bytes));
    assert_eq!(written, b"        x       y\n");
}

#[test]
fn attributes_are_those_of_linux() {
    let attributes = Attributes::new();
    let bytes = attributes.bytes();
    assert_eq!(bytes[..4], [0, 5, 0, 0]);
    assert_eq!(bytes[12..16], [0x3b, 0x8a, 0, 0]);
    assert_eq!(Attributes::of(&bytes), attributes);
}

#[test]
fn a_full_line_is_dropped_with_a_bell() {
    let mut screen = Screen::default();
    screen.kind(&[b'x'; 5000]);
    assert!(screen.echo().ends_with('\x07'));
    screen.kind(b"\n");
    assert_eq!(screen.read(8192).unwrap().len(), 4096);
    screen.kind(b"\n");
    assert_eq!(screen.read(8192).unwrap(), "\n");
}

proptest! {
    /// No input ends the discipline, and what is read never exceeds what was typed.
    #[test]
    fn any_bytes_and_any_attributes_are_served(
        steps in prop::collection::vec((any::<u8>(), any::<u32>(), any::<u32>(), 0..40usize), 0..3000),
    ) {
        let mut screen = Screen::default();
        let (mut typed, mut read) = (0, 0);
        for (byte, first, second, size) in steps {
            if first.is_multiple_of(97) {
                screen.change(|attributes| {
                    attributes.local = second;
                    attributes.input = first;
                    attributes.characters[second as usize % 19] = byte;
                });
            }
            let before = screen.echo.len();
            screen.kind(&[byte]);
            typed += 1;
            prop_assert!(screen.echo.len() - before <= 8 * 4096 * 3);
            let mut bytes = vec![0; size];
            if first.is_multiple_of(13) {
                read += screen.terminal.read(&mut bytes).unwrap_or(0);
            }
            prop_assert!(read <= typed && screen.terminal.available() <= 4096);
        }
    }
}

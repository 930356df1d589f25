//! Tests of the exact output of the console, and of the target of input.

use super::input::ESCAPE;
use super::*;
use proptest::prelude::*;

#[derive(Default)]
struct Line(Vec<u8>);

impl Port for Line {
    fn is_ready(&mut self) -> bool {
        true
    }
    fn put(&mut self, byte: u8) {
        self.0.push(byte);
    }
}

impl Console {
    /// Writes all bytes of a VM.
    fn write(&mut self, vm: usize, name: &str, now: u64, bytes: &[u8], line: &mut Line) {
        let name = &of(name);
        for &byte in bytes {
            // On one core, so that no writer waits.
            while self.put(vm, byte, line, || Attempt { name, now, core: 0 }) != Progress::Written {
            }
        }
        while self.step(line) {}
    }

    /// Completes a VM's pending output.
    fn finish(&mut self, vm: usize, name: &str, now: u64, line: &mut Line) {
        if self.is_unfinished(vm) {
            self.write(vm, name, now, b"\n", line);
        }
    }
}

/// A name, possibly of maximum length.
fn of(name: &str) -> Name {
    let length = name.len().min(core_manifest::limits::NAME);
    Name::of(&name[..length])
}

/// A format.
const fn words<'a>(text: &'static str, arguments: &'a [Argument]) -> Words<'a> {
    Words { text, arguments }
}

/// The formatted text.
fn read(text: &'static str, arguments: &[Argument]) -> String {
    let mut cursor = Cursor::START;
    let bytes = std::iter::from_fn(|| words(text, arguments).step(&mut cursor))
        .flatten()
        .collect();
    String::from_utf8(bytes).unwrap()
}

/// Output of these writes of (VM, time in seconds, text).
fn shown(writes: &[(usize, u64, &str)]) -> String {
    let (mut console, mut line) = (Console::new(), Line::default());
    for (vm, seconds, text) in writes {
        let (name, now) = (["motor", "linux"][*vm], seconds * 1_000_000_000);
        console.write(*vm, name, now, text.as_bytes(), &mut line);
    }
    String::from_utf8(line.0).unwrap()
}

#[test]
fn a_line_has_a_time_and_a_name() {
    assert_eq!(
        shown(&[(0, 1, "hello\n")]),
        "[    1.000000000] motor| hello\r\n"
    );
    assert_eq!(shown(&[(0, 123_456, "x")]), "[123456.000000000] motor| x");
    assert_eq!(shown(&[]), "");
}

#[test]
fn a_prompt_appears_at_once_and_continues_in_place() {
    assert_eq!(
        shown(&[(1, 1, "/ # "), (1, 2, "ls\r\n"), (1, 3, "\n")]),
        "[    1.000000000] linux| / # ls\r\n[    3.000000000] linux| \r\n"
    );
}

#[test]
fn an_interrupted_line_continues_with_its_own_time() {
    assert_eq!(
        shown(&[
            (1, 1, "/ # ec"),
            (0, 2, "tick\nto"),
            (1, 3, "ho\n"),
            (0, 4, "ck\n")
        ]),
        "[    1.000000000] linux| / # ec\r\n\
         [    2.000000000] motor| tick\r\n\
         [    2.000000000] motor| to\r\n\
         [    1.000000000] linux+ ho\r\n\
         [    2.000000000] motor+ ck\r\n"
    );
}

#[test]
fn an_interrupted_line_without_more_text_still_ends() {
    assert_eq!(
        shown(&[(1, 1, "done"), (0, 2, "x\n"), (1, 3, "\n"), (1, 4, "next")]),
        "[    1.000000000] linux| done\r\n\
         [    2.000000000] motor| x\r\n\
         [    1.000000000] linux+ \r\n\
         [    4.000000000] linux| next"
    );
}

#[test]
fn mortise_writes_whole_lines_of_its_own() {
    let (mut console, mut line) = (Console::new(), Line::default());
    console.write(0, "motor", 0, b"unfinis", &mut line);
    console.message(5, format_args!("{} running", "linux"), &mut line);
    console.finish(0, "motor", 9, &mut line);
    console.finish(0, "motor", 9, &mut line);
    console.finish(1, "linux", 9, &mut line);
    console.write(0, "motor", 9, b"again", &mut line);
    assert_eq!(
        String::from_utf8(line.0).unwrap(),
        "[    0.000000000] motor| unfinis\r\n\
         [    0.000000005] mortise| linux running\r\n\
         [    0.000000000] motor+ \r\n\
         [    0.000000009] motor| again"
    );
}

#[test]
fn no_writer_overwrites_a_name() {
    assert_eq!(shown(&[(0, 1, "\r\r[\r")]), "[    1.000000000] motor| [");
}

#[test]
fn a_writer_without_a_number_is_ignored() {
    let (mut console, mut line) = (Console::new(), Line::default());
    for vm in [OWN, WRITERS, usize::MAX] {
        console.write(vm, "none", 0, b"x", &mut line);
        console.finish(vm, "none", 0, &mut line);
    }
    assert!(line.0.is_empty());
}

#[test]
fn ctrl_t_selects_the_target_of_input() {
    let mut console = Console::new();
    let to = |vm, byte| Input::To { vm, byte };
    assert_eq!(console.input(b'a', 2), Input::Nothing);
    console.select(1);
    assert_eq!(console.input(b'a', 2), to(1, b'a'));
    assert_eq!(console.input(ESCAPE, 2), Input::Nothing);
    assert_eq!(console.input(b'0', 2), Input::Switched { vm: 0 });
    assert_eq!(console.input(b'0', 2), to(0, b'0'));
    for byte in *b"2x\n" {
        assert_eq!(console.input(ESCAPE, 2), Input::Nothing);
        assert_eq!(console.input(byte, 2), Input::Nothing);
    }
    assert_eq!(console.selected(), Some(0));
    assert_eq!(console.input(ESCAPE, 2), Input::Nothing);
    assert_eq!(console.input(ESCAPE, 2), to(0, ESCAPE));
    assert_eq!(console.input(b'1', 2), to(0, b'1'));
}

proptest! {
    #[test]
    fn each_writers_text_can_be_reassembled(
        writes in prop::collection::vec((0usize..3, "[ -~\r\n]{0,12}"), 0..40),
    ) {
        let (mut console, mut line) = (Console::new(), Line::default());
        let mut written = [const { String::new() }; 3];
        for (time, (vm, text)) in writes.iter().enumerate() {
            console.write(*vm, &format!("vm{vm}"), time as u64, text.as_bytes(), &mut line);
            written[*vm].push_str(&text.replace('\r', ""));
        }
        let shown = String::from_utf8(line.0).unwrap();
        let mut found = [const { String::new() }; 3];
        let mut open = [false; 3];
        for piece in shown.split_inclusive("\r\n") {
            let (head, text) = piece.split_at("[    0.000000000] vm0| ".len());
            let vm = head.as_bytes()[20] - b'0';
            let goes_on = head.as_bytes()[21] == b'+';
            let vm = usize::from(vm);
            prop_assert!(head.ends_with("| ") || goes_on);
            if open[vm] && !goes_on {
                found[vm].push('\n');
            }
            found[vm].push_str(text.trim_end_matches("\r\n"));
            open[vm] = true;
        }
        for (found, written) in found.iter().zip(&written) {
            prop_assert_eq!(found, written.strip_suffix('\n').unwrap_or(written));
        }
    }

    #[test]
    fn input_reaches_only_existing_vms(
        bytes in prop::collection::vec(prop_oneof![Just(ESCAPE), any::<u8>()], 0..100), vms in 0usize..12,
    ) {
        let mut console = Console::new();
        for byte in bytes {
            match console.input(byte, vms) {
                Input::To { vm, .. } | Input::Switched { vm } => prop_assert!(vm < vms),
                Input::Nothing => {}
            }
        }
    }
}

proptest! {
    #[test]
    fn a_header_is_what_its_format_says(began: u64, name in "[a-z][a-z0-9-]{0,30}") {
        let (mut console, mut line) = (Console::new(), Line::default());
        console.write(0, &name, began, b"x", &mut line);
        let (seconds, rest) = (began / 1_000_000_000, began % 1_000_000_000);
        let expected = format!("[{seconds:5}.{rest:09}] {name}| x");
        prop_assert_eq!(String::from_utf8(line.0).unwrap(), expected);
    }

    #[test]
    fn a_busy_line_does_not_change_the_output(
        writes: Vec<(bool, u8, Vec<u8>)>,
        busy: Vec<bool>,
    ) {
        struct Busy<'a>(Line, &'a mut dyn Iterator<Item = bool>);
        impl Port for Busy<'_> {
            fn is_ready(&mut self) -> bool {
                self.1.next() != Some(true)
            }
            fn put(&mut self, byte: u8) {
                self.0.put(byte);
            }
        }
        let (mut whole, mut expected) = (Console::new(), Line::default());
        let mut busy = busy.into_iter().chain([false]).cycle();
        let (mut stopped, mut line) = (Console::new(), Busy(Line::default(), &mut busy));
        for (vm, now, bytes) in writes {
            let name = ["motor", "linux"][usize::from(vm)];
            let shown = of(name);
            whole.write(vm.into(), name, now.into(), &bytes, &mut expected);
            for byte in bytes {
                while stopped.put(vm.into(), byte, &mut line, || Attempt { name: &shown, now: now.into(), core: 0 })
                    != Progress::Written
                {}
            }
            while stopped.step(&mut line) {}
        }
        prop_assert_eq!(line.0.0, expected.0);
    }

    #[test]
    fn a_step_puts_one_byte_at_most(bytes: Vec<u8>, other: bool, number: u64) {
        let (mut console, mut line) = (Console::new(), Line::default());
        let motor = of("motor");
        if other {
            console.write(1, "linux", 0, b"/ # ", &mut line);
        }
        console.say(1, &motor, words(" restarts ({})", &[Argument::Decimal(number)]));
        for byte in bytes {
            let mut taken = false;
            while !taken {
                let before = line.0.len();
                taken = console.put(0, byte, &mut line, || Attempt { name: &motor, now: 1, core: 0 }) == Progress::Written;
                prop_assert!(line.0.len() - before <= 1);
            }
        }
    }

    #[test]
    fn words_equal_the_output_of_core_fmt(value: u64, text in "[ -z]{0,9}") {
        let text: &'static str = text.leak();
        let text: &'static &'static str = Box::leak(Box::new(text));
        let arguments = [
            Argument::Decimal(value),
            Argument::Hexadecimal(value),
            Argument::Digits(value),
            Argument::Text(text),
        ];
        prop_assert_eq!(
            read("{}, {} x={}{}.", &arguments),
            format!("{value}, {value:#x} x={value:016x}{text}.")
        );
    }
}

#[test]
fn formats_of_small_numbers_and_without_arguments() {
    assert_eq!(read("", &[]), "");
    assert_eq!(read("{}{}{}.", &[Argument::Text(&"")]), ".");
    let zero = [Argument::Decimal(0), Argument::Hexadecimal(0)];
    assert_eq!(read("{} {}", &zero), "0 0x0");
    assert_eq!(
        read("{}", &[Argument::Decimal(u64::MAX)]),
        u64::MAX.to_string()
    );
}

#[test]
fn queued_messages_precede_later_output() {
    let (mut console, mut line) = (Console::new(), Line::default());
    console.write(1, "linux", 1_000_000_000, b"/ #", &mut line);
    console.say(2_000_000_000, &of("motor"), words(" stopped", &[]));
    console.say(3_000_000_000, &of("motor"), words(" restarts", &[]));
    console.write(1, "linux", 4_000_000_000, b" ls\n", &mut line);
    assert_eq!(
        String::from_utf8(line.0).unwrap(),
        "[    1.000000000] linux| / #\r\n\
         [    2.000000000] mortise| motor stopped\r\n\
         [    3.000000000] mortise| motor restarts\r\n\
         [    1.000000000] linux+  ls\r\n"
    );
}

#[test]
fn lost_messages_are_counted() {
    let (mut console, mut line) = (Console::new(), Line::default());
    for number in 0..11 {
        console.say(number, &of(""), words("{}", &[Argument::Decimal(number)]));
    }
    while console.step(&mut line) {}
    console.say(11, &of(""), words("more", &[]));
    while console.step(&mut line) {}
    let shown = String::from_utf8(line.0).unwrap();
    let texts: Vec<_> = shown
        .lines()
        .filter_map(|line| line.split("| ").nth(1))
        .collect();
    assert_eq!(
        texts,
        [
            "0",
            "1",
            "2",
            "3",
            "4",
            "5",
            "6",
            "7",
            "lines lost: 3",
            "more"
        ]
    );
}

#[test]
fn a_last_message_has_each_of_its_lines_begun_and_ended() {
    let mut line = Line::default();
    let text = format_args!("panicked at {}:\nno {}", "boot.rs", "room");
    last_message(1_000_000_002, text, &mut line);
    assert_eq!(
        String::from_utf8(line.0).unwrap(),
        "[    1.000000002] mortise| panicked at boot.rs:\r\n[    1.000000002] mortise| no room\r\n"
    );
}

#[test]
fn a_message_interrupts_the_current_line() {
    let (mut console, mut line) = (Console::new(), Line::default());
    console.write(0, "motor", 1_000_000_000, b"half", &mut line);
    console.message(2_000_000_000, format_args!("of {}\nall", 1), &mut line);
    console.write(0, "motor", 3_000_000_000, b" done\n", &mut line);
    assert_eq!(
        String::from_utf8(line.0).unwrap(),
        "[    1.000000000] motor| half\r\n\
         [    2.000000000] mortise| of 1\r\n[    2.000000000] mortise| all\r\n\
         [    1.000000000] motor+  done\r\n"
    );
}

/// Writers on cores of their own, of which `order` says which one tries a step next, a microsecond
/// apart. Returns the bytes that each one has written, and how often a line was interrupted.
fn race(names: &[&str], order: impl Iterator<Item = usize>, length: usize) -> (Vec<usize>, usize) {
    let (mut console, mut line) = (Console::new(), Line::default());
    let names: Vec<Name> = names.iter().map(|name| of(name)).collect();
    let mut written = vec![0; names.len()];
    let mut now = 0;
    for vm in order {
        now += 1_000;
        let byte = match written[vm] % length {
            at if at == length - 1 => b'\n',
            _ => b'x',
        };
        let done = console.put(vm, byte, &mut line, || Attempt {
            name: &names[vm],
            now,
            core: vm,
        });
        written[vm] += usize::from(done == Progress::Written);
    }
    let interrupted = String::from_utf8(line.0).unwrap().matches("+ ").count();
    (written, interrupted)
}

#[test]
fn writers_that_print_at_once_have_whole_lines() {
    for names in [
        &["a", "bb"][..],
        &["left", "right"],
        &["w0", "w1", "w2", "w3"],
    ] {
        let steps = 40_000;
        let order = (0..steps).map(|step| step % names.len());
        let (written, interrupted) = race(names, order, 61);
        let total: usize = written.iter().sum();
        assert!(total > steps / (4 * names.len()), "{written:?}");
        assert!(
            written.iter().all(|&it| it * 4 * names.len() > total),
            "{written:?}"
        );
        assert_eq!(interrupted, 0, "a line takes less than a turn");
    }
}

#[test]
fn a_line_without_an_end_is_kept_for_two_turns() {
    let (mut console, mut line) = (Console::new(), Line::default());
    console.write(0, "linux", 1_000_000_000, b"/ # ", &mut line);
    let motor = of("motor");
    let mut put = |core, now| {
        let mut last = Progress::More;
        while last == Progress::More {
            last = console.put(1, b'x', &mut line, || Attempt {
                name: &motor,
                now,
                core,
            });
        }
        last
    };
    assert_eq!(put(1, 1_000_000_000), Progress::Held);
    assert_eq!(put(1, 1_000_000_000 + 2 * TURN - 1), Progress::Held);
    assert_eq!(put(1, 1_000_000_000 + 2 * TURN), Progress::Written);
}

/// A console, and attempts to write by one of several writers, each on a core of its own.
#[derive(Default)]
struct Writers(Console, Line);

impl Writers {
    /// Tries to write a byte until it is written or another writer has the line.
    fn put(&mut self, writer: usize, now: u64, byte: u8) -> Progress {
        let name = &of("any");
        let attempt = Attempt {
            name,
            now,
            core: writer,
        };
        let mut step = || self.0.put(writer, byte, &mut self.1, || attempt);
        std::iter::repeat_with(&mut step)
            .find(|progress| *progress != Progress::More)
            .unwrap()
    }

    /// Tries to begin a line, and ends it.
    fn line(&mut self, writer: usize, now: u64) -> Progress {
        match self.put(writer, now, b'x') {
            Progress::Written => self.put(writer, now, b'\n'),
            other => other,
        }
    }
}

#[test]
fn a_writer_goes_on_with_whole_lines_in_its_turn() {
    let mut writers = Writers::default();
    assert_eq!(writers.put(0, 1, b'x'), Progress::Written);
    assert_eq!(writers.put(1, 2, b'x'), Progress::Held);
    assert_eq!(writers.put(0, 3, b'\n'), Progress::Written);
    assert_eq!(writers.line(0, TURN), Progress::Written);
    // Its turn has ended.
    assert_eq!(writers.line(0, TURN + 1), Progress::Held);
    assert_eq!(writers.line(1, TURN + 2), Progress::Written);
}

#[test]
fn the_writer_that_waits_longest_is_next() {
    let mut writers = Writers::default();
    assert_eq!(writers.put(0, 1, b'x'), Progress::Written);
    for (waiting, now) in [(2, 2), (1, 3), (3, 4)] {
        assert_eq!(writers.put(waiting, now, b'x'), Progress::Held);
    }
    assert_eq!(writers.put(0, TURN, b'\n'), Progress::Written);
    for waiting in [0, 1, 3] {
        assert_eq!(writers.line(waiting, TURN + 1), Progress::Held);
    }
    assert_eq!(writers.put(2, TURN + 2, b'x'), Progress::Written);
    // The second one asks again, after the third one.
    assert_eq!(writers.put(3, TURN + 3, b'x'), Progress::Held);
    assert_eq!(writers.put(1, TURN + 4, b'x'), Progress::Held);
    let later = 2 * TURN + 2;
    assert_eq!(writers.put(2, later, b'\n'), Progress::Written);
    assert_eq!(writers.line(3, later), Progress::Held);
    assert_eq!(writers.line(1, later), Progress::Written);
}

#[test]
fn the_line_does_not_wait_for_a_writer_that_does_not_come() {
    let mut writers = Writers::default();
    assert_eq!(writers.put(0, 1, b'x'), Progress::Written);
    assert_eq!(writers.put(1, 2, b'x'), Progress::Held);
    let ended = TURN + 1;
    assert_eq!(writers.put(0, ended, b'\n'), Progress::Written);
    assert_eq!(writers.line(0, ended), Progress::Held);
    assert_eq!(writers.line(0, ended + TURN / 4 - 1), Progress::Held);
    assert_eq!(writers.line(0, ended + TURN / 4), Progress::Written);
    // Nor is it kept for that writer after the next turn.
    assert_eq!(writers.line(0, ended + 2 * TURN), Progress::Written);
}

#[test]
fn on_the_core_of_the_line_no_writer_waits() {
    let (mut console, mut line) = (Console::new(), Line::default());
    console.write(0, "linux", 1, b"half", &mut line);
    console.write(1, "motor", 1, b"tick\n", &mut line);
    assert!(
        String::from_utf8(line.0)
            .unwrap()
            .ends_with("motor| tick\r\n")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Neither names nor the order in which cores try decide which writer proceeds.
    #[test]
    fn each_writer_proceeds(
        writers in 2..=4usize, length in 2..200usize,
        seed: u64,
    ) {
        let names = ["a", "bb", "left", "rightmost"];
        let steps = 30_000;
        // A linear congruential generator.
        let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        let order = std::iter::successors(Some(seed), next).map(|state| (state >> 33) as usize % writers);
        let order = order.take(steps);
        let (written, _) = race(&names[..writers], order, length);
        prop_assert!(written.iter().all(|&bytes| bytes > steps / 1000), "{:?}", written);
    }

    /// A writer that looks only every 10 ms, as log rings are emptied, has its turn too.
    #[test]
    fn a_rare_writer_proceeds(length in 2..200usize) {
        let order = (0..200_000).map(|step| usize::from(step % 10_000 < 200 && step % 2 == 0));
        let (written, _) = race(&["linux", "motor"], order, length);
        prop_assert!(written[1] > 20, "{:?}", written);
    }
}

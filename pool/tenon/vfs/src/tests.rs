//! Tests of [`Tree`](crate::Tree).

use super::*;
use proptest::prelude::*;

/// An archive of files: path, mode, content.
fn archive(files: &[(&str, u32, &str)]) -> &'static [u8] {
    let mut bytes = Vec::new();
    for (number, (path, mode, content)) in (1..).zip(files.iter().chain([&("TRAILER!!!", 0, "")])) {
        let (size, length) = (content.len(), path.len() + 1);
        let fields = [
            number,
            *mode,
            0,
            0,
            1,
            0,
            size as u32,
            0,
            0,
            0,
            0,
            length as u32,
            0,
        ];
        bytes.extend(b"070701");
        for field in fields {
            bytes.extend(format!("{field:08x}").bytes());
        }
        for part in [format!("{path}\0"), (*content).to_owned()] {
            bytes.extend(part.bytes());
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
    }
    bytes.leak()
}

const DIRECTORY: u32 = 0o40_755;
const FILE: u32 = 0o100_644;
const LINK: u32 = 0o120_777;

fn tree() -> Tree {
    Tree::new(archive(&[
        (".", DIRECTORY, ""),
        ("./bin", DIRECTORY, ""),
        ("bin/busybox", 0o100_755, "program"),
        ("/bin/sh", LINK, "busybox"),
        ("lib", LINK, "/usr/lib"),
        ("usr", DIRECTORY, ""),
        ("usr/lib", DIRECTORY, ""),
        ("usr/lib/name", FILE, "Tenon"),
        ("usr/lib/up", LINK, "../../bin"),
        ("round", LINK, "about"),
        ("about", LINK, "round"),
        ("void", LINK, "nowhere"),
        ("fifo", 0o010_644, ""),
    ]))
}

#[test]
fn links_are_followed_where_posix_says_so() {
    let find = |base, path, follow| tree().find(base, path, follow).map(|n| (n.kind, n.path));
    let program = Kind::File(b"program");
    for (base, name, at) in [
        ("", "/bin/busybox", "bin/busybox"),
        ("", "bin//busybox", "bin/busybox"),
        ("bin", "sh", "bin/busybox"),
        ("usr", "../bin/./sh", "bin/busybox"),
        ("", "../../bin/sh", "bin/busybox"),
        ("", "lib/up/sh", "bin/busybox"),
    ] {
        assert_eq!(find(base, name, true), Ok((program, at)), "{name}");
    }
    let link = |target, at| Ok((Kind::Link(target), at));
    assert_eq!(find("", "bin/sh", false), link("busybox", "bin/sh"));
    assert_eq!(find("", "lib/up", false), link("../../bin", "usr/lib/up"));
    assert_eq!(
        find("", "lib/name", true),
        Ok((Kind::File(b"Tenon"), "usr/lib/name"))
    );
    assert_eq!(find("", "/", true), Ok((Kind::Directory, "")));
    assert_eq!(find("", "dev", true), Ok((Kind::Directory, "dev")));
}

#[test]
fn what_is_not_there_is_an_error() {
    let find = |path| tree().find("", path, true).map(|node| node.number);
    assert_eq!(find(""), Err(Error::NotFound));
    assert_eq!(find("bin/ls"), Err(Error::NotFound));
    assert_eq!(find("void"), Err(Error::NotFound));
    assert_eq!(find("fifo"), Err(Error::NotFound));
    assert_eq!(find("bin/busybox/x"), Err(Error::NotDirectory));
    assert_eq!(find("dev/null/x"), Err(Error::NotDirectory));
    assert_eq!(find("bin/sh/.."), Err(Error::NotDirectory));
    assert_eq!(find("round"), Err(Error::Loop));
    assert_eq!(find(&"/x".repeat(PATH)), Err(Error::TooLong));
    assert_eq!(
        Tree::new(b"no archive").find("", "bin", true).unwrap_err(),
        Error::NotFound
    );
}

#[test]
fn a_directory_lists_its_own_entries() {
    let tree = tree();
    let list = |path| {
        let directory = tree.find("", path, true).unwrap();
        let names = (0..).map_while(|index| tree.entry(&directory, index));
        names.map(|(name, ..)| name).collect::<Vec<_>>()
    };
    assert_eq!(list("bin"), ["busybox", "sh"]);
    assert_eq!(list("lib"), ["name", "up"]);
    assert_eq!(list("dev"), ["null", "zero", "console", "tty"]);
    assert_eq!(list("/"), ["bin", "lib", "usr", "round", "about", "void"]);
}

#[test]
fn numbers_are_unique() {
    let tree = tree();
    let number = |path| tree.find("", path, true).unwrap().number;
    let mut numbers = ["bin", "bin/sh", "usr", "lib", "dev/null", "dev/zero"].map(number);
    numbers.sort_unstable();
    assert!(
        numbers
            .windows(2)
            .all(|pair| 0 < pair[0] && pair[0] < pair[1])
    );
}

proptest! {
    #[test]
    fn any_bytes_and_any_path_are_answered(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        cut in 0..2000usize,
        path in "[./a-z]{0,40}",
    ) {
        let whole = tree().0;
        for archive in [&bytes[..], &whole[..cut.min(whole.len())]] {
            let tree = Tree::new(archive.to_vec().leak());
            let _ = tree.find("", &path, true);
            if let Ok(node) = tree.find("bin", &path, false) {
                prop_assert!(!node.path.starts_with('/'));
                let _ = tree.entry(&node, 3);
            }
        }
    }
}

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

fn content() -> &'static [u8] {
    archive(&[
        (".", DIRECTORY, ""),
        ("./bin", 0o40_750, ""),
        ("bin/busybox", 0o100_755, "program"),
        ("/bin/sh", LINK, "busybox"),
        ("lib", LINK, "/usr/lib"),
        ("usr/lib/name", FILE, "Tenon"),
        ("usr/lib/up", LINK, "../../bin"),
        ("round", LINK, "about"),
        ("about", LINK, "round"),
        ("void", LINK, "nowhere"),
        ("fifo", 0o010_644, ""),
        ("bin/sh/x", FILE, "below a link"),
        ("../out", FILE, ""),
    ])
}

/// The tree of an archive.
fn tree_of(archive: &'static [u8]) -> (Tree, Frames) {
    let mut frames = Frames::of_host(32);
    let tree = Tree::new(archive, &mut frames).unwrap();
    (tree, frames)
}

fn find(tree: &Tree, base: u32, path: &str, follow: bool) -> Result<u32, Error> {
    tree.find(base, &mut Path::of(path.as_bytes())?, follow)?
        .inode()
}

/// The content and the kind of an inode.
fn read(tree: &Tree, number: u32) -> (Kind, String) {
    let mut bytes = [0; 32];
    let length = tree.files.read(number, 0, &mut bytes).unwrap();
    let kind = tree.files.inode(number).unwrap().kind;
    (kind, String::from_utf8(bytes[..length].to_vec()).unwrap())
}

#[test]
fn links_are_followed_where_posix_says_so() {
    let (tree, _) = tree_of(content());
    let at = |path: &str| find(&tree, ROOT, path, true).unwrap();
    let program = at("/bin/busybox");
    for (base, name) in [
        ("/", "bin//busybox"),
        ("bin", "sh"),
        ("usr", "../bin/./sh"),
        ("/", "../../bin/sh"),
        ("/", "lib/up/sh"),
    ] {
        assert_eq!(find(&tree, at(base), name, true), Ok(program), "{name}");
    }
    assert_eq!(read(&tree, program), (Kind::File, "program".to_owned()));
    for (name, target) in [("bin/sh", "busybox"), ("lib/up", "../../bin")] {
        let link = find(&tree, ROOT, name, false).unwrap();
        assert_eq!(read(&tree, link), (Kind::Link, target.to_owned()));
    }
    assert_eq!(find(&tree, ROOT, "lib/", false), Ok(at("usr/lib")));
    assert_eq!(at("/"), ROOT);
    assert_eq!(tree.files.inode(at("bin")).unwrap().permissions, 0o750);
    for (name, device) in Device::ALL {
        let number = at(&format!("/dev/{name}"));
        assert_eq!(tree.device(number), Some(device));
    }
    let descriptors = find(&tree, ROOT, "dev/fd", false).unwrap();
    assert_eq!(
        read(&tree, descriptors),
        (Kind::Link, "/proc/self/fd".to_owned())
    );
}

#[test]
fn what_is_not_there_is_an_error() {
    let (tree, _) = tree_of(content());
    let find = |path: &str| find(&tree, ROOT, path, true);
    for path in ["", "bin/ls", "void", "fifo", "out", "void/x"] {
        assert_eq!(find(path), Err(FileError::NotFound.into()), "{path}");
    }
    for path in ["bin/busybox/x", "dev/null/x", "bin/sh/..", "bin/sh/"] {
        assert_eq!(find(path), Err(FileError::NotDirectory.into()), "{path}");
    }
    assert_eq!(find("round"), Err(Error::Loop));
    assert_eq!(find(&"/x".repeat(PATH)), Err(Error::TooLong));
    assert_eq!(find(&"x".repeat(NAME + 1)), Err(Error::TooLong));
    let (empty, _) = tree_of(b"no archive");
    let names = |at| {
        empty
            .files
            .entry(at, 0)
            .unwrap()
            .map(|entry| entry.name().to_vec())
    };
    assert_eq!(names(ROOT), Some(b"dev".to_vec()));
}

#[test]
fn a_path_names_what_can_be_created() {
    let (mut tree, mut frames) = tree_of(content());
    let mut path = Path::of(b"lib/new/").unwrap();
    let found = tree.find(ROOT, &mut path, true).unwrap();
    assert_eq!((found.node, found.slash), (None, true));
    assert_eq!(path.text(&found.name), b"new");
    let made = tree.files.create(
        found.parent,
        path.text(&found.name),
        Kind::Directory,
        0o755,
        &mut frames,
    );
    let mut to = [0; 16];
    let start = tree.path_of(made.unwrap(), &mut to).unwrap();
    assert_eq!(&to[start..], b"/usr/lib/new");
    assert_eq!(tree.path_of(ROOT, &mut to), Ok(15));
    assert_eq!(
        tree.path_of(made.unwrap(), &mut to[..11]),
        Err(Error::TooLong)
    );
    tree.files
        .remove(found.parent, b"new", &mut frames)
        .unwrap();
    assert_eq!(
        tree.find(ROOT, &mut Path::of(b"lib/..").unwrap(), true)
            .unwrap()
            .name,
        0..0
    );
}

/// A walk that stays below a root.
struct Within {
    root: u32,
    confined: bool,
    links: bool,
}

impl Walk for Within {
    fn may_search(&self, _: &Inode) -> bool {
        true
    }

    fn root(&self) -> u32 {
        self.root
    }

    fn is_confined(&self) -> bool {
        self.confined
    }

    fn check_link(&self, _: &Inode) -> Result<(), Error> {
        self.links.then_some(()).ok_or(Error::Loop)
    }
}

#[test]
fn a_root_is_not_left() {
    let (tree, _) = tree_of(content());
    let at = |path: &str| find(&tree, ROOT, path, true).unwrap();
    let (root, name) = (at("usr"), at("usr/lib/name"));
    let within = |path: &str, confined: bool, links: bool| {
        let walk = Within {
            root,
            confined,
            links,
        };
        let mut path = Path::of(path.as_bytes()).unwrap();
        tree.find_by(root, &mut path, true, &walk)?.inode()
    };
    for path in [
        "lib/name",
        "/lib/name",
        "../../lib/name",
        "lib/../../lib/name",
    ] {
        assert_eq!(within(path, false, true), Ok(name), "{path}");
    }
    assert_eq!(within("lib/../lib/name", true, true), Ok(name));
    for path in ["/lib/name", "../lib/name", "lib/../../lib/name", "lib/up/x"] {
        assert_eq!(within(path, true, true), Err(Error::Crossed), "{path}");
    }
    assert_eq!(within("lib/up", true, false), Err(Error::Loop));
    // What is above the root is left by the tree's own alone.
    assert_eq!(
        within("lib/up", false, true),
        Err(FileError::NotFound.into())
    );
    let mut to = [0; 16];
    let (start, below) = tree.path_from(root, at("usr/lib"), &mut to).unwrap();
    assert_eq!((&to[start..], below), (&b"/lib"[..], true));
    let (start, below) = tree.path_from(root, at("bin"), &mut to).unwrap();
    assert_eq!((&to[start..], below), (&b"/bin"[..], false));
}

proptest! {
    #[test]
    fn any_bytes_and_any_path_are_answered(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        cut in 0..2000usize,
        path in "[./a-z]{0,40}",
    ) {
        let whole = content();
        for archive in [&bytes[..], &whole[..cut.min(whole.len())]] {
            let (tree, _) = tree_of(archive.to_vec().leak());
            if let Ok(node) = find(&tree, ROOT, &path, false) {
                prop_assert!(tree.files.inode(node).is_ok());
            }
        }
    }
}

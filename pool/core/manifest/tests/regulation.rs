//! Regulation: what is accepted, and how the rest is refused.

mod common;

use common::{Builder, linux, motor, system};
use core_manifest::Regulation;

fn node() -> Builder {
    Builder::new("regulation")
        .cells("event", &[0x17])
        .cells("limit", &[5_000])
        .wide("interval", &[1_000_000])
}

fn parse(node: Builder) -> Result<Option<Regulation>, String> {
    let tree = system([motor(), linux()]).child(node).tree();
    Regulation::parse(&tree).map_err(|error| error.to_string())
}

#[test]
fn it_is_understood() {
    let expected = Regulation {
        event: 0x17,
        limit: 5_000,
        interval: 1_000_000,
    };
    assert_eq!(parse(node()), Ok(Some(expected)));
    assert_eq!(parse(Builder::new("other")), Ok(None));
}

#[test]
fn what_is_wrong_is_named() {
    for (node, expected) in [
        (node().without("event"), "event"),
        (node().cells("event", &[32]), "event"),
        (node().cells("limit", &[0]), "limit"),
        (node().cells("limit", &[1, 1]), "limit"),
        (node().wide("interval", &[99_999]), "interval"),
        (node().wide("interval", &[100_000_001]), "interval"),
        (node().without("interval"), "interval"),
    ] {
        let error = parse(node).unwrap_err();
        assert!(
            error.starts_with("regulation: ") && error.contains(expected),
            "{error}"
        );
    }
}

use crate::{Connection, HEAD, HTML, JSON, Method, Page, Request, Server, Status, Text};
use core::fmt::Write;
use proptest::prelude::*;

const PAGES: &[Page] = &[
    Page {
        path: "/",
        kind: HTML,
        write: |text| text.write_str("<p>It runs."),
    },
    Page {
        path: "/numbers.json",
        kind: JSON,
        write: |text| write!(text, "[{}]", 7),
    },
    Page {
        path: "/long",
        kind: HTML,
        write: |text| (0..100).try_for_each(|_| text.write_str("a long line")),
    },
];

/// A client that sends these bytes, `step` at a time, and keeps what it receives.
struct Client<'a> {
    sends: &'a [u8],
    step: usize,
    received: Vec<u8>,
}

impl Connection for Client<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let length = self.step.min(self.sends.len()).min(buffer.len());
        let (now, later) = self.sends.split_at(length);
        buffer[..length].copy_from_slice(now);
        self.sends = later;
        Some(length)
    }

    fn write(&mut self, bytes: &[u8]) -> Option<usize> {
        let length = self.step.min(bytes.len());
        self.received.extend(&bytes[..length]);
        Some(length)
    }
}

fn answer_in_steps(request: &[u8], step: usize) -> String {
    let mut client = Client {
        sends: request,
        step,
        received: Vec::new(),
    };
    Server::<256>::new(PAGES).serve(&mut client);
    String::from_utf8(client.received).unwrap()
}

fn answer(request: &str) -> String {
    answer_in_steps(request.as_bytes(), 1 << 20)
}

fn status(request: &str) -> String {
    let answer = answer(request);
    let (line, rest) = answer.split_once("\r\n").unwrap();
    assert!(line.starts_with("HTTP/1.1 200") || rest.contains("Content-Length: 0\r\n"));
    line.strip_prefix("HTTP/1.1 ").unwrap().to_string()
}

const GET: &str = "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\nConnection: close\r\n\r\n";

#[test]
fn a_page_is_served_with_its_length() {
    let whole = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 11\r\n\
        Cache-Control: no-store\r\nConnection: close\r\n\r\n<p>It runs.";
    assert_eq!(answer(GET), whole);
    for step in [1, 2, 7, 60] {
        assert_eq!(answer_in_steps(GET.as_bytes(), step), whole);
    }
    let numbers = answer("GET /numbers.json?at=1 HTTP/1.0\r\n\r\n");
    assert!(numbers.contains("Content-Type: application/json\r\n"));
    assert!(numbers.ends_with("\r\n\r\n[7]"));
    let absolute = answer("GET http://10.0.0.1/numbers.json HTTP/1.1\r\nhost:\t10.0.0.1\n\n");
    assert_eq!(absolute, numbers);
    assert_eq!(answer(&GET.replace("/ ", "HTTP://10.0.0.1 ")), whole);
}

#[test]
fn the_head_of_a_page_has_the_length_of_the_page() {
    let head = answer(&GET.replace("GET", "HEAD"));
    assert_eq!(format!("{head}<p>It runs."), answer(GET));
}

#[test]
fn errors_have_a_status_and_no_content() {
    let line = |line: &str| status(&GET.replace("GET / HTTP/1.1", line));
    assert_eq!(line("GET /none HTTP/1.1"), "404 Not Found");
    assert_eq!(line("POST / HTTP/1.1"), "405 Method Not Allowed");
    assert_eq!(line("POST /none HTTP/1.1"), "404 Not Found");
    assert_eq!(line("GET / HTTP/2.0"), "505 HTTP Version Not Supported");
    assert_eq!(line("GET /long HTTP/1.1"), "500 Internal Server Error");
    for wrong in [
        "",
        "GET",
        "GET /",
        "GET / HTTP",
        "GET / HTTP/1.1 ",
        "GET  / HTTP/1.1",
        "GET none HTTP/1.1",
        "GET /\u{e9} HTTP/1.1",
        "G(T / HTTP/1.1",
        " / HTTP/1.1",
        "GET / http/1.1",
        "GET / HTTP/1.10",
        "GET ftp://host/ HTTP/1.1",
    ] {
        assert_eq!(line(wrong), "400 Bad Request", "{wrong}");
    }
    let field = |field: &str| status(&GET.replace("Connection: close", field));
    for wrong in [
        "none",
        " folded: none",
        "Name : value",
        ": value",
        "Name: a\0b",
        "Host: other",
        "Content-Length: x",
        "Content-Length: -1",
        "Content-Length:",
        "Content-Length: 18446744073709551616",
        "Content-Length: 0\r\nContent-Length: 1",
    ] {
        assert_eq!(field(wrong), "400 Bad Request", "{wrong}");
    }
    assert_eq!(field("Content-Length: 0"), "200 OK");
    assert_eq!(field("content-length: 1"), "413 Content Too Large");
    assert_eq!(field("Transfer-Encoding: chunked"), "413 Content Too Large");
    assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "400 Bad Request");
    let allowed = answer(&GET.replace("GET", "DELETE"));
    assert!(allowed.contains("\r\nAllow: GET, HEAD\r\n"));
}

#[test]
fn a_head_beyond_the_buffer_is_refused_and_one_that_fits_is_not() {
    let of = |length: usize| {
        let rest = length - GET.len() + "close".len();
        GET.replace("close", &"x".repeat(rest))
    };
    assert_eq!(of(HEAD).len(), HEAD);
    assert_eq!(status(&of(HEAD)), "200 OK");
    assert_eq!(status(&of(HEAD + 1)), "431 Request Header Fields Too Large");
}

#[test]
fn a_client_that_ends_early_gets_no_answer() {
    for length in 0..GET.len() {
        assert_eq!(answer(&GET[..length]), "");
    }
}

#[test]
fn a_client_that_is_gone_ends_the_answer() {
    struct Gone(usize);
    impl Connection for Gone {
        fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
            buffer[..GET.len()].copy_from_slice(GET.as_bytes());
            Some(GET.len())
        }
        fn write(&mut self, bytes: &[u8]) -> Option<usize> {
            self.0 = self.0.checked_sub(1)?;
            Some(bytes.len().min(10))
        }
    }
    let length = answer(GET).len() - "<p>It runs.".len();
    let needed = length.div_ceil(10) + 2;
    for writes in 0..2 * needed {
        let mut client = Gone(writes);
        Server::<256>::new(PAGES).serve(&mut client);
        assert_eq!(client.0, writes.saturating_sub(needed));
    }
}

#[test]
fn text_beyond_its_buffer_is_refused_whole() {
    let mut buffer = [0; 4];
    let mut text = Text::new(&mut buffer);
    assert!(text.write_str("abc").is_ok());
    assert!(text.write_str("de").is_err());
    assert!(text.write_str("d").is_ok());
    assert_eq!(text.bytes(), b"abcd");
}

proptest! {
    /// What a client sends is answered or not, and never read beyond its head.
    #[test]
    fn any_request_is_survived(
        changes in prop::collection::vec(any::<(u8, u8)>(), 0..6),
        tail in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut bytes = GET.as_bytes().to_vec();
        bytes.extend(tail);
        for (place, value) in changes {
            let place = usize::from(place) % bytes.len();
            bytes[place] = value;
        }
        if let Ok(Some(request)) = Request::parse(&bytes) {
            prop_assert!(request.path.starts_with('/'));
            prop_assert!(matches!(request.method, Method::Get | Method::Head | Method::Other));
        }
        // A longer head has the result of its begin, once that has one.
        for length in 0..bytes.len() {
            let short = Request::parse(&bytes[..length]);
            if matches!(short, Ok(Some(_)) | Err(Status::ContentTooLarge)) {
                prop_assert_eq!(short, Request::parse(&bytes));
            }
        }
        let answer = answer_in_steps(&bytes, 9);
        prop_assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 "));
    }
}

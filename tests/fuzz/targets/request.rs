//! Requests of HTTP: the head of a request, and the answer to it.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use std::fmt::Write;
use tenon_http::{Connection, HTML, Page, Request, Server};

const PAGES: &[Page] = &[Page {
    path: "/",
    kind: HTML,
    write: |text| text.write_str("<p>It runs."),
}];

/// A client that sends the input, some bytes at a time, and reads as many.
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

/// Parts of requests, which inputs consist of.
const PARTS: [&[u8]; 8] = [
    b"GET / HTTP/1.1\r\n",
    b"Host: tenon\r\n",
    b"HEAD http://tenon/ HTTP/1.0\r\n",
    b"Content-Length: ",
    b"\r\n",
    b": ",
    b" ",
    b"",
];

target!(|input: (u8, Vec<(u8, Vec<u8>)>)| {
    let (step, parts) = input;
    let join = |(part, rest): &(u8, Vec<u8>)| [PARTS[usize::from(part % 8)], rest].concat();
    let bytes: Vec<u8> = parts.iter().flat_map(join).collect();
    if let Ok(Some(request)) = Request::parse(&bytes) {
        assert!(request.path.starts_with('/'), "a path without a slash");
    }
    let mut client = Client {
        sends: &bytes,
        step: usize::from(step).max(1),
        received: Vec::new(),
    };
    Server::<64>::new(PAGES).serve(&mut client);
    let answer = client.received;
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 "),
        "no response"
    );
});

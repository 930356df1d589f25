//! [`Server`]: answers requests with the pages of an application.

use crate::{Method, Request, Status, Text};
use core::fmt::{self, Write};
use core::time::Duration;
use tenon_inet::{Error, TcpListener, TcpStream};
use tenon_thread::time::Instant;

/// Most bytes of the head of a request.
pub const HEAD: usize = 1024;

/// Time in which a client sends its request, and in which it receives the response.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Most bytes of the head of a response.
const ANSWER: usize = 256;

/// A page of the application.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its path, with a slash first.
    pub path: &'static str,
    /// Its media type (RFC 9110, 8.3), such as [`HTML`](crate::HTML).
    pub kind: &'static str,
    /// Writes its content; called for each request.
    pub write: fn(&mut Text<'_>) -> fmt::Result,
}

/// A connection to a client, or a model of one.
pub trait Connection {
    /// Copies received bytes into `buffer`; returns their number, or `None` at the end of what the
    /// client sends, or when it takes too long.
    fn read(&mut self, buffer: &mut [u8]) -> Option<usize>;
    /// Sends some of these bytes; returns their number, or `None` if the client is gone.
    fn write(&mut self, bytes: &[u8]) -> Option<usize>;
}

/// Answer to a request.
#[derive(Debug)]
pub struct Response<'a> {
    /// Its status.
    pub status: Status,
    /// Content, empty with an error.
    content: &'a [u8],
    /// Media type of the content.
    kind: &'static str,
    /// Whether the content is sent.
    is_whole: bool,
}

impl Response<'_> {
    /// Content that is sent behind the head.
    #[must_use]
    pub const fn content(&self) -> &[u8] {
        if self.is_whole { self.content } else { &[] }
    }

    /// Writes the head.
    ///
    /// # Errors
    ///
    /// If it does not fit.
    pub fn write_head(&self, text: &mut Text<'_>) -> fmt::Result {
        write!(text, "HTTP/1.1 {}\r\n", self.status.line())?;
        if self.status == Status::MethodNotAllowed {
            text.write_str("Allow: GET, HEAD\r\n")?;
        }
        if self.status == Status::Ok {
            write!(text, "Content-Type: {}\r\n", self.kind)?;
        }
        let length = self.content.len();
        write!(text, "Content-Length: {length}\r\n")?;
        text.write_str("Cache-Control: no-store\r\nConnection: close\r\n\r\n")
    }
}

/// A server with a table of pages, each of at most `CONTENT` bytes.
#[derive(Debug)]
pub struct Server<const CONTENT: usize> {
    pages: &'static [Page],
    request: [u8; HEAD],
    content: [u8; CONTENT],
}

impl<const CONTENT: usize> Server<CONTENT> {
    /// A server of these pages.
    #[must_use]
    pub const fn new(pages: &'static [Page]) -> Self {
        Self {
            pages,
            request: [0; HEAD],
            content: [0; CONTENT],
        }
    }

    /// Answers requests to a port, as long as there is a network.
    ///
    /// # Errors
    ///
    /// If connections are no longer accepted.
    pub fn run(&mut self, listener: &mut TcpListener) -> Result<(), Error> {
        loop {
            let (stream, _) = listener.accept(None)?;
            self.serve(&mut Client {
                stream,
                deadline: Instant::now() + PATIENCE,
                has_request: false,
            });
        }
    }

    /// Reads a request and answers it. A client that ends before its request does gets no answer.
    pub fn serve(&mut self, client: &mut impl Connection) {
        let mut length = 0;
        let request = loop {
            let (head, free) = self.request.split_at_mut(length);
            match Request::parse(head) {
                Ok(None) if free.is_empty() => break Err(Status::HeadTooLarge),
                Ok(None) => match client.read(free) {
                    Some(read @ 1..) => length += read,
                    _ => return,
                },
                Ok(Some(request)) => break Ok(request),
                Err(status) => break Err(status),
            }
        };
        let response = respond(self.pages, request, &mut self.content);
        let mut head = [0; ANSWER];
        let mut text = Text::new(&mut head);
        if response.write_head(&mut text).is_err() {
            // A media type longer than the buffer.
            return;
        }
        for mut rest in [text.bytes(), response.content()] {
            while !rest.is_empty() {
                match client.write(rest) {
                    Some(written @ 1..) => rest = rest.get(written..).unwrap_or(&[]),
                    _ => return,
                }
            }
        }
    }
}

/// The response to a request, or to one with an error.
fn respond<'a>(
    pages: &[Page],
    request: Result<Request<'_>, Status>,
    content: &'a mut [u8],
) -> Response<'a> {
    let refuse = |status| Response {
        status,
        content: &[],
        kind: "",
        is_whole: false,
    };
    let request = match request {
        Ok(request) => request,
        Err(status) => return refuse(status),
    };
    let Some(page) = pages.iter().find(|page| page.path == request.path) else {
        return refuse(Status::NotFound);
    };
    if request.method == Method::Other {
        return refuse(Status::MethodNotAllowed);
    }
    let mut text = Text::new(content);
    if (page.write)(&mut text).is_err() {
        return refuse(Status::Internal);
    }
    let length = text.bytes().len();
    Response {
        status: Status::Ok,
        content: content.get(..length).unwrap_or(&[]),
        kind: page.kind,
        is_whole: request.method == Method::Get,
    }
}

/// A client behind a socket, with a time for its request and one for the response.
struct Client {
    stream: TcpStream,
    deadline: Instant,
    has_request: bool,
}

impl Connection for Client {
    fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        self.stream.read(buffer, Some(self.deadline)).ok()
    }

    fn write(&mut self, bytes: &[u8]) -> Option<usize> {
        if !self.has_request {
            self.has_request = true;
            self.deadline = Instant::now() + PATIENCE;
        }
        self.stream.write(bytes, Some(self.deadline)).ok()
    }
}

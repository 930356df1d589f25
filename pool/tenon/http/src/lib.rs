//! HTTP/1.1 server for pages that an application generates (RFC 9110 and 9112).
//!
//! # Purpose
//!
//! A [`Server`] has a table of [`Page`]s. [`Server::run`] accepts connections in the calling thread
//! and answers one request of each: GET and HEAD of a page, with its length; other requests with the
//! [`Status`] of their error. [`Request::parse`] is the parser.
//!
//! # Guarantees
//!
//! - Memory is that of the [`Server`]: a head of at most [`HEAD`] bytes and the content of one page.
//!   Nothing is allocated.
//! - A client occupies the server for [`PATIENCE`] in each direction at most. Other clients wait
//!   in the sockets of the network stack.
//! - A request is parsed once, in one pass over its head. Content is refused, not read.
//! - Threads at higher priorities do not wait for it.
//!
//! # Example
//!
//! ```no_run
//! use core::fmt::Write;
//! use tenon_http::{HTML, Page, Server};
//! use tenon_inet::{Error, TcpListener, start};
//!
//! static PAGES: [Page; 1] = [Page {
//!     path: "/",
//!     kind: HTML,
//!     write: |text| write!(text, "<!doctype html><title>Pump</title><p>It runs."),
//! }];
//!
//! fn serve() -> Result<(), Error> {
//!     start()?;
//!     let mut listener = TcpListener::bind(80)?;
//!     Server::<1024>::new(&PAGES).run(&mut listener)
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod request;
mod server;
mod status;
#[cfg(test)]
mod tests;
mod text;

pub use request::{Method, Request};
pub use server::{Connection, HEAD, PATIENCE, Page, Response, Server};
pub use status::Status;
pub use text::Text;

/// Media type of a page in HTML.
pub const HTML: &str = "text/html; charset=utf-8";

/// Media type of values in JSON.
pub const JSON: &str = "application/json";

//! [`Status`] of a response.

/// Status of a response (RFC 9110, 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The page follows.
    Ok,
    /// The request is malformed.
    BadRequest,
    /// There is no page at the path.
    NotFound,
    /// A method other than GET and HEAD.
    MethodNotAllowed,
    /// The request has content, which the server does not accept.
    ContentTooLarge,
    /// The head of the request is longer than the server's buffer (RFC 6585, 5).
    HeadTooLarge,
    /// The page does not fit into the server's buffer.
    Internal,
    /// A version other than 1.0 and 1.1.
    Version,
}

impl Status {
    /// Code and reason phrase.
    #[must_use]
    pub const fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::ContentTooLarge => "413 Content Too Large",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Internal => "500 Internal Server Error",
            Self::Version => "505 HTTP Version Not Supported",
        }
    }
}

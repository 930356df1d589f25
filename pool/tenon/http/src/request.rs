//! [`Request`]: the head of a request.

use crate::Status;

/// Method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The page.
    Get,
    /// The head of the response alone.
    Head,
    /// Any other.
    Other,
}

/// Head of a request without content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Method.
    pub method: Method,
    /// Path of the target, without a query; it begins with a slash.
    pub path: &'a str,
}

impl<'a> Request<'a> {
    /// Parses the head of a request, which ends with an empty line; `None` if it does not end yet.
    /// Bytes behind it are ignored.
    ///
    /// # Errors
    ///
    /// [`Status::BadRequest`] for a malformed head, [`Status::Version`] for a version other than
    /// 1.0 and 1.1, [`Status::ContentTooLarge`] for a request with content.
    pub fn parse(bytes: &'a [u8]) -> Result<Option<Self>, Status> {
        let mut rest = bytes;
        let Some(first) = line(&mut rest) else {
            return Ok(None);
        };
        let mut fields = Fields::default();
        loop {
            match line(&mut rest) {
                None => return Ok(None),
                Some([]) => break,
                Some(field) => fields.add(field)?,
            }
        }
        let (request, has_host) = request_line(first)?;
        if has_host && fields.hosts != 1 || fields.hosts > 1 {
            return Err(Status::BadRequest);
        }
        match fields.has_content {
            true => Err(Status::ContentTooLarge),
            false => Ok(Some(request)),
        }
    }
}

/// Takes the next line, without its end: a line feed, with a carriage return before it or without
/// (RFC 9112, 2.2).
fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, [_, after @ ..]) = rest.split_at_checked(end)? else {
        return None;
    };
    *rest = after;
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// Parses a request line; returns whether its version requires the field `Host` too (RFC 9112, 3).
fn request_line(line: &[u8]) -> Result<(Request<'_>, bool), Status> {
    let mut words = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Status::BadRequest);
    };
    if !is_token(method) {
        return Err(Status::BadRequest);
    }
    let has_host = match version {
        b"HTTP/1.1" => true,
        b"HTTP/1.0" => false,
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            return Err(Status::Version);
        }
        _ => return Err(Status::BadRequest),
    };
    let method = match method {
        b"GET" => Method::Get,
        b"HEAD" => Method::Head,
        _ => Method::Other,
    };
    let path = path(target).ok_or(Status::BadRequest)?;
    Ok((Request { method, path }, has_host))
}

/// Path of a target: a path itself, or an address with the name of a host (RFC 9112, 3.2).
fn path(target: &[u8]) -> Option<&str> {
    const SCHEME: &str = "http://";
    let text = str::from_utf8(target).ok()?;
    if !target.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    let whole = match text.get(..SCHEME.len()) {
        Some(start) if start.eq_ignore_ascii_case(SCHEME) => {
            let host = text.get(SCHEME.len()..)?;
            match host.find('/') {
                Some(at) => host.get(at..)?,
                None => "/",
            }
        }
        _ => text,
    };
    let path = whole.split('?').next()?;
    path.starts_with('/').then_some(path)
}

/// What the fields of a request state.
#[derive(Default)]
struct Fields {
    hosts: usize,
    has_content: bool,
    /// Length of the content, once stated.
    length: Option<u64>,
}

impl Fields {
    /// Adds a field: a name, a colon and a value (RFC 9112, 5).
    fn add(&mut self, field: &[u8]) -> Result<(), Status> {
        let colon = field.iter().position(|byte| *byte == b':');
        let (name, value) = colon
            .and_then(|at| field.split_at_checked(at))
            .ok_or(Status::BadRequest)?;
        let value = value.get(1..).unwrap_or(&[]).trim_ascii();
        if !is_token(name) || value.iter().any(|byte| is_control(*byte)) {
            return Err(Status::BadRequest);
        }
        if name.eq_ignore_ascii_case(b"host") {
            self.hosts += 1;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.has_content = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value).ok_or(Status::BadRequest)?;
            if self.length.is_some_and(|before| before != length) {
                return Err(Status::BadRequest);
            }
            self.length = Some(length);
            self.has_content |= length > 0;
        }
        Ok(())
    }
}

/// A decimal number.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Whether a byte is not allowed in the value of a field (RFC 9110, 5.5).
const fn is_control(byte: u8) -> bool {
    byte != b'\t' && byte.is_ascii_control()
}

/// Whether bytes are a token (RFC 9110, 5.6.2).
fn is_token(bytes: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !bytes.is_empty() && bytes.iter().all(is_part)
}

"""Client of the OpenAI chat protocol, over HTTP.

`OPENAI_BASE_URL` and `OPENAI_API_KEY` give address and key. All questions of a composition share
one limit of time and one of tokens. No redirect is followed: the key is for one server.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2

from tenonos import ui
from tenonos.errors import InputError, WorkError
from tenonos.plan.llm.reply import schema, shown
from tenonos.plan.llm.tape import Messages

URL, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
LARGEST = 1 << 20
"""The most bytes of an answer."""
REMEDIES = {
    401: f"check {KEY}",
    403: f"check {KEY}",
    404: f"check {URL} and --model",
    429: "wait, or ask another",
}


T = TypeVar("T")


class Refused(Exception):
    """An answer of the server with a status other than 200."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body
        super().__init__(status)


class Endpoint:
    """A server with a model."""

    place = "/chat/completions"
    """Path of the service below the address of the server."""

    def __init__(self, model: str, seconds: int, tokens: int) -> None:
        self.model = model
        self.seconds = seconds
        self.tokens = tokens
        self.url = _url(os.environ, self.place)
        self.key = os.environ.get(KEY, "").strip()
        if not self.key.isascii() or not self.key.isprintable():
            raise InputError("it has invalid characters", KEY)
        self.plain = False
        """Whether the server supports only the basic protocol."""

    def start(self, objective: str, board: str) -> None:
        """Start a new objective: reset the limits."""
        self.until = time.monotonic() + self.seconds
        self.left = self.tokens

    def ask(self, messages: Messages) -> str:
        """The model's answer to a conversation."""
        if self.left <= 0:
            raise self._error(f"{self.tokens} tokens gave no plan", "allow more with --tokens")
        return self._answered(lambda: self._content(self._posted(messages)))

    def _answered(self, ask: Callable[[], T]) -> T:
        """An answer, or a one-line error with the server's message."""
        try:
            return ask()
        except Refused as error:
            text = shown(error.body.decode("utf-8", "replace"), 200)
            text = text.replace(self.key, "…") if self.key else text
            what = f"status {error.status}" + (f": {text}" if text else "")
            raise self._error(what, REMEDIES.get(error.status)) from None

    def _posted(self, messages: Messages) -> bytes:
        """The answer; if a server refuses the form of the question, to its basic form."""
        if not self.plain:
            try:
                return self._post(self._question(messages))
            except Refused as error:
                if error.status not in (400, 422):
                    raise
                self.plain = True
        return self._post(self._question(messages))

    def _question(self, messages: Messages) -> dict[str, Any]:
        question: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if self.plain:
            return question | {"max_completion_tokens": self.left}
        form = {"name": "plan", "strict": True, "schema": schema()}
        return question | {
            "temperature": 0,
            "max_tokens": self.left,
            "response_format": {"type": "json_schema", "json_schema": form},
        }

    def _content(self, body: bytes) -> str:
        try:
            answer = json.loads(body)
            content = answer["choices"][0]["message"]["content"]
            usage = answer.get("usage")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            content = usage = None
        if not isinstance(content, str):
            raise self._error("its answer is not a chat completion", f"check {URL}")
        spent = usage.get("completion_tokens") if isinstance(usage, dict) else None
        # Without a count, one token is assumed for every four characters.
        self.left -= spent if isinstance(spent, int) and spent > 0 else len(content) // 4 + 1
        return content

    def _post(self, question: dict[str, Any]) -> bytes:
        """The body of the answer, within the remaining time.

        A socket's time-out applies to each read: a server that sends a byte now and then would
        never exceed it. So the exchange runs in a daemon thread, with a time limit here.
        """
        done: SimpleQueue[bytes | Exception] = SimpleQueue()
        left = self.until - time.monotonic()

        def work() -> None:
            try:
                done.put(self._exchange(question, left))
            except Exception as error:
                done.put(error)

        late = self._error(f"no answer in {self.seconds} seconds", "allow more with --seconds")
        if left <= 0:
            raise late
        threading.Thread(target=work, daemon=True).start()
        try:
            with ui.awaiting(
                f"waiting for a reply of {self.model} at {urlsplit(self.url).hostname}",
                f"--seconds ends it {math.ceil(left)} s after it began, Ctrl-C at once",
            ):
                outcome = done.get(timeout=left)
        except Empty:
            raise late from None
        if isinstance(outcome, bytes):
            return outcome
        if isinstance(outcome, httpx2.TimeoutException):
            raise late
        if isinstance(outcome, httpx2.HTTPError | httpx2.InvalidURL | OSError | ValueError):
            text = _reason(outcome)
            raise self._error(f"no answer: {shown(text)}", f"check {URL}")
        raise outcome

    def _exchange(self, question: dict[str, Any], seconds: float) -> bytes:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        # Escaped: a model's reply may contain lone surrogates, which UTF-8 cannot encode.
        content = json.dumps(question).encode()
        with (
            httpx2.Client(timeout=seconds, follow_redirects=False) as client,
            client.stream("POST", self.url, content=content, headers=headers) as answer,
        ):
            body = b""
            try:
                for part in answer.iter_bytes():
                    body += part
                    if len(body) > LARGEST:
                        raise ValueError(f"it is larger than {LARGEST} bytes")
            except httpx2.RemoteProtocolError:
                # A body shorter than its Content-Length: the parser of the answer decides.
                if "Content-Length" not in answer.headers:
                    raise
        if answer.status_code != httpx2.codes.OK:
            raise Refused(answer.status_code, body[:4096])
        return body

    def _error(self, what: str, mend: str | None) -> WorkError:
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return WorkError(what, f"{self.model} at {parts.hostname}{port}", mend)


def _reason(error: BaseException) -> str:
    """The innermost error message, of the system."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _url(environment: Mapping[str, str], place: str) -> str:
    """The address of the service, from the environment."""
    base = environment.get(URL, "").strip().rstrip("/")
    if not base:
        raise InputError("it is not set", URL, "set it, for example to http://localhost:8000/v1")
    try:
        parts = urlsplit(base)
        _ = parts.port
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good or not base.isascii() or not base.isprintable() or " " in base:
        raise InputError("it is not an HTTP address", URL, "as http://localhost:8000/v1")
    return f"{base}{place}"

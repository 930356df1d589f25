"""Models and servers that say what a test has them say."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-not-to-be-told"


class Script:
    """A model that answers what it is told to, the last answer again and again."""

    def __init__(self, *replies):
        self.replies = [r if isinstance(r, str) else json.dumps(r) for r in replies]
        self.heard = []

    def start(self, objective, board):
        pass

    def ask(self, messages):
        self.heard.append([dict(message) for message in messages])
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


class Server(ThreadingHTTPServer):
    """A server of the protocol that plays its steps: (status, body), or a function of a handler."""

    daemon_threads = True

    def __init__(self, *steps):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.steps = list(steps)
        self.asked = []
        self.stop = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), json.loads(body)))
        steps = self.server.steps
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        if callable(step):
            step(self)
            return
        status, body = step
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def chat(content, tokens=10):
    content = content if isinstance(content, str) else json.dumps(content)
    message = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    return 200, json.dumps(message | {"usage": {"completion_tokens": tokens}}).encode()


@contextmanager
def served(monkeypatch, *steps):
    server = Server(*steps)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    try:
        yield server
    finally:
        server.stop.set()
        server.shutdown()
        server.server_close()
        thread.join(5)

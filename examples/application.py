"""A small application that asks nobody for a password: the proxy in front of it says who is signed in.

    PORT=8000 python3 examples/application.py

It listens on the loopback address only. Whoever could reach it without the proxy could name any user.
"""

import html
import os
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Notes</title>
<h1>Notes of {email}</h1>
<p>You asked for <code>{path}</code>.</p>
<table>{headers}</table>
<p><a href="/dashboard">Your account</a></p>
<form method="post" action="/logout"><button>Log out</button></form>
"""


class Application(BaseHTTPRequestHandler):
    def do_GET(self):
        # Remote-User is the user's id. It stays when the address changes, so store this one. Without it, the request has not
        # passed the proxy, or the proxy let a client remove it.
        if not self.headers.get("Remote-User"):
            return self.send_error(403)
        remote = [(name, value) for name, value in self.headers.items() if name.lower().startswith("remote")]
        # A name is percent-encoded UTF-8.
        rows = [f"<tr><th>{html.escape(name)}<td>{html.escape(urllib.parse.unquote(value))}" for name, value in remote]
        page = PAGE.format(
            email=html.escape(self.headers.get("Remote-Email", "")),
            path=html.escape(self.path),
            headers="".join(rows),
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Application).serve_forever()

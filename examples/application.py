"""A small application that asks nobody for a password: the proxy in front of it says who is signed in.

    PORT=8000 python3 examples/application.py

It keeps a row for each user. Settings:

    DATABASE        the file of an SQLite database
    WEBHOOK_SECRET  Latchkey's: POST /webhooks takes its webhooks, and a deleted user's row goes
    JWKS_URL, ISSUER, AUDIENCE  it verifies Remote-Token (examples/verify.py, which needs PyJWT), and takes websockets at
                    /socket, which it closes when their session ends (WEBHOOK_SESSIONS=on for Latchkey)

It listens on the loopback address only. Without JWKS_URL, whoever could reach it past the proxy could name any user.
"""

import base64
import contextlib
import hashlib
import hmac
import html
import json
import os
import re
import socket
import sqlite3
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DATABASE = os.environ.get("DATABASE", "application.sqlite")
WEBHOOK_SECRET = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "").removeprefix("whsec_"))
JWKS_URL = os.environ.get("JWKS_URL")
if JWKS_URL:
    import jwt
    from verify import verifier

    verify = verifier(JWKS_URL, os.environ["ISSUER"], os.environ["AUDIENCE"])

UNVERIFIED = "no: set JWKS_URL, ISSUER and AUDIENCE, and IDENTITY_TOKENS=on for Latchkey"

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Notes</title>
<style>
:root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }}
body {{ max-width: 36rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }}
h1 {{ font-size: 1.5rem }}
dl {{ display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1rem }}
dd {{ margin: 0 }}
button {{ padding: 0.5rem 1rem; font: inherit }}
</style>
<h1>Notes of {email}</h1>
<p>You asked for <code>{path}</code>.</p>
<dl><dt>Name<dd>{name}<dt>Groups<dd>{groups}<dt>Verified<dd>{verified}</dl>
<h2>Users</h2>
<ul>{users}</ul>
<p><a href="/dashboard">Your account</a></p>
<form method="post" action="/logout"><button>Log out</button></form>
"""

# The end of a session by its time is not told: the socket is closed then, and opened again where the session goes on.
SOCKET = """<script>
async function openSocket() {
  const answer = await fetch("/auth/session");
  if (!answer.ok) return;
  const { expiresAt } = await answer.json();
  const socket = new WebSocket(`${location.origin.replace("http", "ws")}/socket`);
  setTimeout(() => { socket.close(); openSocket(); }, Math.min(Date.parse(expiresAt) - Date.now(), 2 ** 31 - 1));
}
openSocket();
</script>
"""


@contextlib.contextmanager
def transaction():
    with contextlib.closing(sqlite3.connect(DATABASE)) as database, database:
        yield database


def user_of(headers):
    """The user's id, email, name and groups. None for a request past the proxy, and for one whose token is not valid."""
    # Remote-User is the user's id. It stays when the address changes, so store this one. A name is percent-encoded UTF-8.
    user, email, name, groups = (headers.get(f"Remote-{name}", "") for name in ("User", "Email", "Name", "Groups"))
    if not user:
        return None
    if not JWKS_URL:
        return user, email, urllib.parse.unquote(name), groups
    try:
        claims = verify(headers.get("Remote-Token", ""))
    except jwt.PyJWTError:
        return None
    if claims["sub"] != user:
        return None
    return user, claims["email"], claims.get("name", ""), ",".join(claims["groups"])


class Sockets:
    """The open websockets of each session, by its sid."""

    def __init__(self):
        self.lock = threading.Lock()
        self.open = {}
        self.ended = {}  # when a sid was told as ended: a request that had passed the proxy by then may come later

    def add(self, sid, connection):
        with self.lock:
            if sid in self.ended:
                return False
            self.open.setdefault(sid, set()).add(connection)
            return True

    def remove(self, sid, connection):
        with self.lock:
            self.open.get(sid, set()).discard(connection)
            if not self.open.get(sid):
                self.open.pop(sid, None)

    def end(self, sids):
        with self.lock:
            now = time.monotonic()
            self.ended = {sid: at for sid, at in self.ended.items() if at > now - 60} | dict.fromkeys(sids, now)
            for connection in [connection for sid in sids for connection in self.open.pop(sid, ())]:
                with contextlib.suppress(OSError):
                    connection.send(b"\x88\x02\x03\xf0", socket.MSG_DONTWAIT)  # RFC 6455: a close frame, 1008
                    connection.shutdown(socket.SHUT_RDWR)


sockets = Sockets()


def users_after_visit(user):
    with transaction() as database:
        database.execute("insert or replace into users (id, email, name, groups) values (?, ?, ?, ?)", user)
        return [email for (email,) in database.execute("select email from users order by email")]


def is_from_latchkey(headers, body):
    """Standard Webhooks 1.0, "Verifying webhook authenticity": a signature of the id, the time and the body."""
    signed, at, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not re.fullmatch("[0-9]{1,12}", at) or abs(time.time() - int(at)) > 300:
        return False
    expected = hmac.digest(WEBHOOK_SECRET, f"{signed}.{at}.".encode() + body, "sha256")
    expected = b"v1," + base64.b64encode(expected)
    return any(hmac.compare_digest(signature.encode(), expected) for signature in signatures.split(" "))


def apply_webhook(webhook_id, event):
    """Applies a change once: a webhook may come again. A late one creates no user who was deleted meanwhile."""
    with transaction() as database:
        if database.execute("insert or ignore into webhooks (id) values (?)", [webhook_id]).rowcount == 0:
            return
        user = event["data"]
        if event["type"] == "user.deleted":
            database.execute("delete from users where id = ?", [user["id"]])
        elif event["type"] == "session.ended":
            sockets.end(user["sids"])
        elif event["type"].startswith("user."):
            new = [user["email"], user["name"] or "", ",".join(user["groups"]), user["id"]]
            database.execute("update users set email = ?, name = ?, groups = ? where id = ?", new)


class Application(BaseHTTPRequestHandler):
    def do_GET(self):
        user = user_of(self.headers)
        if user is None:
            return self.send_error(403)
        if self.path == "/socket":
            return self.take_socket()
        users = "".join(f"<li>{html.escape(email)}" for email in users_after_visit(user))
        shown = [html.escape(value) for value in (self.path, *user[1:], "yes" if JWKS_URL else UNVERIFIED)]
        path, email, name, groups, verified = shown
        page = PAGE.format(path=path, email=email, name=name, groups=groups, verified=verified, users=users)
        page = (page + (SOCKET if JWKS_URL else "")).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(page)

    def take_socket(self):
        """A websocket (RFC 6455) that says nothing, until it or its session ends."""
        key = self.headers.get("Sec-WebSocket-Key")
        if not JWKS_URL or not key or self.headers.get("Origin") != os.environ["AUDIENCE"]:
            return self.send_error(403)
        sid = verify(self.headers["Remote-Token"])["sid"]
        self.close_connection = True
        if not sockets.add(sid, self.connection):
            return self.send_error(403)
        try:
            accepted = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
            self.protocol_version = "HTTP/1.1"
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(accepted).decode())
            self.end_headers()
            while (frame := self.connection.recv(4096)) and frame[0] & 0x0F != 8:
                pass
            self.connection.send(b"\x88\x00")  # RFC 6455, section 5.5.1: the answer to a close frame
        except OSError:
            pass
        finally:
            sockets.remove(sid, self.connection)

    def do_POST(self):
        """Latchkey posts here itself, past the proxy: there is no Remote-User, and the signature says who it is."""
        length = self.headers.get("Content-Length", "")
        if self.path != "/webhooks" or not WEBHOOK_SECRET:
            return self.send_error(404)
        if not re.fullmatch("[0-9]{1,5}", length):
            return self.send_error(413)
        body = self.rfile.read(int(length))
        if not is_from_latchkey(self.headers, body):
            return self.send_error(401)
        apply_webhook(self.headers["webhook-id"], json.loads(body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


with transaction() as database:
    database.execute("create table if not exists users (id text primary key, email text, name text, groups text)")
    database.execute("create table if not exists webhooks (id text primary key)")
ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Application).serve_forever()

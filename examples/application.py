"""A small application that asks nobody for a password: the proxy in front of it says who is signed in.

    PORT=8000 python3 examples/application.py

It keeps a row for each user. Settings:

    DATABASE        the file of an SQLite database
    WEBHOOK_SECRET  Latchkey's: POST /webhooks takes its webhooks, and a deleted user's row goes
    JWKS_URL, ISSUER, AUDIENCE  it verifies Remote-Token (examples/verify.py, which needs PyJWT)

It listens on the loopback address only. Without JWKS_URL, whoever could reach it past the proxy could name any user.
"""

import base64
import contextlib
import hmac
import html
import json
import os
import re
import sqlite3
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

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Notes</title>
<h1>Notes of {email}</h1>
<p>You asked for <code>{path}</code>.</p>
<dl><dt>Name<dd>{name}<dt>Groups<dd>{groups}<dt>Verified<dd>{verified}</dl>
<h2>Users</h2>
<ul>{users}</ul>
<p><a href="/dashboard">Your account</a></p>
<form method="post" action="/logout"><button>Log out</button></form>
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
        elif event["type"].startswith("user."):
            new = [user["email"], user["name"] or "", ",".join(user["groups"]), user["id"]]
            database.execute("update users set email = ?, name = ?, groups = ? where id = ?", new)


class Application(BaseHTTPRequestHandler):
    def do_GET(self):
        user = user_of(self.headers)
        if user is None:
            return self.send_error(403)
        users = "".join(f"<li>{html.escape(email)}" for email in users_after_visit(user))
        shown = [html.escape(value) for value in (self.path, *user[1:], "yes" if JWKS_URL else "no")]
        path, email, name, groups, verified = shown
        page = PAGE.format(path=path, email=email, name=name, groups=groups, verified=verified, users=users).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(page)

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

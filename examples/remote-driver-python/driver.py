#!/usr/bin/env python3
"""A complete remote driver for Homeostat, in Python's standard library only.

It makes disks (files in a folder), fills them block by block in the background, and removes them. What it has been asked for is in a
SQLite file, so that it can be killed at any moment: a call that comes twice is done once, a call of an owner that lost its turn is
refused, and what was begun is finished after a restart. The protocol is in docs/remote-drivers.md.

    HOMEOSTAT_SECRETS=a-long-secret PORT=9000 FOLDER=./data python3 driver.py
"""
import hashlib
import hmac
import json
import os
import sqlite3
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = [secret.encode() for secret in os.environ["HOMEOSTAT_SECRETS"].split(",")]
FOLDER = os.environ.get("FOLDER", "data")
BLOCK_SECONDS = float(os.environ.get("BLOCK_SECONDS", "0.2"))
WINDOW_SECONDS = 300
BODY_MAX = 4_000_000
PAGE = 1000


def fault_of_signature(method, path, headers, body):
    """None when the call is from who knows a secret, and not old."""
    timestamp = headers.get("homeostat-timestamp", "")
    if not timestamp.isdigit() or len(timestamp) > 12:
        return "the timestamp is missing"
    if abs(time.time() - int(timestamp)) > WINDOW_SECONDS:
        return "the timestamp is too old or too new"
    text = f"v1\n{method}\n{path}\n{timestamp}\n".encode() + body
    given = headers.get("homeostat-signature", "").split(" ")[:4]
    for secret in SECRETS:
        expected = "v1=" + hmac.new(secret, text, hashlib.sha256).hexdigest()
        if any(hmac.compare_digest(expected.encode(), one.encode()) for one in given):
            return None
    return "the signature is wrong"


class Disks:
    """The real world of this driver: one file per disk, named by its ledger name."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "disks")
        self.log = os.path.join(folder, "effects.log")
        os.makedirs(self.folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, urllib.parse.quote(name, safe=""))

    def is_there(self, name):
        return os.path.exists(self.path(name))

    def make(self, name):
        if not self.is_there(name):
            open(self.path(name), "x").close()
            self.note(f"made {name}")

    def remove(self, name):
        if self.is_there(name):
            os.unlink(self.path(name))
            self.note(f"removed {name}")

    def size(self, name):
        return os.path.getsize(self.path(name))

    def add_block(self, name):
        with open(self.path(name), "ab") as disk:
            disk.write(b"x")

    def resize(self, name, size):
        os.truncate(self.path(name), size)
        self.note(f"resized {name} {size}")

    def names(self):
        return sorted(urllib.parse.unquote(one) for one in os.listdir(self.folder))

    def note(self, line):
        with open(self.log, "a") as log:
            log.write(line + "\n")


class Driver:
    def __init__(self, folder):
        self.disks = Disks(folder)
        self.lock = threading.RLock()  # Every change of the tables and the disks is made under it.
        self.workers = {}  # key -> (thread, its stop event)
        self.db = sqlite3.connect(os.path.join(folder, "calls.db"), check_same_thread=False, isolation_level=None)
        self.db.executescript(
            """PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS epochs (resource TEXT PRIMARY KEY, epoch INTEGER NOT NULL);
            CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, resource TEXT NOT NULL, run TEXT NOT NULL, kind TEXT NOT NULL,
              attempt INTEGER NOT NULL, state TEXT NOT NULL, call TEXT NOT NULL, answer TEXT, told INTEGER NOT NULL DEFAULT 0);"""
        )
        with self.lock:
            for key, state, call in self.db.execute("SELECT key, state, call FROM calls WHERE told = 0").fetchall():
                if state == "done":
                    threading.Thread(target=self.tell, args=(key,), daemon=True).start()
                elif state == "working" and json.loads(call)["function"] == "fillDisk":
                    self.begin(key)
                elif state == "working":  # Cut in the middle, never answered: it comes again, and doing it twice does no harm.
                    self.db.execute("DELETE FROM calls WHERE key = ?", (key,))

    def answer(self, call):
        kind = call["kind"]
        if kind in ("step", "undo"):
            return self.work(call)
        if kind == "probe":
            with self.lock:
                there = call["ledger"] and all(self.disks.is_there(thing["name"]) for thing in call["ledger"])
                return self.stale(call) or {"kind": "answered", "answer": "there" if there else "absent"}
        if kind == "cancel":
            return self.cancel(call)
        if kind == "inventory":
            names = [name for name in self.disks.names() if call["after"] is None or name > call["after"]]
            page = [{"kind": "disk", "name": name} for name in names[:PAGE]]
            return {"kind": "inventory", "things": page, "next": names[PAGE - 1] if len(names) > PAGE else None}
        if kind == "destroy":
            with self.lock:
                self.disks.remove(call["thing"]["name"])
            return {"kind": "done"}
        return {"kind": "failed", "code": "unsupported", "reason": f"{kind} is not known here"}

    def stale(self, call):
        """Refuses a call of an owner that lost its turn: a later one has called already."""
        resource = resource_of(call)
        row = self.db.execute("SELECT epoch FROM epochs WHERE resource = ?", (resource,)).fetchone()
        if row and call["epoch"] < row[0]:
            return {"kind": "stale", "epoch": row[0]}
        self.db.execute("INSERT INTO epochs VALUES (?, ?) ON CONFLICT DO UPDATE SET epoch = excluded.epoch", (resource, call["epoch"]))
        return None

    def work(self, call):
        key, attempt = call["key"], call["attempt"]
        with self.lock:
            stale = self.stale(call)
            if stale:
                return stale
            row = self.db.execute("SELECT state, attempt, answer FROM calls WHERE key = ?", (key,)).fetchone()
            if row and row[0] == "done":
                return json.loads(row[2])
            if row and row[0] == "cancelled" and attempt <= row[1]:
                return {"kind": "failed", "code": "cancelled", "reason": "this attempt was cancelled"}
            others = self.others(call)
            for other in others:
                self.mark_cancelled(other)
        for other in others:  # Outside of the lock: they need it to end.
            self.wait_for(other)
        with self.lock:
            stale = self.stale(call)  # Another call may have come meanwhile.
            if stale:
                return stale
            self.db.execute(
                """INSERT INTO calls (key, resource, run, kind, attempt, state, call) VALUES (?, ?, ?, ?, ?, 'working', ?)
                ON CONFLICT DO UPDATE SET attempt = excluded.attempt, call = excluded.call, state = 'working'""",
                (key, resource_of(call), call["run"], call["kind"], attempt, json.dumps(call)),
            )
            if call["function"] == "fillDisk":
                self.begin(key)
                return {"kind": "accepted", "lookAgainMs": 5000, "progress": "being filled"}
            answer = self.do_now(call)
            if answer["kind"] == "done":  # Only what was done is remembered: what failed may be tried again.
                self.end(key, answer)
                self.db.execute("UPDATE calls SET told = 1 WHERE key = ?", (key,))
            else:
                self.db.execute("DELETE FROM calls WHERE key = ?", (key,))
            return answer

    def do_now(self, call):
        function, names = call["function"], [thing["name"] for thing in call["ledger"] if thing["kind"] == "disk"]
        if function == "makeDisk":
            self.disks.make(call["name"])
        elif function == "removeDisk":
            for name in names:
                self.disks.remove(name)
        elif function == "growDisk":
            for name in names:
                self.disks.resize(name, call["input"]["sizeMb"])
        else:
            return {"kind": "failed", "code": "unsupported", "reason": f"{function} is not known here", "terminal": True}
        return {"kind": "done"}

    def others(self, call):
        """Work at the same resource that this call ends: all but that of the same run and kind."""
        rows = self.db.execute(
            "SELECT key FROM calls WHERE resource = ? AND state = 'working' AND key != ? AND NOT (run = ? AND kind = ?)",
            (resource_of(call), call["key"], call["run"], call["kind"]),
        )
        return [key for (key,) in rows.fetchall()]

    def begin(self, key):
        before, is_stopping = self.workers.get(key, (None, None))
        if before is None or is_stopping.is_set():
            stop = threading.Event()
            thread = threading.Thread(target=self.fill, args=(key, stop, before), daemon=True)
            self.workers[key] = (thread, stop)
            thread.start()

    def fill(self, key, stop, before):
        if before is not None:
            before.join()
        (text,) = self.db_row("SELECT call FROM calls WHERE key = ?", key)
        call = json.loads(text)
        name, blocks = call["ledger"][0]["name"], call["resource"]["properties"]["sizeMb"]
        is_done = False
        while not is_done and not stop.wait(BLOCK_SECONDS):
            with self.lock:
                if stop.is_set():
                    break
                if not self.disks.is_there(name):
                    self.end(key, {"kind": "failed", "code": "disk_lost", "reason": f"{name} is not there", "terminal": True})
                    is_done = True
                elif self.disks.size(name) < blocks:
                    self.disks.add_block(name)
                else:
                    self.end(key, {"kind": "done", "result": {"blocks": blocks}})
                    self.disks.note(f"filled {name}")
                    is_done = True
        with self.lock:
            if self.workers.get(key, (None, None))[1] is stop:
                del self.workers[key]
        if is_done:
            self.tell(key)

    def end(self, key, answer):
        self.db.execute("UPDATE calls SET state = 'done', answer = ? WHERE key = ?", (json.dumps(answer), key))

    def tell(self, key):
        """Completes the step at the API, until somebody has taken it. Whoever does not need it any more refuses it."""
        text, outcome = self.db_row("SELECT call, answer FROM calls WHERE key = ?", key)
        complete = json.loads(text)["complete"]
        wait = 0.2
        while complete:
            body = json.dumps({"key": key, "outcome": json.loads(outcome)}).encode()
            headers = {"content-type": "application/json", "authorization": f"Bearer {complete['token']}", "idempotency-key": key}
            try:
                request = urllib.request.Request(complete["url"], body, headers, method="POST")
                urllib.request.urlopen(request, timeout=10).close()
                break
            except urllib.error.HTTPError as error:
                if 400 <= error.code < 500 and error.code not in (408, 429):
                    break  # Refused for good: the run has moved on, or it will ask again by itself.
            except OSError:
                pass  # Not reached, or cut.
            time.sleep(wait)
            wait = min(wait * 2, 10)
        with self.lock:
            self.db.execute("UPDATE calls SET told = 1 WHERE key = ?", (key,))

    def cancel(self, call):
        """Answers when the work has stopped. What has ended is left as it is, and so is a later attempt."""
        with self.lock:
            row = self.db.execute("SELECT state, attempt FROM calls WHERE key = ?", (call["key"],)).fetchone()
            if row is None:  # It overtook the call itself: that is refused when it comes.
                self.db.execute(
                    "INSERT INTO calls (key, resource, run, kind, attempt, state, call) VALUES (?, ?, '', '', ?, 'cancelled', '{}')",
                    (call["key"], resource_of(call), call["attempt"]),
                )
                return {"kind": "done"}
            if row[0] != "working" or row[1] > call["attempt"]:
                return {"kind": "done"}
            self.mark_cancelled(call["key"])
        return {"kind": "done"} if self.wait_for(call["key"]) else {"kind": "failed", "reason": "it does not stop"}

    def mark_cancelled(self, key):
        self.db.execute("UPDATE calls SET state = 'cancelled' WHERE key = ?", (key,))
        if key in self.workers:
            self.workers[key][1].set()

    def wait_for(self, key):
        thread, _ = self.workers.get(key, (None, None))
        if thread is not None:
            thread.join(4)
        return thread is None or not thread.is_alive()

    def db_row(self, statement, key):
        with self.lock:
            return self.db.execute(statement, (key,)).fetchone()


def resource_of(call):
    return f"{call['resource']['type']}/{call['resource']['id']}"


class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # Callers go away in the middle: that is theirs.
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > BODY_MAX:
            self.close_connection = True
            return self.say(413, {"error": "the call is too large"})
        body = self.rfile.read(int(length))
        fault = fault_of_signature("POST", self.path, self.headers, body)
        if fault is not None:
            return self.say(401, {"error": fault})
        self.say(200, self.server.driver.answer(json.loads(body)))

    def say(self, status, answer):
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Handler)
    server.driver = Driver(FOLDER)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)

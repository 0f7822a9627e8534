# SPDX-License-Identifier: GPL-3.0-or-later
"""A headless Chromium, spoken to through a pipe: it needs no port and no other package."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="jbdlab-browser.")
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()

        def descriptors():
            # Chromium reads commands from 3 and writes answers to 4.
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
             "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
             "--disable-background-networking", "--no-first-run",
             "--force-color-profile=srgb", "--user-data-dir=" + self.home, "about:blank"],
            preexec_fn=descriptors, close_fds=False, start_new_session=True,
            env=dict(os.environ, HOME=self.home),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.number = 0
        self.input = b""
        self.events = []
        self.session = None
        page = self.first_page()
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def first_page(self):
        """Which a browser that has just begun may not have yet."""
        end = time.monotonic() + 60
        while True:
            for target in self.call("Target.getTargets")["targetInfos"]:
                if target["type"] == "page":
                    return target["targetId"]
            if time.monotonic() > end:
                raise RuntimeError("the browser has no page")
            time.sleep(0.1)

    def read(self, seconds):
        """The next message, or None when none comes in time."""
        end = time.monotonic() + seconds
        while b"\0" not in self.input:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                return None
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise RuntimeError("the browser is gone")
            self.input += more
        line, self.input = self.input.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, seconds=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read(seconds)
            if answer is None:
                raise RuntimeError(method + ": no answer")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        end = time.monotonic() + 60
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            if time.monotonic() > end:
                raise RuntimeError(url + " does not load")
            event = self.read(1)
            if event:
                self.events.append(event)

    def run(self, script):
        """The value of an expression of the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close", seconds=10)
            self.process.wait(10)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.home, ignore_errors=True)

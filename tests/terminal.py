#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types into an interactive shell on a pseudo-terminal, as a person does.

usage: terminal.py SECONDS PROMPT KEYS COMMAND...

Starts COMMAND, types KEYS (with Python's escapes: "\\t" is the tabulator) when PROMPT was
printed, and prints what the terminal showed until COMMAND ended.  Status 1 when it did not
end in SECONDS, and it is ended then.
"""
import os
import pty
import select
import signal
import sys
import time


def main():
    end = time.monotonic() + float(sys.argv[1])
    prompt = sys.argv[2].encode()
    keys = sys.argv[3].encode().decode("unicode_escape").encode()
    child, terminal = pty.fork()
    if not child:
        os.execvp(sys.argv[4], sys.argv[4:])
    seen = b""
    status = 1
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            more = os.read(terminal, 65536)
        except OSError:
            more = b""
        if not more:
            status = 0
            break
        seen += more
        if keys and prompt in seen:
            os.write(terminal, keys)
            keys = b""
    if status:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    sys.stdout.buffer.write(seen)
    return status


sys.exit(main())

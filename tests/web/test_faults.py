"""The server is killed under load."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import numpy as np

from web.conftest import CLASSES, N_ITEMS, running
from web.project.helpers import batch, relearned

SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
import uvicorn
from web.conftest import make_service
from softspread.web.http.app import create_app
service = make_service(sys.argv[2], overlap=1000, database_url=sys.argv[3])
service.start()
app = create_app(service)
accounts = app.state.context.accounts
config = uvicorn.Config(app, port=0, log_level="error")
socket = config.bind_socket()
socket.listen(100)
words = [accounts.make_token(accounts.create(f"voter-{n}", "a long password", "annotator"), "t")
         for n in range(4)]
print(socket.getsockname()[1], *words, flush=True)
uvicorn.Server(config).run(sockets=[socket])
"""


def send(port, word, key, item, label):
    """One vote over HTTP; its status, or None where nobody answered."""
    body = json.dumps({"votes": [{"key": key, "item": item, "label": label}]}).encode()
    headers = {"Authorization": f"Bearer {word}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/votes", body, headers)
    with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(request, timeout=5) as answer:
        return answer.status
    return None


def test_kill_nine_under_load_loses_nothing_that_was_acknowledged(tmp_path, database):
    """After the kill every acknowledged vote is in the log once, and the state is that of a batch run."""
    command = [sys.executable, "-c", SERVER, str(Path(__file__).parents[1]), str(tmp_path), database]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    port, *words = process.stdout.readline().split()
    acknowledged = []

    def voter(number):
        for row in range(N_ITEMS):
            if send(port, words[number], f"k{number}-{row}", f"item-{row:03d}", CLASSES[row % 3]) != 201:
                return
            acknowledged.append((f"voter-{number}", f"k{number}-{row}"))

    threads = [threading.Thread(target=voter, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 60
    while len(acknowledged) < 60 and time.monotonic() < end:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    for thread in threads:
        thread.join()
    assert 60 <= len(acknowledged) < 4 * N_ITEMS, "the kill came too late to prove anything"
    with running(tmp_path, overlap=1000, database_url=database) as service:
        logged = [(entry.annotator, entry.key) for entry in service.store.entries(limit=10_000)]
        assert len(set(logged)) == len(logged)
        assert set(acknowledged) <= set(logged)
        np.testing.assert_allclose(relearned(service), batch(service), atol=1e-6)

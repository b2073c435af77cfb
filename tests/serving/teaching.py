"""Teach a server, kill it in the middle, start it again, and finish what was not acknowledged."""

import http.client
import threading
import time

from .servers import Server

CLIENTS = 3
VALUES = ("Sunny", "Overcast", "Rain")


def teach_and_kill(path, tokens, token, answers):
    """Learn by several clients, kill −9 after so many answers, again and again; count the rows.

    Each client numbers what it sends. What was not acknowledged it sends again, with the same
    number, to the server that is started anew: so each is learned once, whether the one before had
    written it when it died or not. After each restart the rows are yielded that were acknowledged
    in all, and how many the server says it has.
    """
    arguments = (path, "--learn", "--token-file", tokens, "--log", "none")
    acknowledged = [0] * CLIENTS
    for after in (*answers, None):
        with Server(*arguments) as server:
            if any(acknowledged):
                for i, n in enumerate(acknowledged):  # the one that may have been cut off
                    status, found = server.ask("POST", "/v1/learn", _change(i, n), token)
                    assert status == 200, found
                    acknowledged[i] += 1
                yield sum(acknowledged), found["rows"]
            if after is None:
                return
            wanted, threads = sum(acknowledged) + after, []
            for i in range(CLIENTS):
                threads.append(
                    threading.Thread(target=_teach, args=(server, token, i, acknowledged))
                )
                threads[-1].start()
            deadline = time.monotonic() + 30
            while sum(acknowledged) < wanted and time.monotonic() < deadline:
                time.sleep(0.001)
            server.kill()
            for thread in threads:
                thread.join()


def _teach(server, token, i, acknowledged):
    connection = server.connect()
    try:
        while True:
            change = _change(i, acknowledged[i])
            status, found = server.ask("POST", "/v1/learn", change, token, connection)
            assert status == 200 and found["learn"] == 1, found
            acknowledged[i] += 1
    except (OSError, http.client.HTTPException):
        connection.close()  # it was killed


def _change(i, number):
    row = {"outlook": VALUES[number % 3], "wind": "Weak"}
    label = "Yes" if number % 2 else "No"
    return {"rows": [row], "labels": [label], "stream": f"client {i}", "number": number}

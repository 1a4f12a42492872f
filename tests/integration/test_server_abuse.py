"""A server under abuse: any request at all gets an answer that isn't its fault, and it goes on as before."""

import json
import random
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest
from bundles import write_bundle
from serving import running

from limbeck.serve.limits import Limits
from limbeck.serve.settings import ServeSettings, Storing

LIMITS = Limits(body_bytes=50_000, characters=5000, body_seconds=0.5, head_seconds=0.5)


@pytest.fixture
def server(tmp_path):
    replies = tmp_path / "replies.toml"
    replies.write_text('languages = ["en"]\n[nothing]\ntitle = "Thanks"\ntext = "Thank you."\n')
    settings = ServeSettings(
        {"one": str(write_bundle(tmp_path / "one"))},
        limits=LIMITS,
        replies=str(replies),
        store=Storing(str(tmp_path / "texts.db"), below=0.99),
    )
    with running(settings) as found:
        yield found


def value(rng, depth=0):
    """Make any JSON value, often a wrong one."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return "".join(
            chr(rng.choice((0, 9, 34, 60, 97, 233, 0x202E, 0xFFFF, 0x1F600))) for _ in range(rng.randrange(40))
        )
    if kind == 1:
        return rng.choice(("late", "the train was late", "a" * 6000, "", "\ufeff", "[MASK]", "x@y.de"))
    if kind == 2:
        return rng.choice((0, -1, 2**63, 2**200, 1e308, 0.5))
    if kind in (3, 4):
        return rng.choice((None, True, False))
    if kind == 5:
        return rng.choice((["late"], [], {}, [None], ["late"] * 300, [[["late"]]]))
    if kind == 6:
        return [value(rng, depth + 1) for _ in range(rng.randrange(5))]
    names = "text texts model helped id good bad language inputs name shape datatype data parameters odd".split()
    return {rng.choice(names): value(rng, depth + 1) for _ in range(rng.randrange(5))}


def body(rng):
    """Make a body: JSON, broken JSON, broken UTF-8, deep nesting, or nothing."""
    kind = rng.randrange(12)
    if kind == 0:
        return rng.randbytes(rng.randrange(200))
    if kind == 1:
        return b"[" * rng.randrange(1, 3000) + b"]" * rng.randrange(100)
    if kind == 2:
        return b'{"text": "\xff\xfe\x00"}'
    if kind == 3:
        return b" " * rng.choice((0, 49_999, 50_001))
    told = value(rng) if kind < 6 else {"text": "late " * rng.randrange(20)}
    if kind == 6:
        told = {"inputs": [{"name": "text", "datatype": "BYTES", "shape": value(rng, 3), "data": value(rng, 3)}]}
    raw = json.dumps(told, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    return raw[: rng.randrange(len(raw) + 1)] if kind == 7 else raw


PATHS = (
    "/v1/predict /v1/feedback /v1/feedback/vote /v2/models/one/infer /v2/models/%00/infer /v1/admin/reload / /v1/model "
    "/v1/model?name=%ff /owner /metrics /pages/../app.py /pages/%2e%2e /v2/models/one/versions/9/infer /nothing?"
    + "x"
    * 300
).split()


def request(rng):
    """Make the bytes of a request, sometimes of none."""
    if rng.random() < 0.02:
        return rng.randbytes(rng.randrange(1, 300)), True
    sent = body(rng)
    method = rng.choice(("POST",) * 8 + ("GET", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD", "BREW"))
    path = rng.choice(PATHS[:4] if rng.random() < 0.7 else PATHS)
    headers = [f"{method} {path} HTTP/1.1", "host: x"]
    length = len(sent) if rng.random() < 0.97 else rng.choice((0, len(sent) + 5, -1, "x", 10**12))
    headers += [f"content-length: {length}"]
    if rng.random() < 0.1:
        headers.append(
            rng.choice(
                (
                    "x-deadline-ms: 0",
                    "x-deadline-ms: 99999999999999999999",
                    "authorization: Bearer \xff",
                    "accept-language: ,;q=x," + "de," * 300,
                    "content-encoding: gzip",
                    "inference-header-content-length: 5",
                    "transfer-encoding: chunked",
                    "expect: 100-continue",
                )
            )
        )
    whole = "\r\n".join(headers).encode("latin-1") + b"\r\n\r\n" + sent
    return whole, rng.random() < 0.2 or length != len(
        sent
    ) or b"chunked" in whole or b"expect" in whole or b"BREW" in whole


def abuse(port, seed, count):
    """Send requests on connections that are used until something odd is sent; give the statuses."""
    rng, statuses = random.Random(seed), {}
    opened = None
    for _ in range(count):
        sent, last = request(rng)
        try:
            if opened is None:
                opened = socket.create_connection(("127.0.0.1", port), timeout=10)
            opened.sendall(sent)
            if rng.random() < 0.01:
                opened.close()
                opened, status = None, "left"
            else:
                status = answer(opened, head=sent.startswith(b"HEAD"))
        except (ConnectionError, BrokenPipeError):
            opened, status = None, "closed"
        except TimeoutError:
            opened, status = None, "hang"
        statuses[status] = statuses.get(status, 0) + 1
        if (last or status == "closed") and opened is not None:
            opened.close()
            opened = None
    return statuses


def answer(opened, head):
    got = b""
    while b"\r\n\r\n" not in got:
        piece = opened.recv(65536)
        if not piece:
            raise ConnectionError
        got += piece
    first, _, rest = got.partition(b"\r\n\r\n")
    status = first[9:12].decode("latin-1")
    lower = first.lower()
    if status == "100":
        return status
    at = lower.find(b"content-length:")
    size = int(lower[at + 15 :].split(b"\r\n")[0]) if at >= 0 and not head else 0
    while len(rest) < size:
        piece = opened.recv(65536)
        if not piece:
            raise ConnectionError
        rest += piece
    if b"connection: close" in lower:
        raise ConnectionError
    return status


def abused(server, count, threads=4):
    """Abuse a server from several threads; nothing may be its fault."""
    with ThreadPoolExecutor(threads) as workers:
        found = list(workers.map(lambda seed: abuse(server.port, seed, count // threads), range(threads)))
    total = {}
    for one in found:
        for status, number in one.items():
            total[status] = total.get(status, 0) + number
    assert not any(str(status).startswith("5") and status != "503" for status in total), total
    assert "hang" not in total, total
    assert total.get("200", 0) > count / 20, total
    assert server.process.poll() is None and "failed" not in server.stderr, server.stderr
    told = httpx.post(f"{server.url}/v1/predict", json={"text": "late"}, timeout=5)
    assert told.json()["answers"][0]["labels"] == ["late"]
    return total


def test_any_request_is_answered(server):
    abused(server, 4000)


def by_the_document(server, examples):
    """Let schemathesis ask what the OpenAPI document allows and what it doesn't."""
    program = Path(sys.executable).parent / "schemathesis"
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    done = subprocess.run(
        [program, "run", f"{server.url}/openapi.json", "--checks", checks, "--max-examples", str(examples),
         "--seed", "1", "--phases", "examples,coverage,fuzzing", "--request-timeout", "10", "--no-color"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_the_document_is_true(server):
    by_the_document(server, 5)


@pytest.mark.slow
def test_the_document_is_true_for_long(server):
    by_the_document(server, 300)


@pytest.mark.slow
def test_a_hundred_thousand_requests(server):
    abused(server, 10_000)
    before = psutil.Process(server.process.pid).memory_info().rss
    total = abused(server, 100_000)
    after = psutil.Process(server.process.pid).memory_info().rss
    print(total, f"{before / 1e6:.0f} MB before, {after / 1e6:.0f} after")
    assert after < before * 1.1

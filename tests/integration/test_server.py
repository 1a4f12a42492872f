"""A real server on loopback: what it answers, what it refuses, and what it survives."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from bundles import write_bundle
from serving import running

from limbeck.annotate.store import open_store
from limbeck.runtime.manifest import Label
from limbeck.serve.keys import digest_of
from limbeck.serve.limits import Limits
from limbeck.serve.settings import ServeSettings, Storing

ADMIN, SHOP = "lk_admin", "lk_shop"
BEARER = {"authorization": f"Bearer {ADMIN}"}


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundles")
    names = [Label(name=name, title=name.title(), threshold=0.9) for name in ("late", "hot", "wifi")]
    write_bundle(folder / "one")
    write_bundle(folder / "two", name="another", labels=names)
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "keys"
    file.write_text(f"admin:{digest_of(ADMIN)}\nshop:{digest_of(SHOP)}\n")
    return str(file)


@pytest.fixture(scope="module")
def server(bundles):
    models = {"one": str(bundles / "one"), "two": str(bundles / "two")}
    limits = Limits(body_bytes=20_000, characters=1000, texts=16, body_seconds=1.0, head_seconds=1.0)
    with running(ServeSettings(models, limits=limits)) as found, httpx.Client(base_url=found.url) as client:
        client.port = found.port
        yield client


def test_one_text_and_many(server):
    one = server.post("/v1/predict", json={"text": "the train was late"}).json()
    assert one["model"] == "one" and one["answers"][0]["labels"] == ["late"]
    assert one["thresholds"] == {"late": 0.5, "hot": 0.5, "wifi": 0.5}
    many = server.post("/v1/predict", json={"texts": ["late , hot", "", "wifi"], "model": "two"}).json()
    assert [answer["labels"] for answer in many["answers"]] == [["late", "hot"], [], ["wifi"]]
    assert many["version"] != one["version"] and many["thresholds"]["hot"] == 0.9
    long = server.post("/v1/predict", json={"text": "late " * 50}).json()["answers"][0]
    assert long["truncated"] is True


def test_models_health_and_documents(server):
    told = server.get("/v1/model", params={"name": "two"}).json()
    assert told["labels"][0] == {"name": "late", "title": "Late", "threshold": 0.9} and "# By hand" in told["card"]
    assert server.get("/v1/models").json()["first"] == "one"
    assert server.get("/healthz").json() == server.get("/readyz").json() == {"status": "ok"}
    assert server.get("/docs").status_code == 200
    paths = server.get("/openapi.json").json()["paths"]
    assert {"/v1/predict", "/v1/feedback", "/v2/models/{name}/infer"} <= set(paths)


@pytest.mark.parametrize(
    ("status", "code", "asked"),
    [
        (400, "bad_request", {"content": b'{"text": '}),
        (400, "bad_request", {"content": b'{"text": "\xff\xfe"}'}),
        (400, "bad_request", {"content": b'{"text": "\\ud800"}'}),
        (400, "bad_request", {"content": b"[" * 9000}),
        (422, "not_understood", {"json": {}}),
        (422, "not_understood", {"json": {"text": None}}),
        (422, "not_understood", {"json": {"text": 3}}),
        (422, "not_understood", {"json": {"texts": []}}),
        (422, "not_understood", {"json": {"texts": ["a", None]}}),
        (422, "not_understood", {"json": {"text": "a", "texts": ["b"]}}),
        (422, "not_understood", {"json": {"text": "a", "txet": "b"}}),
        (422, "not_understood", {"json": ["a"]}),
        (422, "not_understood", {"content": b"null"}),
        (404, "no_model", {"json": {"text": "a", "model": "three"}}),
        (413, "too_large", {"json": {"text": "a" * 1001}}),
        (413, "too_large", {"json": {"texts": ["a"] * 17}}),
        (413, "too_large", {"content": b" " * 20_001}),
        (413, "too_large", {"content": iter([b" " * 5000] * 5)}),
        (400, "bad_request", {"json": {"text": "a"}, "headers": {"x-deadline-ms": "soon"}}),
        (503, "too_late", {"json": {"text": "a"}, "headers": {"x-deadline-ms": "0"}}),
    ],
)
def test_what_can_not_be_answered_is_told_why(server, status, code, asked):
    answer = server.post("/v1/predict", **asked)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert answer.json()["error"]["message"]
    assert server.post("/v1/predict", json={"text": "late"}).status_code == 200


def test_other_paths_and_methods(server):
    for method, path, status in (("GET", "/v1/predict", 405), ("GET", "/nothing", 404), ("PUT", "/v1/predict", 405)):
        answer = server.request(method, path)
        assert answer.status_code == status and answer.json()["error"]["code"]
    odd = server.post("/v1/predict", json={"text": "late\x00 \u202e \U0001f600 \ufeff"})
    assert odd.status_code == 200


def raw(port, *parts, wait=0.0, seconds=5.0):
    """Send bytes, piece by piece; give all that comes back until the server closes or is silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as opened:
        for part in parts:
            opened.sendall(part)
            time.sleep(wait)
        got = b""
        try:
            while piece := opened.recv(65536):
                got += piece
        except TimeoutError:
            pass
        return got


def test_slow_and_broken_requests_are_ended(server):
    assert raw(server.port, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    began = time.monotonic()
    assert raw(server.port).startswith(b"HTTP/1.1 408")  # a connection that says nothing is closed
    assert raw(server.port, b"POST /v1/predict HTTP/1.1\r\nhost: x\r\ncontent-le").startswith(b"HTTP/1.1 408")
    half = b"POST /v1/predict HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"
    assert raw(server.port, half).startswith(b"HTTP/1.1 408")
    assert time.monotonic() - began < 6
    gone = raw(server.port, b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert gone.startswith(b"HTTP/1.1 200")


def test_a_full_server_refuses_at_once_and_stays_up(bundles):
    # Nothing may wait, so every request is too much.
    with running(ServeSettings({"one": str(bundles / "one")}, limits=Limits(waiting=0, body_seconds=1))) as found:
        with httpx.Client(base_url=found.url) as client:
            for _ in range(5):
                answer = client.post("/v1/predict", json={"text": "late"})
                assert answer.status_code == 503 and answer.json()["error"]["code"] == "overloaded"
                assert int(answer.headers["retry-after"]) >= 1
                assert client.get("/healthz").status_code == 200
            shed = client.get("/metrics").json()
        assert shed["error"]["code"] == "no_admin"
        head = b"POST /v1/predict HTTP/%s\r\nhost: x\r\n%scontent-length: 16\r\n\r\n"
        body = b'{"text": "late"}'
        pieces = raw(
            found.port,
            head % (b"1.1", b""),
            body,
            b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
            wait=0.1,
        )
        assert pieces.count(b"HTTP/1.1 503") == 1 and pieces.count(b"HTTP/1.1 200") == 1
        for version, more in ((b"1.1", b"connection: close\r\n"), (b"1.0", b"")):
            began = time.monotonic()
            assert raw(found.port, head % (version, more) + body).startswith(b"HTTP/1.1 503")
            assert time.monotonic() - began < 2  # it was closed


def test_a_client_of_triton(server):
    # In a process of its own: the greenlets of that library disturb what Python 3.11 parses afterwards.
    script = Path(__file__).parent / "triton_client.py"
    done = subprocess.run([sys.executable, script, str(server.port)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_keys_and_rights(bundles, keys):
    limits = Limits(rate=20)
    settings = ServeSettings({"one": str(bundles / "one")}, keys=keys, limits=limits)
    with running(settings) as found, httpx.Client(base_url=found.url) as client:
        asked = {"json": {"text": "late"}}
        assert client.post("/v1/predict", **asked).status_code == 401
        assert client.post("/v1/predict", headers={"x-api-key": "guess"}, **asked).status_code == 403
        assert client.post("/v1/predict", headers={"x-api-key": SHOP}, **asked).status_code == 200
        assert client.get("/v2/models/one").status_code == 401
        # Travellers have no keys.
        assert client.post("/v1/feedback", **asked).status_code == 200
        for path in ("/metrics", "/v1/admin/live"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers={"x-api-key": SHOP}).status_code == 403
            assert client.get(path, headers=BEARER).status_code == 200
        codes = [client.post("/v1/predict", headers={"x-api-key": SHOP}, **asked) for _ in range(60)]
        refused = [answer for answer in codes if answer.status_code == 429]
        assert refused and int(refused[0].headers["retry-after"]) >= 1
        assert "access-control-allow-origin" not in client.get("/healthz", headers={"origin": "http://x"}).headers
        told = client.get("/metrics", headers=BEARER).text
        assert re.search(r'limbeck_requests_total\{route="/v1/predict",status="429"\} [1-9]', told)
        for name in ("latency_seconds", "queue_seconds", "batch_texts", "tokenise_seconds", "model_seconds"):
            assert f"limbeck_{name}_count" in told
        assert "guess" not in found.stderr and "late" not in found.stderr


def test_feedback_is_stored_scrubbed_and_votes_with_it(bundles, tmp_path):
    replies = tmp_path / "replies.toml"
    replies.write_text(
        'languages = ["en", "de"]\n[category.late]\ntitle = "Late"\ntext.en = "Sorry."\ntext.de = "Leider."\n'
        '[nothing]\ntitle = "Thanks"\ntext = "Thank you."\n'
    )
    storing = Storing(str(tmp_path / "texts.db"), below=1.0, shown=True)
    settings = ServeSettings({"one": str(bundles / "one")}, replies=str(replies), store=storing)
    with running(settings) as found, httpx.Client(base_url=found.url) as client:
        asked = {"bad": "the train was late, mail jo@example.org", "language": "de-AT"}
        told = client.post("/v1/feedback", json=asked).json()
        assert told["topics"][0]["title"] == "Late" and told["reply"]["parts"][0]["text"] == "Leider."
        assert client.post("/v1/feedback/vote", json={"helped": False, "id": told["id"]}).json() == {"stored": True}
        unknown = client.post("/v1/feedback/vote", json={"helped": True, "id": "nobody"})
        assert unknown.json() == {"stored": False}
        # kill -9: what was acknowledged is there.
        found.process.kill()
        found.process.wait()
    with open_store(tmp_path / "texts.db", create=False) as store:
        [kept] = list(store.export())
    assert "jo@example.org" not in kept["text"] and "[email]" in kept["text"]
    assert kept["not_helped"] == 1 and kept["public_id"] == told["id"] and kept["expires"] is not None


@contextmanager
def several(arguments):
    """Run `limbeck serve` with workers, as a user does."""
    command = [sys.executable, "-m", "limbeck", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    lines = []
    try:
        for line in process.stderr:
            lines.append(line)
            if sum("answers on" in told for told in lines) == 2:
                break
        reader = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
        reader.start()
        port = int(re.search(r"answers on \S+:(\d+)", "".join(lines))[1])
        yield process, port, lines
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(40)


def workers_of(process):
    out = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in out.split()]


def test_workers_reload_together_and_come_back(bundles, keys, tmp_path):
    with several([f"m={bundles / 'one'}", "--workers", "2", "--keys", keys, "--open-metrics"]) as (parent, port, lines):
        shop = {"x-api-key": SHOP}

        async def main():
            stop, seen = asyncio.Event(), []
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=shop, timeout=30) as client:
                asked = [asyncio.create_task(_ask(client, stop, seen)) for _ in range(4)]
                for turn in range(6):
                    folder = str(bundles / ("two" if turn % 2 == 0 else "one"))
                    told = await client.post(
                        "/v1/admin/reload", json={"models": ["m"], "folder": folder}, headers=BEARER
                    )
                    assert told.status_code == 200 and told.json()["workers"] == 2, told.text
                bad = await client.post("/v1/admin/reload", json={"folder": str(tmp_path)}, headers=BEARER)
                assert bad.status_code == 422 and "L601" in bad.json()["error"]["message"]
                stop.set()
                await asyncio.gather(*asked)
            return seen

        seen = asyncio.run(main())
        assert {status for status, _, _ in seen} == {200} and len(seen) > 20
        # A version always comes with its own thresholds.
        assert len({version for _, version, _ in seen}) == 2
        assert len({(version, late) for _, version, late in seen}) == 2

        first = workers_of(parent)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        until = time.monotonic() + 20
        while sum("answers on" in line for line in lines) < 3:
            assert time.monotonic() < until, lines
            assert ask(port, shop) in (200, 0)
            time.sleep(0.05)
        assert set(workers_of(parent)) != set(first) and len(workers_of(parent)) == 2
        # The new one answers with the model that was loaded last, and all figures are added up.
        late = {
            httpx.post(f"http://127.0.0.1:{port}/v1/predict", json={"text": "late"}, headers=shop).json()["thresholds"][
                "late"
            ]
            for _ in range(10)
        }
        assert late == {0.5}
        told = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert "limbeck_texts_total" in told
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(30) == 0


async def _ask(client, stop, seen):
    while not stop.is_set():
        told = (await client.post("/v1/predict", json={"text": "late"})).json()
        seen.append((200 if "version" in told else 0, told.get("version"), told.get("thresholds", {}).get("late")))


def ask(port, headers):
    try:
        return httpx.post(f"http://127.0.0.1:{port}/v1/predict", json={"text": "late"}, headers=headers).status_code
    except httpx.HTTPError:
        return 0


def test_a_signal_reloads_and_the_end_drains(bundles, tmp_path):
    folder = tmp_path / "bundle"
    write_bundle(folder)
    with running(ServeSettings({"m": str(folder)})) as found:
        before = httpx.get(f"{found.url}/v1/models").json()["models"]["m"]
        (folder / "bundle.json").unlink()
        write_bundle(folder, name="newer")
        found.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 10
        while httpx.get(f"{found.url}/v1/models").json()["models"]["m"] == before:
            assert time.monotonic() < until
            time.sleep(0.02)
        (folder / "model.onnx").write_bytes(b"broken")
        found.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert httpx.post(f"{found.url}/v1/predict", json={"text": "late"}).json()["answers"][0]["labels"] == ["late"]
        assert found.stop() == 0
        assert "were not loaded anew" in found.stderr


def test_what_was_begun_is_finished_at_the_end(bundles):
    with running(ServeSettings({"one": str(bundles / "one")})) as found:
        with socket.create_connection(("127.0.0.1", found.port), timeout=10) as opened:
            body = b'{"text": "late"}'
            opened.sendall(b"POST /v1/predict HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body[:5])
            time.sleep(0.3)
            found.process.terminate()
            time.sleep(0.3)
            with pytest.raises(OSError):
                socket.create_connection(("127.0.0.1", found.port), timeout=1)
            opened.sendall(body[5:])
            answer = b"".join(iter(lambda: opened.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200") and b'"labels":["late"]' in answer
        assert found.process.wait(20) == 0


def test_tls(bundles, tmp_path):
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", str(key), "-out", str(certificate)],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("there is no openssl to make a certificate with")
    settings = ServeSettings({"one": str(bundles / "one")}, certificate=str(certificate), private_key=str(key))
    with running(settings) as found:
        url = found.url.replace("http://", "https://")
        assert httpx.get(f"{url}/healthz", verify=False).status_code == 200

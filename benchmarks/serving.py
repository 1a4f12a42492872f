"""What a server takes: requests a second beside an empty FastAPI endpoint, overload, reloads, and a long run.

python benchmarks/serving.py rates --bundles FOLDER, where FOLDER holds bundles by kind (bag, cnn, bilstm), as a run's
step `compress` leaves them. The load comes from another process on the other core; nothing else may run meanwhile.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import psutil
from results import publish

from limbeck.bench.efficiency import texts_of_length
from limbeck.runtime.load import load_classifier
from limbeck.runtime.tokenise import Tokeniser

HERE = Path(__file__).parent
KINDS = ("bag", "cnn", "bilstm")
TOKENS, TEXTS, CONNECTIONS = 40, 200, 32
# Texts of each request of an overload: three times what the server can must not be more than who asks it can.
TOGETHER = 16
# The server has the first core, who asks it the second.
SERVER_CORE, LOAD_CORE = "0", "1"
CONSTANT = """
import json, sys
import uvicorn
from fastapi import FastAPI
from limbeck.serve.wire import Prediction, PredictRequest

app = FastAPI()
told = Prediction.model_validate(json.loads(sys.argv[2]))

@app.post("/v1/predict")
async def predict(asked: PredictRequest) -> Prediction:
    return told

uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False, loop="uvloop", http="httptools")
"""


def texts_of(bundle: Path) -> list[str]:
    """Put texts of the usual length together from words that the model knows."""
    model = load_classifier(bundle)
    tokeniser: Tokeniser = model.tokeniser
    words = [word for word in tokeniser.tokenizer.get_vocab() if word.isalpha() and word.isascii() and len(word) > 2]
    spoken = [" ".join(words[at : at + 12]) for at in range(0, len(words) - 12, 12)]
    return texts_of_length(spoken, lambda text: len(tokeniser.tokenizer.encode(text).ids), TOKENS, TEXTS)


@contextlib.contextmanager
def server(arguments: Sequence[str], workers: int = 1) -> Iterator[tuple[subprocess.Popen[str], int, list[str]]]:
    """Run `limbeck serve` until the block ends; give process, port and what it says."""
    command = ["taskset", "-c", SERVER_CORE if workers == 1 else "0,1", sys.executable, "-m", "limbeck", "serve"]
    process = subprocess.Popen([*command, "--port", "0", *arguments], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line)
        if sum("answers on" in told for told in lines) == workers:
            break
    found = re.search(r"answers on \S+:(\d+)", "".join(lines))
    assert found, lines
    threading.Thread(target=lambda: lines.extend(process.stderr or ()), daemon=True).start()
    try:
        yield process, int(found[1]), lines
    finally:
        process.terminate()
        process.wait(60)


def load(port: int, bodies: Sequence[object], **told: Any) -> dict[str, Any]:
    """Ask from another process; give what came of it."""
    asked = json.dumps({"port": port, "path": "/v1/predict", "bodies": list(bodies), **told})
    command = ["taskset", "-c", LOAD_CORE, sys.executable, str(HERE / "load.py")]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def one_each(texts: Sequence[str], **more: Any) -> list[str]:
    """Make bodies of one text each."""
    return [json.dumps({"text": text, **more}) for text in texts]


def rates(bundles: Path, seconds: float) -> tuple[list[dict[str, object]], str]:
    """Compare with an endpoint that has the same models of request and answer and does nothing."""
    texts = texts_of(bundles / "bag")
    rows: list[dict[str, object]] = []
    with server([f"{kind}={bundles / kind}" for kind in KINDS]) as (_, port, _):
        constant = httpx.post(f"http://127.0.0.1:{port}/v1/predict", json={"text": texts[0]}).text
        command = ["taskset", "-c", SERVER_CORE, sys.executable, "-c", CONSTANT, str(port + 1), constant]
        empty = subprocess.Popen(command)
        try:
            time.sleep(3)
            ways = {"constant": (port + 1, one_each(texts))}
            ways |= {kind: (port, one_each(texts, model=kind)) for kind in KINDS}
            # In turns, so that a noisy second hits all of them.
            many: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
            alone: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
            for _ in range(3):
                for name, (there, bodies) in ways.items():
                    many[name].append(load(there, bodies, seconds=seconds, connections=CONNECTIONS))
                    alone[name].append(load(there, bodies, seconds=seconds / 2, connections=1))
        finally:
            empty.terminate()
    bare = {kind: _bare(bundles / kind, texts) for kind in KINDS}
    first = _middle(many["constant"], "a second")
    for name in ways:
        lone = _middle(alone[name], "p50")
        p50, p99 = _middle(many[name], "p50"), _middle(many[name], "p99")
        row: dict[str, object] = {
            "model": name,
            "requests a second": round(_middle(many[name], "a second")),
            "of the constant": f"{_middle(many[name], 'a second') / first:.0%}",
            "p50 ms": p50,
            "p99 ms": p99,
            "p99 / p50": round(p99 / p50, 2),
            "alone: p50 ms": lone,
            "bare predictor, ms": bare.get(name),
            "added, ms": lone - bare[name] if name in bare else None,
        }
        rows.append(row)
    note = f"One worker on one core, {CONNECTIONS} connections that stay open, texts of {TOKENS} tokens, the load from "
    note += "another process on the other core; three turns of each, the middle one. 'Constant': FastAPI on the same "
    return rows, note + "uvicorn, with the same models of request and answer, that returns one answer for all."


def _middle(found: Sequence[dict[str, Any]], what: str) -> float:
    return float(sorted(one["200"][what] for one in found)[len(found) // 2])


def _bare(bundle: Path, texts: Sequence[str]) -> float:
    model = load_classifier(bundle)
    taken = []
    for turn in range(5):
        for text in texts:
            began = time.perf_counter()
            model.predict([text])
            if turn:
                taken.append(time.perf_counter() - began)
    return sorted(taken)[len(taken) // 2] * 1e3


def overload(bundles: Path, seconds: float) -> tuple[list[dict[str, object]], str]:
    """Ask three times as much as the server can answer, and look at it afterwards."""
    texts = texts_of(bundles / "bag")
    rows: list[dict[str, object]] = []
    for kind in KINDS:
        with server([str(bundles / kind)]) as (process, port, _):
            resident = psutil.Process(process.pid).memory_info
            bodies = [json.dumps({"texts": texts[at : at + TOGETHER]}) for at in range(0, TEXTS - TOGETHER, TOGETHER)]
            load(port, bodies, seconds=2, connections=CONNECTIONS)
            before = load(port, bodies, seconds=5, connections=CONNECTIONS)
            capacity = before["200"]["a second"]
            began = resident().rss
            during = load(port, bodies, seconds=seconds, connections=400, rate=3 * capacity, by_second=True)
            ended = resident().rss
            after = load(port, bodies, seconds=2, connections=CONNECTIONS)
            whole = during["answers by second"][1 : int(seconds)]
            shed = during.get("503", {})
            rows.append(
                {
                    "model": kind,
                    "capacity, a second": round(capacity),
                    "asked, a second": round(sum(during["statuses"].values()) / during["seconds"]),
                    "answered, a second": round(during["200"]["a second"]),
                    "of capacity": f"{during['200']['a second'] / capacity:.0%}",
                    "worst second": f"{min(whole) / capacity:.0%}",
                    "refused, p99 ms": shed.get("p99"),
                    "answered, p99 ms": during["200"]["p99"],
                    "other": {k: v for k, v in during["statuses"].items() if k not in ("200", "503")} or "none",
                    "MB before, after": f"{began / 1e6:.0f}, {ended / 1e6:.0f}",
                    "p99 before, in the 2 s after, ms": f"{before['200']['p99']}, {after['200']['p99']}",
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    note = f"Three times the capacity for {seconds:.0f} s, requests of {TOGETHER} texts at a fixed rate, one worker on "
    return rows, note + "one core. Capacity is what 32 connections got before; times count from when a request was due."


def reloads(bundles: Path, seconds: float) -> tuple[list[dict[str, object]], str]:
    """Exchange the model a hundred times under load, in two workers; then kill one of them."""
    from limbeck.serve.keys import digest_of

    texts = texts_of(bundles / "bag")
    environment = {"LIMBECK_ADMIN_KEY": digest_of("admin")}
    os.environ |= environment
    with server([f"m={bundles / 'bag'}", "--workers", "2"], 2) as (process, port, _):
        found: dict[str, Any] = {}
        asked = {"seconds": seconds, "connections": 8, "versions": True}
        asking = threading.Thread(target=lambda: found.update(load(port, one_each(texts), **asked)))
        asking.start()
        time.sleep(1)
        taken = []
        for turn in range(100):
            folder = bundles / ("cnn" if turn % 2 == 0 else "bag")
            began = time.perf_counter()
            told = httpx.post(
                f"http://127.0.0.1:{port}/v1/admin/reload",
                json={"models": ["m"], "folder": str(folder.resolve())},
                headers={"authorization": "Bearer admin"},
                timeout=60,
            )
            assert told.status_code == 200, told.text
            taken.append(time.perf_counter() - began)
        asking.join()
        killed: dict[str, Any] = {}
        again = threading.Thread(
            target=lambda: killed.update(load(port, one_each(texts), seconds=8, connections=8, by_second=True))
        )
        again.start()
        time.sleep(2)
        os.kill(psutil.Process(process.pid).children()[0].pid, signal.SIGKILL)
        again.join()
        workers = len(psutil.Process(process.pid).children())
    rows: list[dict[str, object]] = [
        {"what": "100 reloads", "answers": json.dumps(found["statuses"]), "seconds a reload": sum(taken) / 100},
        {"what": "versions and their answers", "answers": json.dumps(list(found["versions"].values()))},
        {"what": "kill -9 of a worker", "answers": json.dumps(killed["statuses"])},
        {"what": "answers by second meanwhile", "answers": json.dumps(killed["answers by second"])},
        {"what": "workers 6 s later", "answers": workers},
    ]
    return rows, "Two workers, 8 connections. A version is counted with the thresholds that came with it."


def soak(bundles: Path, seconds: float) -> tuple[list[dict[str, object]], str]:
    """Load the server with half of what it can, for long."""
    texts = texts_of(bundles / "bag")
    mixed: list[object] = []
    mixed += [json.dumps({"texts": texts[at : at + n]}) for at, n in ((0, 1), (1, 4), (5, 16), (21, 1), (22, 2))]
    mixed += one_each([text * 8 for text in texts[:20]]) + one_each(texts)
    mixed += one_each(texts[20:60], model="bag")
    mixed += [("/v1/feedback", body) for body in one_each(texts[60:80])]
    kept = Path(tempfile.mkdtemp()) / "kept.sqlite3"
    storing = ["--store", str(kept), "--store-below", "0.6"]
    with server([f"cnn={bundles / 'cnn'}", f"bag={bundles / 'bag'}", *storing]) as (process, port, _):
        resident = psutil.Process(process.pid).memory_info
        capacity = load(port, mixed, seconds=10, connections=CONNECTIONS)["200"]["a second"]
        load(port, mixed, seconds=20, connections=128, rate=capacity / 2)
        began = resident().rss
        found = load(port, mixed, seconds=seconds, connections=128, rate=capacity / 2)
        ended = resident().rss
    row: dict[str, object] = {
        "minutes": round(seconds / 60, 1),
        "requests": sum(found["statuses"].values()),
        "statuses": json.dumps(found["statuses"]),
        "p50 ms": found["200"]["p50"],
        "p99 ms": found["200"]["p99"],
        "MB before": began / 1e6,
        "MB after": ended / 1e6,
        "grown": f"{ended / began - 1:+.1%}",
    }
    note = "Half of what the server can: requests of 1 to 16 texts, some long, two models, feedback with replies; "
    return [row], note + "uncertain texts are kept in SQLite."


TABLES = {"rates": (rates, 4.0), "overload": (overload, 60.0), "reloads": (reloads, 60.0), "soak": (soak, 1800.0)}


def main() -> None:
    """Run and publish one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=list(TABLES))
    parser.add_argument("--bundles", type=Path, required=True, help="a folder of bundles by kind")
    parser.add_argument("--seconds", type=float, help="how long each load lasts")
    told = parser.parse_args()
    run, seconds = TABLES[told.table]
    rows, note = run(told.bundles, told.seconds or seconds)
    publish(f"serving-{told.table}", rows, note)


if __name__ == "__main__":
    main()

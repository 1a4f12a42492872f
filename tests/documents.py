"""The documents as programs: the fenced blocks of a page, run in order as a reader would run them.

`sh`      each line is a command and must succeed. A line `limbeck serve …` or `limbeck annotate …` starts a server in the
          background, on a free port; later lines that name its port (8000, 8001) reach it there.
`python`  the blocks of a page share their names.
`toml`    with a title (```toml title="feedback/limbeck.toml") it is written to that file, as a reader would. It must be
          what its name says: rules.toml, replies.toml, or else settings.
`json`    has the shape of what the last command or block printed: the same keys, and values of the same types.
`text`, `csv`  are not looked at.

In front of a block, `<!-- slow -->` leaves it to `make test-slow`, and `<!-- not run: why -->` leaves it out.
"""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import typer.main
from typer.testing import CliRunner

from limbeck.cli import app
from limbeck.config import parse_config
from limbeck.rules import load_rules
from limbeck.serve.replies_file import read_replies

LANGUAGES = ("sh", "python", "toml", "json", "text", "csv")
SECONDS = 60.0
_FENCE = re.compile(r"(?P<indent> *)```(?P<language>\w*) *(?:title=\"(?P<title>[^\"]+)\")?")
_MARK = re.compile(r"<!-- (slow|not run: .+) -->")
_PORT = re.compile(r"(?:answers on |Annotate on http://|workers on )\S+:(\d+)")
_SERVERS = {"serve": "8000", "annotate": "8001"}


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is where its code begins, `mark` what the comment before it says."""

    page: str
    line: int
    language: str
    title: str
    code: str
    mark: str = ""

    @property
    def first_line(self) -> str:
        return self.code.strip().partition("\n")[0]

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(file: Path) -> list[Block]:
    """Find the fenced blocks of a page."""
    found, mark = [], ""
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    for number, line in lines:
        if told := _MARK.fullmatch(line.strip()):
            mark = told[1]
        elif fence := _FENCE.fullmatch(line):
            code = []
            for _, inside in lines:
                if inside.strip() == "```":
                    break
                code.append(inside)
            text = dedent("\n".join(code)) + "\n"
            found.append(Block(file.name, number + 1, fence["language"], fence["title"] or "", text, mark))
            mark = ""
        elif line.lstrip().startswith("```"):
            raise AssertionError(f"{file.name}:{number} is no fence that can be read: {line}")
    return found


@dataclass
class Reader:
    """Somebody who does what a page says, in the current folder.

    `settings` gives what is set besides for a task's commands, and so lets them be quick; then no report is written
    unasked, which takes as long as all the rest.
    """

    settings: Callable[[str], list[str]]
    said: str = ""
    names: dict[str, object] = field(default_factory=dict)
    servers: dict[str, tuple[subprocess.Popen, str]] = field(default_factory=dict)

    def follow(self, block: Block) -> None:
        """Do what a block says; what can't be done is told with the block's place."""
        does = {"sh": self._sh, "python": self._python, "toml": self._toml, "json": self._json}.get(block.language)
        try:
            if does:
                does(block)
        except BaseException as error:
            error.add_note(f"in {block}: {block.first_line}")
            raise

    def stop(self) -> None:
        """End all servers."""
        for process, _ in self.servers.values():
            _end(process)
        self.servers.clear()

    def _sh(self, block: Block) -> None:
        for command in block.code.replace("\\\n", " ").splitlines():
            if words := shlex.split(command, comments=True):
                self._command(command, words)

    def _command(self, command: str, words: list[str]) -> None:
        environment = dict(word.split("=", 1) for word in _assigned(words))
        words = words[len(environment) :]
        if words[0] != "limbeck" or {"|", "&&"} & set(words):
            self._shell(self._on_ports(command))
        elif words[1] in _SERVERS and "--strategies" not in words:
            self._serve(words, environment)
        else:
            self._limbeck(words, environment)

    def _shell(self, command: str) -> None:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            capture_output=True, text=True, timeout=SECONDS, env={**os.environ, "PATH": path},
        )  # fmt: skip
        self.said = done.stdout
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    def _limbeck(self, words: list[str], environment: dict[str, str]) -> None:
        words, given, kept = _redirected(words)
        given = Path(given).read_text(encoding="utf-8") if given else None
        done = CliRunner().invoke(app, self._with_settings(words), input=given, env=environment)
        self.said = done.stdout
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == 0, f"{shlex.join(words)}\n{done.output}"
        if kept:
            Path(kept).write_text(done.stdout, encoding="utf-8")

    def _with_settings(self, words: list[str]) -> list[str]:
        """Put the settings behind the command's name, so that those which the page gives go before them."""
        command, name = typer.main.get_command(app), 0
        while name + 1 < len(words) and words[name + 1] in getattr(command, "commands", {}):
            name += 1
            command = command.commands[words[name]]
        file = Path(_option(words, "-p", "--project") or ".") / "limbeck.toml"
        if "overrides" not in [parameter.name for parameter in command.params] or not file.exists():
            return words[1:]
        task = tomllib.loads(file.read_text(encoding="utf-8")).get("task", "multilabel")
        sets = [word for told in self.settings(task) for word in ("--set", told)]
        if sets and words[name] == "run":
            sets.append("--no-report")
        return [*words[1 : name + 1], *sets, *words[name + 1 :]]

    def _serve(self, words: list[str], environment: dict[str, str]) -> None:
        port = _option(words, "--port") or _SERVERS[words[1]]
        if port in self.servers:
            _end(self.servers.pop(port)[0])
        log = Path(f"server-{port}.log")
        command = [sys.executable, "-m", "limbeck", *self._with_settings(words), "--port", "0"]
        with log.open("wb") as stderr:
            process = subprocess.Popen(command, stderr=stderr, env={**os.environ, **environment})
        self.servers[port] = process, ""
        until = time.monotonic() + SECONDS
        while not (bound := _PORT.search(log.read_text(encoding="utf-8", errors="replace"))):
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"{shlex.join(words)} doesn't answer:\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.02)
        self.servers[port] = process, bound[1]
        _wait_for(f"http://127.0.0.1:{bound[1]}/", until)

    def _on_ports(self, code: str) -> str:
        for port, (_, bound) in self.servers.items():
            code = re.sub(rf"\b(localhost|127\.0\.0\.1):{port}\b", f"127.0.0.1:{bound}", code)
        return code

    def _python(self, block: Block) -> None:
        code = compile("\n" * (block.line - 1) + self._on_ports(block.code), block.page, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, self.names)
        self.said = out.getvalue()

    def _toml(self, block: Block) -> None:
        file = Path(block.title or "shown.toml")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.code, encoding="utf-8")
        readers = {"rules.toml": load_rules, "replies.toml": read_replies}
        readers.get(file.name, lambda path: parse_config(tomllib.loads(path.read_text(encoding="utf-8"))))(file)

    def _json(self, block: Block) -> None:
        assert same_shape(json.loads(block.code), json.loads(self.said)), f"{block} shows another shape: {self.said}"


def same_shape(shown: object, said: object) -> bool:
    """Say whether JSON has the same keys and types; of lists the first counts, and an empty one is like any."""
    if isinstance(shown, dict) and isinstance(said, dict):
        return shown.keys() == said.keys() and all(same_shape(shown[name], said[name]) for name in shown)
    if isinstance(shown, list) and isinstance(said, list):
        return not shown or not said or same_shape(shown[0], said[0])
    return _kind(shown) == _kind(said)


def _kind(value: object) -> str:
    return "number" if type(value) in (int, float) else type(value).__name__


def _assigned(words: list[str]) -> Iterator[str]:
    """Give the leading words that set a variable of the environment."""
    for word in words:
        if not re.match(r"[A-Z_]+=", word):
            return
        yield word


def _option(words: list[str], *names: str) -> str:
    return next((words[at + 1] for at, word in enumerate(words[:-1]) if word in names), "")


def _redirected(words: list[str]) -> tuple[list[str], str, str]:
    """Take `< FILE` and `> FILE` out of a command."""
    given, kept = _option(words, "<"), _option(words, ">")
    return [word for word in words if word not in {"<", ">", given, kept} - {""}], given, kept


def _wait_for(url: str, until: float) -> None:
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

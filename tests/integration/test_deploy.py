"""What deploy/ promises: files that parse and fit the command line, and an install that serves without torch."""

import configparser
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import yaml
from bundles import write_bundle
from typer.testing import CliRunner

from limbeck.cli import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def options():
    shown = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}).output
    return set(re.findall(r"--[a-z][a-z-]+", shown))


def test_files_name_options_that_exist():
    known = options()
    assert "--workers" in known
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    deployment, service = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read(DEPLOY / "limbeck.service")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    commands = [compose["services"]["limbeck"]["command"], container["args"]]
    commands.append(shlex.split(unit["Service"]["ExecStart"])[2:])
    for command in commands:
        for word in command:
            if word.startswith("--"):
                assert word.partition("=")[0] in known, word
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in ("/readyz", "/healthz")
    assert container["resources"]["limits"]["memory"]


@pytest.mark.slow
def test_the_image_s_install_serves_without_torch(tmp_path):
    """What the Dockerfile does, in a clean environment instead of an image."""
    told = (DEPLOY / "Dockerfile").read_text()
    assert "pip install --no-cache-dir -c constraints.txt '.[serve]'" in told
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "app"], check=True)
    python = tmp_path / "app" / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", f"{ROOT}[serve]"]
    subprocess.run(command, check=True)
    absent = "import importlib.util as u, sys; sys.exit(any(map(u.find_spec, ('torch', 'transformers', 'sklearn'))))"
    subprocess.run([python, "-c", absent], check=True)
    bundle = write_bundle(tmp_path / "model")
    process = subprocess.Popen(
        [tmp_path / "app/bin/limbeck", "serve", bundle, "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        line = next(line for line in process.stderr if "answers on" in line)
        url = "http://" + line.rpartition(" ")[2].strip()
        for _ in range(100):
            try:
                asked = urllib.request.Request(f"{url}/v1/predict", b'{"text": "late"}')
                assert b'"labels":["late"]' in urllib.request.urlopen(asked, timeout=5).read()
                break
            except urllib.error.URLError:
                time.sleep(0.1)
        assert urllib.request.urlopen(f"{url}/", timeout=5).status == 200
    finally:
        process.terminate()
        assert process.wait(20) == 0

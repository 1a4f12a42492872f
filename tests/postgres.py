"""A real PostgreSQL server, which tests start and stop."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def programs():
    """Find where Debian keeps PostgreSQL's programs; without them there is nothing to test, which only CI minds."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    told = "PostgreSQL is not installed in /usr/lib/postgresql: apt-get install postgresql"
    pytest.fail(told) if os.environ.get("CI") else pytest.skip(told)


class Server:
    """A server of its own, on a socket in its own folder; it runs as the user postgres if the tests run as root."""

    def __init__(self, bin_folder, folder):
        self.bin, self.folder = bin_folder, folder
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(folder, "postgres", pwd.getpwnam("postgres").pw_gid)
        # The server is killed in these tests, the machine is not: nothing needs to reach the disk.
        self.run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def run(self, program, *arguments):
        command = [*self.user, str(self.bin / program), "-D", str(self.folder / "data"), *arguments]
        with (self.folder.parent / f"{self.folder.name}.log").open("a+") as log:
            if subprocess.run(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/").returncode:
                log.seek(0)
                pytest.fail(f"{program} failed: {log.read()}")

    def start(self):
        settings = f"-k {self.folder} -c listen_addresses= -c fsync=off -c shared_buffers=16MB -c autovacuum=off"
        self.run("pg_ctl", "-w", "-o", settings, "start")

    def stop(self):
        self.run("pg_ctl", "-w", "-m", "immediate", "stop")

    @property
    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"


@contextlib.contextmanager
def running():
    """Give a server that is stopped and removed afterwards."""
    bin_folder = programs()
    # Not below pytest's folder, into which the user postgres can't look.
    folder = Path(tempfile.mkdtemp(prefix="limbeck-postgres-"))
    log = folder.parent / f"{folder.name}.log"
    try:
        server = Server(bin_folder, folder)
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        log.unlink(missing_ok=True)

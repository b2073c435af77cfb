"""A real cluster of Spark on this machine: a master and two workers of one core, on loopback alone.

The tests run in the classic way, or with PRIORY_SPARK=connect by a server of Spark Connect.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "1g",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.showConsoleProgress": "false",
}
REGISTERED = "Successfully registered with master"


def unavailable():
    """Say why Spark cannot be had here, or nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyspark
    except ImportError:
        return "PySpark is not installed (make test-engines installs it)"
    if int(pyspark.__version__.partition(".")[0]) < 4:
        return f"PySpark {pyspark.__version__} is older than 4"
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        return "there is no Java (scripts/java.sh installs it where it may)"
    return None


def free_port():
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


class Cluster:
    """A master, two workers, and a server of Connect if it is asked for: processes of their own."""

    def __init__(self, folder):
        import pyspark

        self.folder, self.home = Path(folder), Path(pyspark.__file__).parent
        self.url = f"spark://127.0.0.1:{free_port()}"
        self.processes = {}
        port = self.url.rpartition(":")[2]
        self.start("master", "org.apache.spark.deploy.master.Master", "--port", port)
        self.wait_for("master", "I have been elected leader")
        for name in "first", "second":
            self.start_worker(name)
        for name in "first", "second":
            self.wait_for(name, REGISTERED)

    def start_worker(self, name):
        work = self.folder / f"work-{name}"
        args = ("--cores", "1", "--memory", "2g", "--work-dir", str(work), self.url)
        self.start(name, "org.apache.spark.deploy.worker.Worker", *args)

    def start(self, name, main, *args):
        command = [self.home / "bin" / "spark-class", main, "--host", "127.0.0.1"]
        self.run(name, [*command, "--webui-port", "0", *args])

    def start_connect(self):
        port = free_port()
        told = {"spark.connect.grpc.binding.port": str(port)}
        told |= {"spark.connect.grpc.binding.address": "127.0.0.1", **SETTINGS}
        command = [self.home / "bin" / "spark-submit", "--master", self.url]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
        command += [word for key, value in told.items() for word in ("--conf", f"{key}={value}")]
        self.run("connect", [*command, "spark-internal"])
        self.wait_for("connect", "Spark Connect server started")
        return f"sc://127.0.0.1:{port}"

    def run(self, name, command):
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes[name] = subprocess.Popen(
                list(map(str, command)),
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=environment(self.home),
                start_new_session=True,
            )

    def wait_for(self, name, pattern, seconds=120):
        log, end = self.folder / f"{name}.log", time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, log.read_text("utf-8", "replace")):
                return
            if self.processes[name].poll() is not None:
                break
            time.sleep(0.2)
        pytest.fail(f"{name} did not start: {log.read_text('utf-8', 'replace')[-2000:]}")

    def kill(self, name):
        """End a process and its executors at once, as a machine that dies does."""
        process = self.processes.pop(name)
        for child in descendants(process.pid):
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(child, signal.SIGKILL)
        process.kill()
        process.wait()

    def stop(self):
        for name in reversed(list(self.processes)):
            self.kill(name)


def descendants(pid):
    """List the processes that a process has started, and they."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(words[1]), []).append(int(stat.parent.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def environment(home):
    """Let executors use this Python and this tree."""
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("SPARK_CONNECT")},
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    reason = unavailable()
    if reason is not None:
        pytest.skip(reason)
    made = Cluster(tmp_path_factory.mktemp("spark"))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def session(cluster):
    """Begin a session, classic or by Connect."""
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    if os.environ.get("PRIORY_SPARK") == "connect":
        begun = SparkSession.builder.remote(cluster.start_connect()).getOrCreate()
    else:
        builder = SparkSession.builder.master(cluster.url).appName("tests")
        for key, value in SETTINGS.items():
            builder = builder.config(key, value)
        begun = builder.getOrCreate()
        begun.sparkContext.setLogLevel("OFF")
    yield begun
    begun.stop()

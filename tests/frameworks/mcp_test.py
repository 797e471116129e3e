# SPDX-License-Identifier: Apache-2.0
"""Drives `steptune mcp` with the official client of the Model Context Protocol.

    ~/.cache/steptune-frameworks/mcp/bin/python3 -B mcp_test.py

STEPTUNE_PROGRAM names the program; the default is that of build/dev. Skipped if the client or the program is missing.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import shlex
import tempfile
import time
import unittest

try:
    import mcp
except ImportError:
    mcp = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("STEPTUNE_PROGRAM", ROOT / "build/dev/bin/steptune"))

STEPS = """i=0
while [ $i -lt 2000 ]; do
  i=$((i + 1))
  echo "[steptune] {\\"v\\":1,\\"step\\":$i,\\"samples\\":$((i * 10))}"
  sleep "$1"
done
"""
STUDY = {
    "name": "steps",
    "command": ["/bin/sh", "steps.sh", "{pause}"],
    "parameters": {"pause": {"type": "ordinal", "choices": [0.02, 0.06]}},
    "baseline": {"pause": 0.06},
    "search": {"searcher": "grid", "scheduler": "none"},
    "budget": {"trials": 2},
    "measure": {"max_trial": "30s", "min_window": "1s", "confirm_pairs": 1},
    "runner": {"type": "local", "pin": False},
}


def processes_with(text):
    """Counts the processes with this text in their command line."""
    count = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            count += text.encode() in path.read_bytes()
    return count


def runs(script):
    """True if a program of the comparison runs, beside the tuner with the same words."""
    return processes_with(script) > 1


async def until(condition):
    for _ in range(600):
        if condition():
            return True
        await asyncio.sleep(0.05)
    return False


@unittest.skipIf(mcp is None, "the client is not installed: pip install -r mcp.txt")
@unittest.skipIf(not PROGRAM.exists(), f"{PROGRAM} is not built")
class OfficialClient(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="steptune-mcp-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.script = str(self.folder / "steps.sh")
        pathlib.Path(self.script).write_text(STEPS)
        (self.folder / "study.json").write_text(json.dumps(STUDY))
        self.logged = []

    def steps(self, pause):
        return ["/bin/sh", self.script, pause]

    async def on_log(self, params):
        self.logged.append(str(params.data))

    @contextlib.asynccontextmanager
    async def client(self):
        server = mcp.StdioServerParameters(
            command=str(PROGRAM), args=["mcp", "--root", str(self.folder)], cwd=str(self.folder))
        async with mcp.Client(server, logging_callback=self.on_log) as client:
            yield client

    async def test_judge(self):
        reports = []

        async def on_progress(progress, total, message):
            reports.append((progress, total, message))

        async with self.client() as client:
            tools = (await client.list_tools()).tools
            self.assertEqual([tool.name for tool in tools], ["survey", "tune", "judge", "status", "explain", "stop"])
            self.assertTrue(all(tool.input_schema["type"] == "object" for tool in tools))
            result = await client.call_tool(
                "judge", {"commands": [self.steps("0.06"), self.steps("0.02")], "time": "60s"},
                progress_callback=on_progress)
        self.assertFalse(result.is_error, result)
        judged = result.structured_content
        self.assertEqual(judged["verdict"], "faster", judged)
        self.assertEqual(judged["keep"], "B")
        self.assertGreater(judged["commands"][1]["speed_up"]["low_95"], 1.0)
        self.assertEqual(json.loads(result.content[0].text), judged)
        self.assertLess(len(result.content[0].text), 2001)
        self.assertTrue(reports)
        self.assertEqual(sorted(reports, key=lambda report: report[0]), reports)
        command = shlex.join(self.steps("0.06"))
        self.assertTrue(any(command in text for text in self.logged), self.logged)

    async def test_tune(self):
        async with self.client() as client:
            result = await client.call_tool("tune", {"study": "study.json", "time": "60s"})
            tuned = result.structured_content
            self.assertFalse(result.is_error, tuned)
            self.assertEqual(tuned["changes"][0]["advised"], 0.02, tuned)
            self.assertGreater(tuned["speed_up"]["ratio"], 2.0)
            self.assertIn("steptune exec steps", tuned["next"])
            board = (await client.call_tool("status", {"study": "steps"})).structured_content
            self.assertEqual(board["status"], "finished", board)
            trial = (await client.call_tool("explain", {"about": "trial", "trial": 1})).structured_content
            self.assertEqual(trial["configuration"], "pause=0.06", trial)

    async def test_cancellation(self):
        long = {"commands": [self.steps("0.03"), self.steps("0.030")], "margin": "0.01%", "time": "5m"}
        async with self.client() as client:
            call = asyncio.ensure_future(client.call_tool("judge", long))
            self.assertTrue(await until(lambda: runs(self.script)))
            busy = await client.call_tool("judge", long)
            self.assertTrue(busy.is_error)
            self.assertIn("busy", busy.structured_content["problem"])
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            self.assertTrue(await until(lambda: processes_with(self.script) == 0))
            status = await client.call_tool("status", {})
            self.assertNotIn("running", status.structured_content)

    async def test_refusal_outside(self):
        async with self.client() as client:
            for folder in ("/", "..", "/tmp/.."):
                result = await client.call_tool("tune", {"command": self.steps("0.02"), "folder": folder})
                self.assertTrue(result.is_error)
                self.assertIn("is outside of the folders", result.structured_content["problem"])
        self.assertEqual(processes_with(self.script), 0)

    async def test_end_of_the_client(self):
        long = {"commands": [self.steps("0.03"), self.steps("0.030")], "margin": "0.01%", "time": "5m"}
        async with self.client() as client:
            call = asyncio.ensure_future(client.call_tool("judge", long))
            self.assertTrue(await until(lambda: runs(self.script)))
            begin = time.monotonic()
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await call
        self.assertLess(time.monotonic() - begin, 10.0)
        self.assertTrue(await until(lambda: processes_with(self.script) == 0))


if __name__ == "__main__":
    unittest.main()

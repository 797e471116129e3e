# SPDX-License-Identifier: Apache-2.0
"""Prints the answer of `steptune mcp` to a call that fails: `judge` with only one command."""

import json
import subprocess

server = subprocess.Popen(["steptune", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)
for number, (method, params) in enumerate([
        ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "n", "version": "1"}}),
        ("tools/call", {"name": "judge", "arguments": {"commands": [["true"]]}})]):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
server.stdin.flush()
answer = {}
while answer.get("id") != 1:
    answer = json.loads(server.stdout.readline())
print(answer["result"]["content"][0]["text"])
server.stdin.close()
raise SystemExit(server.wait())

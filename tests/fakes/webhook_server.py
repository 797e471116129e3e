#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A webhook. Prints its port, then stores each request as one line of JSON.

/broken answers 500, /moved redirects, /hangs answers after a minute."""

import http.server
import json
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        request = {"path": self.path, "type": self.headers["Content-Type"], "body": json.loads(body)}
        with open(sys.argv[1], "a", encoding="utf-8") as file:
            file.write(json.dumps(request) + "\n")
        if self.path == "/hangs":
            time.sleep(60)
        self.send_response(500 if self.path == "/broken" else 302 if self.path == "/moved" else 200)
        if self.path == "/moved":
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()

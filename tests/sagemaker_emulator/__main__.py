# SPDX-License-Identifier: Apache-2.0
"""A local SageMaker: `python3 tests/sagemaker_emulator --root DIR [--config FILE] [--certificate FILE]`.

Prints one line, `listening on http://127.0.0.1:PORT`, and serves until SIGTERM. The configuration is a JSON
object; every key has a default:

  scale                 emulated seconds per real second (1)
  keys                  access key id -> secret, or [secret, session token, expiration in epoch seconds]
  training_quota        instance type (or "*") -> instances (4)
  warm_pool_quota       instance type (or "*") -> instances (0: keep-alive is accepted and does nothing)
  images                image -> command that replaces its entry point
  timing                see jobs.Timing
  log_delay_s, empty_page_every, log_page_size
  faults, seed          see faults.py
  prices                instance type -> USD per hour, or {"usd": ..., "vCpu": "4", "memory": "16 GiB", ...},
                        for the Price List API
"""

import argparse
import json
import pathlib
import signal
import ssl
import sys
import threading
import time
import types

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from clock import ScaledClock  # noqa: E402
from faults import Faults  # noqa: E402
from jobs import Timing  # noqa: E402
from limits import Quotas, RequestRates  # noqa: E402
from logs import Logs  # noqa: E402
from prices import PriceList  # noqa: E402
from s3 import ObjectStore  # noqa: E402
from server import Server, Validity, make_handler  # noqa: E402
from service import SageMaker  # noqa: E402

KNOWN = {"scale", "keys", "training_quota", "warm_pool_quota", "images", "timing", "log_delay_s",
         "empty_page_every", "log_page_size", "faults", "seed", "prices"}


def build_world(root, config):
    unknown = set(config) - KNOWN
    if unknown:
        raise SystemExit(f"unknown configuration keys: {', '.join(sorted(unknown))}")
    clock = ScaledClock(config.get("scale", 1))
    s3 = ObjectStore(root)
    logs = Logs(clock, config.get("log_delay_s", 5.0), config.get("empty_page_every", 3),
                config.get("log_page_size", 1000))
    faults = Faults(config.get("faults", []), config.get("seed", 0))
    quotas = Quotas(config.get("training_quota", {}), config.get("warm_pool_quota", {}))
    sagemaker = SageMaker(clock, root, config.get("images", {}), s3, logs, faults, quotas,
                          Timing(**config.get("timing", {})))
    keys = {name: tuple(value) if isinstance(value, list) else value
            for name, value in config.get("keys", {"AKIDEMULATOR": "emulator-secret"}).items()}
    # The API's request limits are per real second, even if the jobs' time is compressed.
    return types.SimpleNamespace(clock=clock, s3=s3, logs=logs, faults=faults, sagemaker=sagemaker,
                                 keys=keys, rates=RequestRates(ScaledClock(1)),
                                 prices=PriceList(config.get("prices", {})), validity=Validity())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--root", required=True, help="folder for objects and job files")
    parser.add_argument("--config", help="JSON file")
    parser.add_argument("--certificate", help="PEM file of a key and its certificate: serve HTTPS")
    arguments = parser.parse_args()
    config = json.loads(pathlib.Path(arguments.config).read_text()) if arguments.config else {}
    world = build_world(arguments.root, config)
    server = Server(("127.0.0.1", arguments.port), make_handler(world))
    scheme = "http"
    if arguments.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(arguments.certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    # Not an Event: a signal handler that interrupts this thread's wait and sets the Event would deadlock.
    stop_signals = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda caught, _: stop_signals.append(caught))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    print(f"listening on {scheme}://127.0.0.1:{server.server_address[1]}", flush=True)
    while not stop_signals:
        world.sagemaker.tick()
        time.sleep(0.01)
    server.shutdown()
    world.sagemaker.shutdown()


if __name__ == "__main__":
    main()

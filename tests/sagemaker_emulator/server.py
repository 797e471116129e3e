# SPDX-License-Identifier: Apache-2.0
"""HTTP server in front of the emulated services."""

import http.server
import json
import socket
import time
import uuid

import signature
from errors import ServiceError, validation
from validation import ModelValidator

# botocore's names of the services, by the prefix of their operations.
TARGETS = {"SageMaker": "sagemaker", "Logs_20140328": "logs",
           "GraniteServiceVersion20100801": "cloudwatch", "AWSPriceListService": "pricing"}


class Validity:
    """Validates all requests and answers of the JSON services. The tests read what was refused from the audit."""

    def __init__(self):
        self._models = {prefix: ModelValidator(name) for prefix, name in TARGETS.items()}
        self.refused = set()
        self.wrong_answers = set()

    def check(self, prefix, operation, request):
        try:
            self._models[prefix].check(operation, request)
        except ServiceError as error:
            self.refused.add(f"{operation}: {error.message}")
            raise

    def check_answer(self, prefix, operation, answer):
        self.wrong_answers |= {f"{operation}: {fault}"
                               for fault in self._models[prefix].faults_of_answer(operation, answer)}


def _cloudwatch(sagemaker, request):
    """Answers GetMetricData over `CPUUtilization` of hosts: percent of one core, summed over cores."""
    results = []
    for query in request.get("MetricDataQueries", []):
        metric = query["MetricStat"]["Metric"]
        host = {entry["Name"]: entry["Value"] for entry in metric["Dimensions"]}.get("Host", "")
        job = sagemaker.jobs.get(host.partition("/")[0])
        points = job.cpu_points() if job and metric["MetricName"] == "CPUUtilization" else []
        results.append({"Id": query["Id"], "Label": metric["MetricName"], "StatusCode": "Complete",
                        "Timestamps": [point[0] for point in points],
                        "Values": [point[1] for point in points]})
    return {"MetricDataResults": results}


def make_handler(world):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def _answer(self, status, headers, body):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("x-amzn-RequestId", str(uuid.uuid4()))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def _answer_json(self, status, value, truncate=False):
            body = b"" if value is None else json.dumps(value).encode()
            if truncate:
                body = body[:max(1, len(body) // 2)]
            self._answer(status, {"Content-Type": "application/x-amz-json-1.1"}, body)

        def _handle(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path, _, query = self.path.partition("?")
            if path == "/_emulator/audit":
                audit = world.sagemaker.audit()
                audit["throttled"] = world.rates.refused
                audit["refused"] = sorted(world.validity.refused)
                audit["wrong_answers"] = sorted(world.validity.wrong_answers)
                self._answer_json(200, audit)
                return
            try:
                service = signature.verify(self.command, path, query, self.headers, body, world.keys,
                                           time.time())
                if service == "s3":
                    self._answer(*world.s3.handle(self.command, path, query, body))
                    return
                self._handle_json(body)
            except ServiceError as error:
                self._answer_json(error.status, error.body())

        def _handle_json(self, body):
            prefix, _, operation = self.headers.get("X-Amz-Target", "").partition(".")
            if prefix not in TARGETS:
                raise ServiceError("UnknownOperationException", "unknown target")
            try:
                request = json.loads(body)
            except ValueError:
                raise ServiceError("SerializationException", "the body is not JSON")
            world.rates.admit(operation)
            fault = world.faults.for_request(operation, body.decode("utf-8", "replace"))
            if fault == "throttle":
                raise ServiceError("ThrottlingException", "Rate exceeded")
            if fault == "internal_error":
                raise ServiceError("InternalFailure", "", 500)
            if fault == "expired_credentials":
                raise ServiceError("ExpiredTokenException",
                                   "The security token included in the request is expired", 403)
            world.validity.check(prefix, operation, request)
            response = self._dispatch(prefix, operation, request)
            world.validity.check_answer(prefix, operation, response)
            if fault == "drop_response":
                # The request took effect, but its answer is lost.
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            self._answer_json(200, response, truncate=fault == "truncate")

        @staticmethod
        def _dispatch(prefix, operation, request):
            if prefix == "SageMaker":
                return world.sagemaker.handle(operation, request)
            if prefix == "Logs_20140328":
                return world.logs.handle(operation, request)
            if prefix == "GraniteServiceVersion20100801" and operation == "GetMetricData":
                return _cloudwatch(world.sagemaker, request)
            if prefix == "AWSPriceListService" and operation == "GetProducts":
                return world.prices.handle(request)
            raise validation(f"Unknown operation {operation}")

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _handle

    return Handler


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        pass  # the client has gone

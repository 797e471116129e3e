# SPDX-License-Identifier: Apache-2.0
"""The part of the Price List API that covers SageMaker's instances."""

import json

from errors import ServiceError

REGION = "us-east-1"


class PriceList:
    """For each type, the configured training price and others that are easily mistaken for it: hosting is dearer, and
    instances of a training plan cost nothing."""

    def __init__(self, entries):
        self._products = []
        for name, entry in sorted(entries.items()):
            entry = entry if isinstance(entry, dict) else {"usd": entry}
            facts = {key: str(value) for key, value in entry.items() if key != "usd"}
            for component, usd in (("Hosting", entry["usd"] * 1.5), ("Training", entry["usd"]),
                                   ("TrainingPlan", 0.0)):
                attributes = {"instanceName": name, "regionCode": REGION, "component": component,
                              "platoinstancetype": component, **facts}
                self._products.append((attributes, usd))

    def handle(self, request):
        if request.get("ServiceCode") != "AmazonSageMaker":
            raise ServiceError("NotFoundException", "There is no such service")
        wanted = {entry["Field"]: entry["Value"] for entry in request.get("Filters", [])}
        rows = [(attributes, usd) for attributes, usd in self._products
                if all(attributes.get(field) == value for field, value in wanted.items())]
        start = int(request.get("NextToken", 0))
        # Pages may have fewer entries than requested.
        size = min(request.get("MaxResults", 100), 2)
        response = {"FormatVersion": "aws_v1",
                    "PriceList": [self._product(*row) for row in rows[start:start + size]]}
        if start + size < len(rows):
            response["NextToken"] = str(start + size)
        return response

    @staticmethod
    def _product(attributes, usd):
        return json.dumps({
            "product": {"productFamily": "ML Instance", "attributes": attributes},
            "terms": {"OnDemand": {"a": {"priceDimensions": {"b": {
                "unit": "Hrs", "pricePerUnit": {"USD": f"{usd:.10f}"}}}}}}})

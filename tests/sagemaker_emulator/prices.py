# SPDX-License-Identifier: Apache-2.0
"""The Price List API, as far as training prices go."""

import json


class PriceList:
    def __init__(self, usd_per_hour):
        self._prices = usd_per_hour

    def handle(self, request):
        wanted = {entry["Field"]: entry["Value"] for entry in request.get("Filters", [])}
        rows = sorted((name, usd) for name, usd in self._prices.items()
                      if wanted.get("instanceName", name) == name)
        start = int(request.get("NextToken", 0))
        size = min(request.get("MaxResults", 100), 100)
        response = {"FormatVersion": "aws_v1",
                    "PriceList": [self._product(name, usd) for name, usd in rows[start:start + size]]}
        if start + size < len(rows):
            response["NextToken"] = str(start + size)
        return response

    @staticmethod
    def _product(name, usd):
        return json.dumps({
            "product": {"attributes": {"instanceName": name, "regionCode": "us-east-1",
                                       "platoinstancetype": "Training", "component": "Training"}},
            "terms": {"OnDemand": {"a": {"priceDimensions": {"b": {
                "unit": "Hrs", "pricePerUnit": {"USD": f"{usd:.10f}"}}}}}}})

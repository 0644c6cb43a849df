"""Prometheus' HTTP API, as far as the checks need it."""

import json
import time
import urllib.parse
import urllib.request


class Prometheus:
    def __init__(self, url):
        self.url = url

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=10) as reply:
            return json.load(reply)["data"]

    def instant(self, expression):
        return self.get("query", query=expression)["result"]

    def range(self, expression, start, end, step):
        return self.get("query_range", query=expression, start=start, end=end, step=step)["result"]


def wait_for(what, condition, seconds=60):
    """The condition's first value that counts; TimeoutError when none comes."""
    deadline = time.monotonic() + seconds
    last = None
    while time.monotonic() < deadline:
        try:
            value = condition()
            if value:
                return value
        except OSError as error:  # not listening yet
            last = error
        time.sleep(0.2)
    raise TimeoutError(f"waited {seconds} s for {what}" + (f": {last}" if last else ""))


def variables(prometheus):
    """What the dashboard's variables would offer, and intervals of several scrapes."""
    labels = prometheus.instant("walsizer_in_state")[0]["metric"]
    return {"job": labels["job"], "instance": labels["instance"], "__rate_interval": "10s", "window": "10s"}

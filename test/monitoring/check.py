#!/usr/bin/python3
"""Asks Prometheus what it has scraped from a server with walsizer. Each line of output is a result, as in TAP.

check.py URL up                                      wait until exporter and server answer and the rules are loaded
check.py URL series QUERIES.yaml DASHBOARD.json      every series and every panel has values
check.py URL value EXPRESSION NUMBER                 wait until the expression is that number
check.py URL alert NAME                              wait until that alert is pending or firing, and no other is
"""

import sys

import dashboard
from prometheus import Prometheus, variables, wait_for
import yaml

results = []


def result(ok, text):
    results.append(ok)
    print(("ok - " if ok else "not ok - ") + text, flush=True)


def up(prometheus):
    wait_for("the exporter", lambda: prometheus.instant("up == 1"))
    wait_for("the server", lambda: prometheus.instant("pg_up == 1"))
    rules = wait_for("the rules", lambda: all_rules(prometheus))
    result(True, "Prometheus scrapes the exporter, the exporter the server")
    wait_for("every rule's first evaluation", lambda: all(r["health"] == "ok" for r in all_rules(prometheus)))
    result(len(rules) == 6, f"{len(rules)} alert rules are loaded and evaluated without an error")


def all_rules(prometheus):
    return [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]


def series(prometheus, queries_path, dashboard_path):
    with open(queries_path, encoding="utf-8") as file:
        queries = yaml.safe_load(file)
    names = [
        f"{space}_{name}"
        for space, query in queries.items()
        for column in query["metrics"]
        for name, metric in column.items()
        if metric["usage"] != "LABEL" and space != "walsizer_holder"  # nobody holds WAL here
    ]
    missing = [name for name in names if not prometheus.instant(name)]
    result(not missing, f"{len(names)} series are there" + (f", but not {', '.join(missing)}" if missing else ""))
    nothing = [name for name in names if prometheus.instant(name) and not prometheus.instant(f"{name} == {name}")]
    # NaN is what SQL's NULL becomes: known only after a raise, or after the first whole window.
    result(not nothing, "none of them is NaN" + (f", but {', '.join(nothing)}" if nothing else ""))
    for metric in ("pg_exporter_last_scrape_error", "pg_exporter_user_queries_load_error"):
        bad = prometheus.instant(f"max_over_time({metric}[1h]) > 0")
        result(not bad, f"{metric} stayed 0")
    states = prometheus.instant("sum(walsizer_in_state)")
    result(float(states[0]["value"][1]) == 1, "walsizer is in exactly one state")
    governs = prometheus.instant("sum(walsizer_ceiling_governs)")
    result(float(governs[0]["value"][1]) == 1, "exactly one ceiling governs")

    board = dashboard.load(dashboard_path)
    faults = dashboard.faults(board)
    result(not faults, "the dashboard is complete" + "".join(f"\n  {fault}" for fault in faults))
    values = variables(prometheus)
    for panel in board["panels"]:
        empty = [t["expr"] for t in panel["targets"] if not prometheus.instant(dashboard.expression(t, values))]
        # What never happened has no state, but a counter that stays 0 has a rate.
        result(not empty, f"panel {panel['title']}: every query answers" + "".join(f"\n  not {e}" for e in empty))


def value(prometheus, expression, number):
    wait_for(
        f"{expression} to be {number}",
        lambda: any(float(r["value"][1]) == float(number) for r in prometheus.instant(expression)),
    )
    result(True, f"{expression} is {number}, as the server says")


def alert(prometheus, name):
    found = wait_for(f"the alert {name}", lambda: [a for a in prometheus.get("alerts")["alerts"] if named(a) == name])
    result(True, f"{name} is {found[0]['state']}: {found[0]['annotations']['summary']}")
    others = {named(a) for a in prometheus.get("alerts")["alerts"]} - {name, "WalsizerForcedCheckpoints"}
    result(not others, "and no other alert" + (f", but {', '.join(others)}" if others else ""))


def named(one):
    return one["labels"]["alertname"]


def main():
    commands = {"up": up, "series": series, "value": value, "alert": alert}
    if len(sys.argv) < 3 or sys.argv[2] not in commands:
        sys.exit(__doc__)
    try:
        commands[sys.argv[2]](Prometheus(sys.argv[1]), *sys.argv[3:])
    except TimeoutError as error:
        result(False, str(error))
    sys.exit(0 if all(results) else 1)


main()

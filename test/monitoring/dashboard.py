"""The Grafana dashboard as a file: what Grafana's dashboard kind asks of it, and its queries for a server."""

import json
import re

# Grafana's names for what the panels use; a unit it does not know is shown as bare text behind the number.
UNITS = {"bytes", "Bps", "percentunit", "s", "short"}
PANELS = {"timeseries", "state-timeline"}
COLUMNS = 24


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def faults(dashboard):
    """Everything that is wrong with it, as sentences."""
    found = []

    def demand(condition, sentence):
        if not condition:
            found.append(sentence)

    demand(8 <= len(dashboard.get("uid", "")) <= 40, "uid is not 8 to 40 characters long")
    demand(dashboard.get("title"), "no title")
    demand(isinstance(dashboard.get("schemaVersion"), int), "schemaVersion is no number")
    demand(isinstance(dashboard.get("editable"), bool), "editable is no boolean")
    demand(dashboard.get("graphTooltip") in (0, 1, 2), "graphTooltip is none of 0, 1, 2")
    demand("id" not in dashboard, "id belongs to one Grafana and must not be in a file")
    demand(set(dashboard.get("time", {})) == {"from", "to"}, "time has no from and to")

    variables = {v.get("name") for v in dashboard.get("templating", {}).get("list", [])}
    for variable in dashboard.get("templating", {}).get("list", []):
        demand(variable.get("type") in ("query", "datasource", "interval"), f"variable {variable.get('name')}: unknown type")
        demand(variable.get("query"), f"variable {variable.get('name')}: no query")

    panels = dashboard.get("panels", [])
    demand(panels, "no panels")
    demand(len({p.get("id") for p in panels}) == len(panels), "panels share an id")
    taken = {}
    for panel in panels:
        name = panel.get("title") or f"panel {panel.get('id')}"
        demand(panel.get("title"), f"{name}: no title")
        demand(panel.get("description"), f"{name}: no description")
        demand(panel.get("type") in PANELS, f"{name}: unknown type {panel.get('type')}")
        demand(set(panel.get("fieldConfig", {})) == {"defaults", "overrides"}, f"{name}: fieldConfig is not complete")
        demand(unit(panel) in UNITS, f"{name}: unknown unit {unit(panel)}")
        place = panel.get("gridPos", {})
        demand(set(place) == set("xywh"), f"{name}: gridPos is not complete")
        demand(0 <= place.get("x", -1) and place.get("x", 0) + place.get("w", 99) <= COLUMNS, f"{name}: out of the grid")
        for x in range(place.get("x", 0), place.get("x", 0) + place.get("w", 0)):
            for y in range(place.get("y", 0), place.get("y", 0) + place.get("h", 0)):
                demand((x, y) not in taken, f"{name}: lies over {taken.get((x, y))}")
                taken[x, y] = name
        targets = panel.get("targets", [])
        demand(targets, f"{name}: no targets")
        demand(len({t.get("refId") for t in targets}) == len(targets), f"{name}: targets share a refId")
        for target in targets:
            demand(target.get("legendFormat"), f"{name}: a target without a legend")
            demand(target.get("datasource", {}).get("type") == "prometheus", f"{name}: a target without Prometheus")
            for used in re.findall(r"\$\{?(\w+)", target.get("expr", "$none")):
                demand(used in variables | {"__rate_interval"}, f"{name}: nobody defines ${used}")
    return list(dict.fromkeys(found))


def unit(panel):
    return panel.get("fieldConfig", {}).get("defaults", {}).get("unit")


def expression(target, values):
    """The query that Grafana would send with these values of the variables."""
    return re.sub(r"\$\{?(\w+)\}?", lambda match: values[match.group(1)], target["expr"])

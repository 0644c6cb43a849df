#!/usr/bin/python3
"""Draws the dashboard's panels from Prometheus' series, each where the dashboard has it.

chart.py URL DASHBOARD.json START END FILE.png       START and END in seconds since 1970
"""

import math
import sys

import dashboard
import matplotlib
from prometheus import Prometheus, variables

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator  # noqa: E402

STEP = 1  # seconds


def human(unit):
    def sized(number, suffix):
        for prefix in ("", "Ki", "Mi", "Gi"):
            if abs(number) < 1024 or prefix == "Gi":
                return f"{number:.3g} {prefix}B{suffix}"
            number /= 1024
        return ""

    return {
        "bytes": lambda n, _: sized(n, ""),
        "Bps": lambda n, _: sized(n, "/s"),
        "percentunit": lambda n, _: f"{n * 100:.0f} %",
        "s": lambda n, _: f"{n:g} s",
        "short": lambda n, _: f"{n:g}",
    }[unit]


def locator(unit, top):
    """Some five ticks at round numbers, of bytes too."""
    if unit in ("bytes", "Bps"):
        return MultipleLocator(2 ** math.floor(math.log2(max(top, 8) / 4)))
    return MaxNLocator(4, integer=unit == "short")


def lines(prometheus, panel, values, start, end):
    """(legend, times, numbers) of every series of a panel; times in seconds since the start."""
    for target in panel["targets"]:
        for series in prometheus.range(dashboard.expression(target, values), start, end, STEP):
            legend = target["legendFormat"]
            for label, text in series["metric"].items():
                legend = legend.replace("{{" + label + "}}", text)
            points = [(float(t) - start, float(v)) for t, v in series["values"]]
            points = [(t, v) for t, v in points if math.isfinite(v)]
            yield legend, [t for t, _ in points], [v for _, v in points]


def draw(axes, panel, found, values):
    custom = panel["fieldConfig"]["defaults"]["custom"]
    axes.set_title(panel["title"].replace("$window", values["window"]), loc="left", fontsize=10, fontweight="bold")
    if panel["type"] == "state-timeline":
        for row, (legend, times, _) in enumerate(found):
            axes.broken_barh([(t, STEP) for t in times], (row - 0.4, 0.8), color=f"C{row}")
        axes.set_yticks(range(len(found)), [legend for legend, _, _ in found])
        axes.invert_yaxis()
        return
    step = "steps-post" if custom.get("lineInterpolation") == "stepAfter" else "default"
    stack = {}
    top = 0
    for legend, times, numbers in found:
        if "stacking" in custom:
            below = [stack.get(t, 0) for t in times]
            numbers = [b + n for b, n in zip(below, numbers)]
            axes.fill_between(times, below, numbers, step="post", label=legend, alpha=0.7, linewidth=0)
            stack.update(zip(times, numbers))
        else:
            axes.plot(times, numbers, linewidth=1.5, drawstyle=step, label=legend)
        top = max([top, *numbers])
    for threshold in panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", []):
        if threshold["value"] is not None:
            axes.axhline(threshold["value"], color=threshold["color"], linewidth=1, linestyle="--")
    unit = dashboard.unit(panel)
    if custom.get("scaleDistribution", {}).get("type") == "log":
        axes.set_yscale("log", base=custom["scaleDistribution"]["log"])
    else:
        axes.set_ylim(0, top * 1.08 or 1)
        axes.yaxis.set_major_locator(locator(unit, top))
    axes.yaxis.set_major_formatter(FuncFormatter(human(unit)))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=4, fontsize=8, frameon=False)


def main():
    url, path, start, end, out = sys.argv[1:]
    start, end = float(start), float(end)
    prometheus = Prometheus(url)
    board = dashboard.load(path)
    values = variables(prometheus)
    rows = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in board["panels"])
    figure = plt.figure(figsize=(14, rows * 0.4))
    grid = figure.add_gridspec(rows, dashboard.COLUMNS)
    for panel in board["panels"]:
        place = panel["gridPos"]
        # The title is above, the legend below.
        axes = figure.add_subplot(
            grid[place["y"] + 1 : place["y"] + place["h"] - (1 if place["h"] < 5 else 2), place["x"] + 1 : place["x"] + place["w"]]
        )
        draw(axes, panel, list(lines(prometheus, panel, values, start, end)), values)
        axes.set_xlim(0, end - start)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:.0f} s"))
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(out, dpi=80, bbox_inches="tight", metadata={"Software": None})


main()

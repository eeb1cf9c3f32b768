# SPDX-License-Identifier: Apache-2.0
"""The replay's figures (build/replay.json, tests/replay/) in the score: its section, and what of it falls short. Pure."""
from figures import needed_lead
from marks import NONE, bold, minutes, table

FALSE_PER_100_POD_DAYS = 1.0
FORECAST_SHARE = 0.8
LEAD = "first_named_warning_minutes_before"
FORECAST = "forecast_within_25_percent_at_half"
PEERS = (("static_floor_85", "floor > 85 %"), ("working_set_90", "working set > 90 %"), ("predict_linear", "predict_linear"))


def never(value):
    """The replay writes -1 for never."""
    return None if value is None or value < 0 else value


def order(leak):
    return leak["profile"], -leak["speed_percent_per_minute"], leak["owner"] != "all", leak["owner"]


def short_leads(leak):
    return (never(leak[LEAD].get("worst")) or 0) < needed_lead(leak["speed_percent_per_minute"])


def row(leak):
    lead = leak[LEAD]
    peers = [minutes(never(leak.get(f"{name}_median"))) for name, _ in PEERS]
    share = leak.get(FORECAST)
    return [f"{leak['speed_percent_per_minute']:g}", leak["profile"], "**all**" if leak["owner"] == "all" else leak["owner"],
            bold(f"{leak['named']} of {leak['runs']}", leak["named"] < leak["runs"]), minutes(never(lead.get("median"))),
            bold(minutes(never(lead.get("worst"))), short_leads(leak)),
            NONE if share is None else bold(f"{share:.0%}".replace("%", " %"), leak["owner"] == "all" and share < FORECAST_SHARE), *peers]


def section(replay):
    if not replay:
        return "\n## Replay\n\nNot run with these scenarios.\n"
    per = replay["per_100_pod_days"]
    text = f"""
## Replay

What takes days is replayed on a fast clock: pods made from recorded runs, through the shipped core and at the shipped cadence, with
stated seeds ([replay.md](replay.md)). {replay['pod_days']:g} pod-days of healthy pods had {replay['false_warnings']} false warnings:
{bold(f'{per:.2f} in 100 pod-days', per > FALSE_PER_100_POD_DAYS)}, where 1 is allowed.
"""
    peers = [[what, str(replay[name].get("false_alarms", NONE))] for name, what in PEERS if isinstance(replay.get(name), dict)]
    if peers:
        text += "\n" + table(["on the same days", "false alarms"], [["Bankfull", str(replay["false_warnings"])], *peers])
    if replay.get("by_rule"):
        text += "\n" + table(["rule", "false warnings"], [[rule, str(count)] for rule, count in sorted(replay["by_rule"].items())])
    if replay.get("leaks"):
        text += """
Leaks on top of the same noise, in minutes before the limit is reached. The worst lead must be 60, 20 and 3 minutes at 0.1, 1 and 10 %/min;
the forecast is the share of pods of which it was within 25 % at half the time.

""" + table(["%/min", "profile", "who grew", "named", "median lead", "worst lead", "forecast", *(what for _, what in PEERS)],
            [row(leak) for leak in sorted(replay["leaks"], key=order)])
    return text


def short(replay):
    """(profile, figure, reached, needed) of what falls short; the figure has owner and pace in it."""
    if not replay:
        return
    if not replay["pod_days"]:
        yield None, "false warnings", "no pod-days were run", "at most 1 in 100 pod-days"
    if not replay.get("leaks"):
        yield None, "lead", "no leaks were run", "one of each owner and pace"
    if replay["per_100_pod_days"] > FALSE_PER_100_POD_DAYS:
        yield None, "false warnings", f"{replay['per_100_pod_days']:.2f}", "at most 1 in 100 pod-days"
    for leak in sorted(replay.get("leaks", []), key=order):
        what = f"{leak['owner']} at {leak['speed_percent_per_minute']:g} %/min"
        if leak["owner"] == "all":
            if leak.get(FORECAST, 1) < FORECAST_SHARE:
                yield leak["profile"], f"forecast of {what}", f"{leak[FORECAST]:.0%} of pods", "within 25 % at half the time in 80 %"
            continue
        if leak["named"] < leak["runs"]:
            yield leak["profile"], f"named {what}", f"{leak['named']} of {leak['runs']}", "all"
        if short_leads(leak):
            yield (leak["profile"], f"lead of {what}", f"worst {minutes(never(leak[LEAD].get('worst')))} min",
                   f"at least {minutes(needed_lead(leak['speed_percent_per_minute']))} min")

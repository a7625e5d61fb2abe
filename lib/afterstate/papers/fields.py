"""What the files of the papers may hold: fields, their types, and errors that name the place."""

TEXT, NUMBER = str, (int, float)
CLAIM_FIELDS = {
    "id": TEXT,
    "place": dict,
    "printed": TEXT,
    "value": (*NUMBER, str, list, dict),
    "unit": TEXT,
    "of": int,
    "uncertainty": dict,
    "relation": TEXT,
    "better": TEXT,
    "target": bool,
    "reason": TEXT,
    "note": TEXT,
    "study": TEXT,
    "arm": TEXT,
    "metric": TEXT,
    "needs": TEXT,
    "bound": TEXT,
    "timed": dict,
}
TIMED_FIELDS = {"what": TEXT, "player": TEXT, "than": TEXT, "agents": int}
NO_READING_FIELDS = {"claims": list, "table": TEXT, "rows": list, "columns": list, "why": TEXT}
READING_FIELDS = {
    "id": TEXT,
    "says": TEXT,
    "of": TEXT,
    "study": TEXT,
    "arms": dict,
    "tables": list,
    "label": TEXT,
    "metrics": dict,
    "software": bool,
    "sets": dict,
    "settings": dict,
    "parameters": dict,
    "one_training": list,
    "not_run": TEXT,
}
DEVIATION_FIELDS = {
    "id": TEXT,
    "title": TEXT,
    "paper": TEXT,
    "original": TEXT,
    "default": TEXT,
    "switch": TEXT,
    "values": dict,
    "why": TEXT,
    "status": TEXT,
}
PARAMETER_FIELDS = {"name": TEXT, "value": (*NUMBER, bool, str, list, dict), "place": dict}
PAPER_FIELDS = {
    "key": TEXT,
    "title": TEXT,
    "authors": list,
    "year": int,
    "url": TEXT,
    "order": int,
    "main_table": TEXT,
    "statements_written": TEXT,
    "verdicts_changed": TEXT,
    "shared_spread": int,
    "tables": dict,
    "figures": list,
    "statements": list,
    "readings": list,
    "no_reading": list,
    "claims": list,
    "parameters": list,
    "deviations": list,
}
TABLE_FIELDS = {"caption": TEXT, "heads": list, "rows": (list, dict), "columns": list}
FIGURE_FIELDS = {"figure": TEXT, "shows": TEXT}
PLACE_FIELDS = {"table": TEXT, "figure": TEXT, "section": TEXT, "row": TEXT, "column": TEXT}
UNCERTAINTY_FIELDS = {"value": NUMBER, "kind": TEXT, "runs": int}
MARGIN_FIELDS = {
    "absolute": NUMBER,
    "relative": NUMBER,
    "share": NUMBER,
    "at_least": NUMBER,
    "why": TEXT,
    "changed": TEXT,
    "former": dict,
}
FORMER_FIELDS = {
    name: MARGIN_FIELDS[name] for name in ("absolute", "relative", "share", "at_least")
}
CHOICES = {
    "relation": ("=", ">", "<"),
    "better": ("higher", "lower"),
    "kind": ("sem", "sd"),
    "status": ("built", "planned"),
    "what": ("move", "training", "factor", "searched training"),
}


def check_fields(entry, fields, required, where):
    """Refuse an entry with an unknown field, a wrong type or a required field missing."""
    if not isinstance(entry, dict):
        raise ValueError(f"{where}: {entry!r} is not a mapping of fields")
    for name, content in entry.items():
        if name not in fields:
            raise ValueError(f"{where}: unknown field {name!r}; the fields are {', '.join(fields)}")
        kinds = fields[name] if isinstance(fields[name], tuple) else (fields[name],)
        wrong = not isinstance(content, kinds) or (isinstance(content, bool) and bool not in kinds)
        if content is not None and wrong:
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(
                f"{where}: {name} is {content!r}, a {type(content).__name__}; it must be {expected}"
            )
        if content is not None and name in CHOICES and content not in CHOICES[name]:
            raise ValueError(
                f"{where}: {name} is {content!r}; it must be one of {', '.join(CHOICES[name])}"
            )
    for name in fields:
        if name in required and entry.get(name) is None:
            raise ValueError(f"{where}: {name} is missing")


def check_timed(entry, where):
    """Refuse a printed time without what it takes to say ours."""
    timed = entry.get("timed")
    if timed is not None:
        asks = {"move": {"player", "than"}, "training": set()}
        needed = asks.get(timed.get("what"), {"player"})
        check_fields(timed, TIMED_FIELDS, {"what", *needed}, f"{where}, timed")
        if not (entry.get("study") and entry.get("arm")):
            raise ValueError(f"{where}: a timed claim needs study and arm")


def check_place(place, where):
    """Refuse a place that is not one of table, figure and section."""
    check_fields(place, PLACE_FIELDS, set(), f"{where}, place")
    if sum(kind in place for kind in ("table", "figure", "section")) != 1:
        raise ValueError(f"{where}: place is {place}; it needs one of table, figure, section")
    if "table" in place and not {"row", "column"} <= set(place):
        raise ValueError(f"{where}: place is {place}; a place in a table needs row and column")


def check_unique(ids, file):
    """Refuse an id that occurs twice."""
    seen = set()
    for name in ids:
        if name in seen:
            raise ValueError(f"{file}: id {name} occurs twice; ids must be unique")
        seen.add(name)


def name_of(entry, field):
    """Return what an entry is called in messages."""
    return entry.get(field, "without id") if isinstance(entry, dict) else repr(entry)

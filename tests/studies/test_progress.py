"""Telling how far a long computation is."""

from afterstate.studies import progress as progress_module
from afterstate.studies.progress import Progress, clock, is_progress


def test_progress_is_lines_in_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "PATIENCE", -1.0)
    with Progress(100, "training") as progress:
        for _ in range(50):
            progress.advance(2)
    lines = capsys.readouterr().out.splitlines()
    assert (
        len(lines) == 10
        and lines[0].startswith("training: 10%")
        and "left" in lines[0]
        and "done in" in lines[-1]
    )
    assert all(map(is_progress, lines))
    assert not any(
        map(is_progress, ["holds: 5% of the games are drawn", "nim / FARL: 2 runs: 2 recorded"])
    )
    assert [clock(s) for s in (3, 100, 4000, 40 * 3600)] == ["3 s", "1.7 min", "67 min", "40 h"]


def test_progress_in_place_may_show_that_nothing_is_done_yet(monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "_watched", lambda: True)
    with Progress(100, "training") as progress:
        progress.shown -= 1.0  # the first report came late: a large network had to be made
        progress.advance(0)
        progress.advance(100)
    assert (
        "training: 0%" in (text := capsys.readouterr().out)
        and "just begun" in text
        and "done in" in text
    )

"""A name that is HTML stays a name in everything that makes HTML or SVG."""

import io
from html.parser import HTMLParser

import pandas as pd
import pytest

from afterply import arena, players
from afterply.games import boards
from afterply.games.drawing import document, mark
from afterply.games.game import Game
from afterply.screen.game_table import Table
from afterply.screen.widget import BoardWidget, Replay
from afterply.studies.reports import figures, pages
from sample_games import race

BAD = '<script>alert(1)</script>&"&lt;'


class Read(HTMLParser):
    """The elements of a page, and its text as a reader sees it."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def game():
    named = {"name": BAD, "render": lambda s: BAD, "action_name": lambda s, action: BAD}
    return Game(**race()._arguments | named)


def standings(game, folder):
    pool = {BAD: players.MinMax(5), f"{BAD}2": players.MinMax(9)}
    table, drawn = arena.tournament(game, pool, episodes=3), io.StringIO()
    table.plot().figure.savefig(drawn, format="svg")
    assert "Few games are different" in table.remarks[-1] and BAD in table.remarks[-1]
    return [table._repr_html_()], [drawn.getvalue()]


def drawings(game, folder):
    states = [game.start(), game.play(game.start(), 0)]
    made = [boards.replay(game, states, [0]), boards.replay(game, states, captions=[BAD, BAD])]
    made += [game.view(states[0], [0.5, -0.5]), document([mark(BAD).parts], 60, 60, title=BAD)]
    return [str(drawing) for drawing in made], []


def widgets(game, folder):
    board = BoardWidget(Table(game, [players.Random()], adviser=players.MaxN(3)), None)
    board._values = {0: 0.5, 1: -0.5}
    board._show()
    replay = Replay(game, [game.start(), game.play(game.start(), 0)], [0], players.MaxN(3))
    replay.explain()
    frames = replay.scene["frames"]
    return [board.scene["svg"], frames[0]["valued"], *(frame["svg"] for frame in frames)], []


def a_figure(game, folder):
    rows = {"arm": BAD, "run": [0, 1], "episode": 1, "measure": BAD, "value": [1.0, 2.0]}
    return [], [figures.learning_curves(pd.DataFrame(rows), [BAD], title=BAD)[0].svg()]


def a_report(game, folder):
    text = pages._markdown(BAD)
    (folder / "page.md").write_text(f"# {text}\n\n| {text} | b |\n|---|---|\n| {text} | c |\n")
    (folder / "<b>&.md").write_text(text)  # without a heading, the title is the file's name
    pages.write_html(folder)
    return [path.read_text() for path in folder.glob("*.html")], []


@pytest.mark.filterwarnings("ignore:game ")
@pytest.mark.parametrize("made", [standings, drawings, widgets, a_figure, a_report])
def test_a_name_that_is_html_stays_a_name(made, game, tmp_path):
    texts, drawn = made(game, tmp_path)  # in drawings of figures, letters are paths
    for page in texts + drawn:
        read = Read(page)
        assert read.tags and not read.tags & {"script", "b"} and "<script" not in page
        assert page in drawn or BAD in read.text

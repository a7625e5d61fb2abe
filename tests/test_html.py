"""A name that is HTML stays a name in everything that makes HTML or SVG."""

import io
from html.parser import HTMLParser
from types import SimpleNamespace

import pandas as pd
import pytest

from afterply import arena, games, players
from afterply.games import boards
from afterply.games.drawing import document, mark
from afterply.games.game import Game
from afterply.networks import agent_file
from afterply.networks.ntuple import Network
from afterply.screen.game_table import Table
from afterply.screen.widget import BoardWidget, Replay
from afterply.studies.question import Answer
from afterply.studies.reports import figures, pages
from afterply.studies.reports.own_paper import COLUMNS, Judged
from sample_games import race

OUT = "a\n```\n<script>alert(1)</script>\n"  # would end a block of code
NO_CLAIMS = SimpleNamespace(statements=[], rows=[])
BAD = '<script>alert(1)</script>&"&lt;'


def paper_at(url):
    """A paper of a claims file, with what its page shows at the head."""
    return SimpleNamespace(title=BAD, key="mine", authors=[BAD], year=2020, url=url)


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


def foreign_files(game, folder):
    """What a notebook shows of a claims file and of an agent's card that come from elsewhere."""
    net = Network(games.load("nim"), [[0, 1, 2]])
    agent_file.write(
        folder / "agent.npz", net, {"name": BAD, "words": f"{BAD}; {BAD}", "note": OUT}
    )
    card = pages.html_of(players.load(folder / "agent.npz")._repr_markdown_())
    judged = Judged(pd.DataFrame([[BAD] * 5], columns=COLUMNS), BAD)
    answer = Answer(BAD, caption=BAD, table=judged.table)
    link = pages.render("own_paper.md", part=NO_CLAIMS, paper=paper_at(f"x){BAD}"), there=BAD)
    made = [card, judged._repr_html_(), answer._repr_html_(), pages.html_of(link)]
    return [f"<p>{one}" for one in made], []


@pytest.mark.parametrize("name", ["\ud800", "\x1b[2J", "\x9b31m", 7])
def test_a_card_is_refused_whose_name_no_terminal_shows(tmp_path, name):
    path, net = tmp_path / "agent.npz", Network(games.load("nim"), [[0, 1, 2]])
    for card in ({"name": name}, {"note": [{"deep": name}]}):
        agent_file.write(path, net, card)
        if card.get("note") and name == 7:  # a number among the facts
            players.load(path)
            continue
        with pytest.raises(ValueError, match="holds the character|is 7, no text"):
            players.load(path)


@pytest.mark.filterwarnings("ignore:game ")
@pytest.mark.parametrize("made", [standings, drawings, widgets, a_figure, a_report, foreign_files])
def test_a_name_that_is_html_stays_a_name(made, game, tmp_path):
    texts, drawn = made(game, tmp_path)  # in drawings of figures, letters are paths
    for page in texts + drawn:
        read = Read(page)
        assert read.tags and not read.tags & {"script", "b"} and "<script" not in page
        assert page in drawn or BAD in read.text

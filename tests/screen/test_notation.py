"""Games written and read back in every form, and texts that state what is not so."""

import random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from afterply import arena, games, players
from afterply.screen import notation
from many import one_in

GAMES = [
    games.load("hex", size=5, swap=True),
    games.load("hex", size=3),
    games.load("othello"),
    games.load("othello", side=4),
    games.load("checkers", quiet_plies=30),
    games.load("giveaway"),
]
HEX3, HEX5, OTHELLO, OTHELLO4 = GAMES[1], GAMES[0], GAMES[2], GAMES[3]
NAMES = st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])), max_size=2)
few = settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.generate])


def played(game, seed, share=1.0):
    """Play at random; return the states and actions of the first part of the game."""
    rng, states, actions = random.Random(seed), [game.start()], []
    while not game.over(states[-1]):
        actions.append(rng.choice(game.legal(states[-1]).tolist()))
        states.append(game.play(states[-1], actions[-1]))
    ply = round(share * len(actions))
    return states[: ply + 1], actions[:ply]


def read_sgf(text, game):
    return notation.read_sgf(f"(;GM[{notation.SGF_GAMES[game.name]}]{text})", game)


# ------------------------------------------------------------------------------- round trips
CASES = [(name, {}) for name in games.names() if not name.startswith("cube")]


@pytest.mark.parametrize("name, params", one_in(3, [*CASES, ("hex", {"size": 4})]))
def test_games_are_written_and_read_back(name, params):
    game = games.load(name, **params)
    seats = [players.Random()] * game.players
    result = arena.match(game, seats, seed=4)
    text = notation.write(game, result.states, result.moves, ["a"] * game.players)
    found = notation.read(text)
    assert found.actions == result.moves and found.game.identity == game.identity
    assert all(map(np.array_equal, found.states, result.states))
    assert "a" in found.tags.values() and "Result" in found.tags


@few
@given(st.sampled_from(GAMES), st.integers(0, 10**6), st.floats(0, 1), NAMES)
def test_every_form_says_the_same_game(game, seed, share, seats):
    states, actions = played(game, seed, share)
    named = ("White", "Black") if game.name in notation.PDN_GAMES else ("First", "Second")
    forms = [(notation.write(game, states, actions, seats), notation.read, named)]
    if game.name in notation.SGF_GAMES:
        forms.append((notation.write_sgf(game, actions, seats), notation.read_sgf, ("PB", "PW")))
    for text, read, named in forms:
        found = read(text.replace("\n", "\r\n"), game)
        assert found.actions == actions == read("\ufeff" + text, game).actions
        assert all(map(np.array_equal, found.states, states))
        assert [found.tags[seat] for seat in named if seat in found.tags] == seats[: len(named)]


@few
@given(st.integers(0, 10**6))
def test_passes_stand_where_they_are_forced(seed):
    states, actions = played(OTHELLO, seed)
    turns = [OTHELLO.player(state) for state in states]
    passed = [False, *(np.diff(turns) == 0).tolist()]
    words = list(map(OTHELLO.action_name, states, actions))
    said = ["--" * gone + word for word, gone in zip(words, passed)]
    moves = [f";{'BW'[turn]}[{word}]" for turn, word in zip(turns, words)]
    moves = [f";{'WB'[turn]}[]" * gone + m for turn, m, gone in zip(turns, moves, passed)]
    for read, parts in ((notation.read, said), (read_sgf, moves)):
        assert read("".join(parts), OTHELLO).actions == actions
    for k in {0, 1, len(words) // 2, len(words) - 1} - {*np.flatnonzero(passed)}:
        with pytest.raises(ValueError, match="'pa', is not forced"):
            notation.read("".join([*words[:k], "pa", *words[k:]]), OTHELLO)


# ------------------------------------------------------ texts of other programs, and wrong ones
HEX11, CUBE = games.load("hex", size=11, swap=True), games.load("cube3")
WON = '[Game "tictactoe"]\n[Version "1"]\n[Result "1 -1"]\n1. a1 b1 2. a2 b2 3. a3'
FORK = '[FEN "B:B2:W6,7,14,15,K32"]\n'  # two ways lead from 2 to 18
READ = [  # the reader, a text of another program, the moves by their names in our game
    (read_sgf, HEX11, ";B[f6](;W[e7];B[d8])(;W[g5];B[h4])", "f6 g5 h4"),
    (read_sgf, HEX11, r"C[\];B[a1];B[f6];W[e7]", "f6 g5"),
    (read_sgf, HEX11, "SZ[11]PL[B]HA[0]PB[a\\]b;B[c4\\]]\n;C[x]B [C\\\n4]WL[5];;W[D1]", "d3 a4"),
    (read_sgf, HEX11, "RE[W+R];B[a2];W[swap-pieces];B[k5];W[f6];B[resign]", "b1 swap e11 f6"),
    (read_sgf, HEX11, ";B[a2];W[swap-sides];W[e11];B[f6];W[forfeit]", "b1 swap e11 f6"),
    (read_sgf, HEX3, "SZ[3]RE[B+];B[a1];W[b1];B[a2];W[b2];B[a3]", "a1 a2 b1 b2 c1"),
    (read_sgf, OTHELLO, ";B[dc];W[C3];B[c4]", "d3 c3 c4"),
    (notation.read, OTHELLO, "D3C3 C4", "d3 c3 c4"),
    (notation.read, GAMES[4], '[GameType "21,B,8,8,N1,0"]\n1.11-15 {a; b} 23-19! 2. 9-14 (2. '
     "8-11 (x) 22-17) 2... 27-23 ; 1-0\n 3. 8-11 22-18 4. 15x22 25x9 $1 5. 5X14 1/2-1/2",
     "11-15 23-19 9-14 27-23 8-11 22-18 15x22 25x18 18x9 5x14"),
    (notation.read, GAMES[4], FORK + "1. 2x9x18 32-28 *", "2x9 9x18 32-28"),
    (notation.read, GAMES[4], FORK.replace("7", "8") + "1. 2x18 32-28", "2x9 9x18 32-28"),
    (notation.read, CUBE, '[Game "cube3"]\nR R2\' F\' U’', "R R2 F' U'"),
    (notation.read, None, WON, "a1 b1 a2 b2 a3"),
]  # fmt: skip


@pytest.mark.parametrize("read, game, text, moves", READ)
def test_texts_of_other_programs_are_read(read, game, text, moves):
    found = read(text, game)
    assert " ".join(map(found.game.action_name, found.states, found.actions)) == moves


WRONG = [  # texts that state what is not so, and what is said of them
    (read_sgf, HEX11, ";W[a1]", "is of player 1, but player 0 is to move"),
    (read_sgf, HEX11, ";B[a1];B[a2]", "move 2 .* is of player 0"),
    (read_sgf, HEX11, ";B[a1]W[a2]", "made already"),
    (read_sgf, HEX11, ";B[a1];W[resign];B[a2]", "after the end"),
    (read_sgf, HEX11, "RE[W+];B[a1];W[resign]", "results differ"),
    (read_sgf, HEX11, ";B[a1];W[]", "'', is no move here"),
    (read_sgf, HEX11, ";B[a1];AW[a2]", "sets up stones .AW"),
    (read_sgf, HEX11, "PL[W];B[a1]", "states PL 'W', but it is 'B'"),
    (read_sgf, HEX11, "HA[2];B[a1]", "states HA '2', but it is '0'"),
    (read_sgf, HEX11, "SZ[13];B[a1]", "states SZ '13', but it is '11'"),
    (read_sgf, HEX11, ";B[a1]) (;GM[11];B[a2]", "a second game"),
    (read_sgf, HEX11, ";B[a1](;W[a2]", "breaks off"),
    (read_sgf, HEX11, ";B[a1](;W[a2]);B[a3]", "no SGF"),
    (read_sgf, HEX3, "RE[W+];B[a1];W[b1];B[a2];W[b2];B[a3]", "results differ"),
    (read_sgf, HEX3, ";B[a1];W[swap-pieces]", "'swap', is no move here"),
    (notation.read_sgf, OTHELLO, "BW", "no SGF"),
    (notation.read_sgf, OTHELLO, "(;GM[2];B[d3", "no SGF"),
    (notation.read_sgf, OTHELLO, "(;SZ[8];B[d3])", "states GM '1', but it is '2'"),
    (notation.read_sgf, games.load("nim"), "(;GM[2])", "SGF has no nim"),
    (notation.read, OTHELLO, "f5z9", "move 2 of .* 'z9', is no move"),
    (notation.read, None, '[Game "tictactoe"]\n\n1. a1 a1', "move 2 of .* 'a1', is no move"),
    (notation.read, HEX11, '[Game "nim"]\n\n1. a1', "a game of 'nim'"),
    (notation.read, HEX11, '[Game "hex"]\n[Parameter_size "9"]', "size '9', but it is '11'"),
    (notation.read, None, WON.replace('n "1', 'n "2'), "Version '2', but it is '1'"),
    (notation.read, None, WON.replace("1 -1", "-1 1"), "Result '-1 1', but it is '1 -1'"),
    (notation.read, None, WON.removesuffix("3. a3"), "Result '1 -1', but it is '\\*'"),
    (notation.read, None, WON.replace("b1 ", ""), "numbers do not count"),
    (notation.read, None, WON + "\n\n" + WON, "a second game begins at .Game"),
    (notation.read, GAMES[4], "11-15 1-0 12-16", "'1-0', is no move"),
    (notation.read, GAMES[4], '[GameType "20"]\n1. 11-15', "GameType '20'"),
    (notation.read, GAMES[4], "1. 22-18", "'22-18', is no move here"),
    (notation.read, GAMES[4], '[Result "1-0"]\n1. 11-15 0-1', "results differ"),
    (notation.read, GAMES[4], FORK + "1. 2x18", "2x9x18, 2x11x18"),
    (notation.read, GAMES[4], '[FEN "W:WK1:BK6"]\n1. 1x10 0-1', "results differ"),
]  # fmt: skip


@pytest.mark.parametrize("read, game, text, words", WRONG)
def test_what_is_not_so_is_named(read, game, text, words):
    with pytest.raises(ValueError, match=words):
        read(text, game)


@settings(few, max_examples=100)
@given(st.text('(;)[]\\BWGM12ab \n"-x.{*'), st.sampled_from(READ))
def test_a_reader_reads_or_says_why_not(text, case):
    read, game, proper, _ = case
    for said in (text, proper + text, proper[: len(text)] + text + proper[len(text) :]):
        try:
            assert isinstance(read(said, game), notation.Record)
        except ValueError:
            pass


def test_what_can_not_be_written_is_named():
    with pytest.raises(ValueError, match="'a.nb' can not be written"):
        notation.write_sgf(OTHELLO, [], ["a\nb"])
    with pytest.raises(ValueError, match="can not be written"):
        notation.write(OTHELLO, [OTHELLO.start()], [], tags={"a b": "c"})


def test_twists_have_their_usual_spellings():
    assert CUBE.parse("after R’ F2' U2’").tolist() == CUBE.parse("after R' F2 U2").tolist()

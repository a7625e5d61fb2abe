"""Games for several players in plain Python, written from their rules with sets and lists.

A game has `legal()`, `mover`, `over`, `scores()` and `play(action)`; the race also `throw(number)`.
"""


class Connect4:
    """Stones fall into columns; the first with `k` in a row, and all of them in a row, wins."""

    def __init__(self, players, rows, columns, k):
        self.players, self.rows, self.columns, self.k = players, rows, columns, k
        self.stones = [set() for _ in range(players)]
        self.mover, self.winner = 0, None

    def legal(self):
        taken = set().union(*self.stones)
        return [c for c in range(self.columns) if (self.rows - 1, c) not in taken]

    @property
    def over(self):
        return self.winner is not None or not self.legal()

    def play(self, column):
        taken = set().union(*self.stones)
        self.put(min(r for r in range(self.rows) if (r, column) not in taken), column)

    def put(self, row, column):
        mine = self.stones[self.mover]
        mine.add((row, column))
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for back in range(self.k):
                line = [(row + down * i, column + right * i) for i in range(-back, self.k - back)]
                if mine.issuperset(line):
                    self.winner = self.mover
        self.mover = (self.mover + 1) % self.players

    def scores(self):
        if not self.over:
            return [0] * self.players
        if self.winner is None:
            return [1 / self.players] * self.players
        return [float(p == self.winner) for p in range(self.players)]


class Grid(Connect4):
    """Stones are put on any free cell."""

    def legal(self):
        taken, cells = set().union(*self.stones), range(self.rows * self.columns)
        return [cell for cell in cells if divmod(cell, self.columns) not in taken]

    def play(self, cell):
        self.put(*divmod(cell, self.columns))


class Dots:
    """Lines between dots; who draws the fourth side of a box has it and goes on."""

    def __init__(self, players, rows, columns):
        self.players, self.boxes = players, {}
        dots = [(r, c) for r in range(rows + 1) for c in range(columns + 1)]
        right = [frozenset([(r, c), (r, c + 1)]) for r, c in dots if c < columns]
        down = [frozenset([(r, c), (r + 1, c)]) for r, c in dots if r < rows]
        # from the top: lines to the right of a row of dots, then those down from it
        self.lines = sorted(right + down, key=lambda line: (min(line)[0], line in down, min(line)))
        self.corners = [(r, c) for r, c in dots if r < rows and c < columns]
        self.drawn, self.mover = set(), 0

    def legal(self):
        return [k for k, line in enumerate(self.lines) if line not in self.drawn]

    @property
    def over(self):
        return len(self.drawn) == len(self.lines)

    def sides(self, r, c):
        a, b, d, e = (r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)
        return {frozenset(side) for side in ((a, b), (a, d), (b, e), (d, e))}

    def play(self, action):
        before = len(self.boxes)
        self.drawn.add(self.lines[action])
        for corner in self.corners:
            if corner not in self.boxes and self.sides(*corner) <= self.drawn:
                self.boxes[corner] = self.mover
        if len(self.boxes) == before:
            self.mover = (self.mover + 1) % self.players

    def scores(self):
        if not self.over:
            return [0] * self.players
        counts = [list(self.boxes.values()).count(p) for p in range(self.players)]
        best = [p for p in range(self.players) if counts[p] == max(counts)]
        shares = [1 / len(best) if p in best else 0.0 for p in range(self.players)]
        return [2 * share - 1 for share in shares] if self.players == 2 else shares


class Race:
    """Two tokens each go once round a ring of 20 cells; a token on a cell sends others back."""

    RING = 20

    def __init__(self, players):
        self.players, self.mover, self.thrown = players, 0, None
        # a token is in the yard, on a cell of the ring, or at home
        self.tokens = [["yard", "yard"] for _ in range(players)]

    def first_cell(self, player):
        return self.RING * player // self.players

    def gone(self, player, token):
        """How many cells a token has behind it."""
        where = self.tokens[player][token]
        ways = {"yard": 0, "home": self.RING + 1}
        if where in ways:
            return ways[where]
        return (where - self.first_cell(player)) % self.RING + 1

    def throw(self, number):
        self.thrown = number

    def front_and_rear(self):
        return sorted((0, 1), key=lambda token: -self.gone(self.mover, token))

    def legal(self):
        front, rear = self.front_and_rear()
        where = self.tokens[self.mover]
        if where[front] == where[rear]:
            return [0]
        return [1] if where[front] == "home" else [0, 1]

    @property
    def over(self):
        return ["home", "home"] in self.tokens

    def play(self, action):
        token, mine = self.front_and_rear()[action], self.tokens[self.mover]
        gone = self.gone(self.mover, token) + self.thrown
        mine[token] = "home"
        if gone <= self.RING:
            mine[token] = (self.first_cell(self.mover) + gone - 1) % self.RING
            for other in range(self.players):
                if other != self.mover:
                    there = mine[token]
                    self.tokens[other] = ["yard" if t == there else t for t in self.tokens[other]]
        if not self.over and self.thrown != 6:
            self.mover = (self.mover + 1) % self.players
        self.thrown = None

    def scores(self):
        if not self.over:
            return [0] * self.players
        won = [float(tokens == ["home", "home"]) for tokens in self.tokens]
        return [2 * w - 1 for w in won] if self.players == 2 else won

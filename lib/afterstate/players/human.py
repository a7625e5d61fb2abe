"""A person at the keyboard as a player."""


class Human:
    """Ask the person at the keyboard: show the board, then read an action by its name or number.

    ``q`` gives up.

    Examples
    --------
    In a notebook: ``arena.match(game, [players.Human(), session])`` plays first against a trained
    session.
    """

    name = "Human"

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match."""
        self.game, self.last = game, None

    def observe(self, action, state):
        """Remember the last action, to mark it on the board, and show the end of the game."""
        self.last = action
        if self.game.over(state):
            self._show(state)

    def choose(self, state) -> int:
        """Return the action that the person names.

        Raises KeyboardInterrupt if the person gives up.
        """
        named = {
            self.game.action_name(state, action): int(action) for action in self.game.legal(state)
        }
        self._show(state)
        while True:
            answer = input(f"your move ({', '.join(named)}; q gives up): ").strip()
            if answer == "q":
                raise KeyboardInterrupt("the match was given up")
            if answer in named:
                return named[answer]
            if answer.isdigit() and int(answer) in named.values():
                return int(answer)
            print(f"{answer!r} is not a move here")

    def _show(self, state):
        try:
            from IPython import get_ipython
            from IPython.display import display
        except ImportError:
            get_ipython = None
        if get_ipython and get_ipython():
            display(self.game.view(state, last=self.last))
        else:
            print(self.game.render(state))

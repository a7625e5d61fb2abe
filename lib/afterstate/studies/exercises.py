"""What check cells of exercises print (notebooks/class)."""


def solved(statement: str, test) -> None:
    """Print whether a solution passes a test, in one line; nothing is raised.

    `test` is a function without arguments. NotImplementedError means that there is no solution yet.

    >>> solved("two and two make four", lambda: 2 + 2 == 4)
    right: two and two make four
    """
    try:
        words = "right" if bool(test()) else "not yet"
    except NotImplementedError:
        words = "not solved yet"
    except Exception as error:
        words = f"not yet ({type(error).__name__}: {error})"
    print(f"{words}: {statement}")


def attempt(make):
    """Return what a function without arguments makes of a solution; say so if there is none yet."""
    try:
        return make()
    except NotImplementedError:
        print("not solved yet")

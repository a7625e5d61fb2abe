"""Exercise 3: exploration."""


def choose(values, epsilon, rng):
    if rng.random() < epsilon:
        return int(rng.integers(len(values)))
    return int(rng.choice(np.flatnonzero(values == values.max())))


def epsilon_at(episode, episodes, first, last):
    return first + (last - first) * episode / episodes

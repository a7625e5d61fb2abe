"""Exercise 1: a tuple network by hand."""


def index(codes, cells):
    number = 0
    for cell in cells:
        number = CODES * number + int(codes[cell])
    return number


def value(weights, codes):
    return sum(weights[i][index(codes, cells)] for i, cells in enumerate(TUPLES))


def learn(weights, codes, target, alpha):
    step = alpha * (target - value(weights, codes)) / len(TUPLES)
    for i, cells in enumerate(TUPLES):
        weights[i][index(codes, cells)] += step

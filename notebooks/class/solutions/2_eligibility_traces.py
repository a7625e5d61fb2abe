"""Exercise 2: eligibility traces."""


def step(values, traces, state, reward, after, over, alpha, lambda_):
    surprise = reward + (0.0 if over else values[after]) - values[state]
    traces *= lambda_
    traces[state] += 1.0
    values += alpha * surprise * traces

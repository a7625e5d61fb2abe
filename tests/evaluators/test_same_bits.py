"""What evaluators say does not depend on the processor, to the last bit."""

import json

import pytest

from afterstate.evaluators import costs
from oldest import said_by_the_oldest

SAY = "import json; from evaluators import test_same_bits; print(json.dumps(test_same_bits.said()))"


def said():
    """Return what all evaluators but the one of times say."""
    from evaluators.test_contract import EVALUATORS

    return {
        f"{number}: {evaluator.name}": evaluator(game, session().net, 7)
        for number, (evaluator, game, session) in enumerate(EVALUATORS[:-1])
        if not isinstance(evaluator, costs.Moves)
    }


@pytest.mark.slow
def test_evaluators_say_the_same_without_vector_instructions():
    """A rating once differed by 1e-14 between two processors, and its records were refused."""
    there = said_by_the_oldest(SAY, timeout=1200).splitlines()[-1]
    assert json.loads(there) == json.loads(json.dumps(said()))

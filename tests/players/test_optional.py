"""What is optional can be hidden, as on a machine that has none of it."""

import importlib

import pytest

from afterstate.players import connect4_oracle, gtp, optional


def test_hidden_engines_are_missing_with_their_remedy(monkeypatch):
    monkeypatch.setenv("EDAX", __file__)
    monkeypatch.setenv("AFTERSTATE_HIDE", "bitbully, gtp-rhino,edax")
    assert not connect4_oracle.available()
    assert "make engines" in connect4_oracle.missing_engine()
    with pytest.raises(connect4_oracle.EngineMissing, match="make engines"):
        connect4_oracle._engine()
    assert "apt install grhino" in gtp.Rhino().lacks()
    assert "EDAX=/path/to/edax" in gtp.Edax().lacks()


@pytest.mark.parametrize("name", optional.ORACLES)
def test_hidden_packages_can_not_be_imported(monkeypatch, name):
    monkeypatch.setenv("AFTERSTATE_HIDE", "all")
    monkeypatch.delitem(importlib.sys.modules, name, raising=False)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


def test_nothing_is_hidden_unless_asked_and_wrong_names_are_errors(monkeypatch):
    monkeypatch.delenv("AFTERSTATE_HIDE", raising=False)
    assert not any(map(optional.hidden, optional.ENGINES + optional.ORACLES))
    monkeypatch.setenv("AFTERSTATE_HIDE", "bitbuly")
    with pytest.raises(ValueError, match="names bitbuly; there are all, bitbully"):
        optional.hidden("bitbully")

"""Annotations of public names can be read by programs: tools, notebooks, and whoever generates documents."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any, get_type_hints

import pytest

import replaykit


def function_of(member: Any) -> Any:
    """Return the function behind a member of a class; the member itself for anything else."""
    match member:
        case property():
            return member.fget
        case cached_property():
            return member.func
        case classmethod() | staticmethod():
            return member.__func__
    return member


def annotated(name: str) -> Iterator[Any]:
    public = getattr(replaykit, name)
    if inspect.isclass(public):
        members = {one: function_of(member) for one, member in vars(public).items()}
        yield public
        yield from (
            member
            for one, member in members.items()
            if inspect.isfunction(member) and (not one.startswith("_") or one.startswith("__"))
        )
    elif inspect.isfunction(public):
        yield public


@pytest.mark.parametrize("name", replaykit.__all__)
def test_type_hints_of_a_public_name_can_be_read(name: str) -> None:
    for one in annotated(name):
        get_type_hints(one)

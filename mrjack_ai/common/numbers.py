"""Numbers from outside: what counts as one, within which range, and what is said of all others."""

from __future__ import annotations

import math
import numbers
import operator
import re
import sys
from dataclasses import dataclass
from typing import NoReturn

from mrjack_ai.common.text import shown
from mrjack_ai.errors import ArgumentError, MrJackError

_WHOLE = re.compile(r"[+-]?[0-9]+(_[0-9]+)*")
_REAL = re.compile(r"[+-]?([0-9]+(_[0-9]+)*\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_MOST_DIGITS = 1000


def number_text(number: float) -> str:
    """A number as a person would write it: 10^12, 2^128-1, 0.5."""
    if isinstance(number, float):
        return number_text(int(number)) if number == int(number) else f"{number:g}"
    if number >= 10**6 and str(number).strip("0") == "1":
        return f"10^{len(str(number)) - 1}"
    if number >= 2**31 - 1 and (number + 1).bit_count() == 1:
        return f"2^{number.bit_length()}-1"
    return str(number)


@dataclass(frozen=True)
class WholeNumbers:
    """A range of whole numbers.

    Attributes:
        least: the least of them.
        most: the greatest of them.
    """

    least: int
    most: int

    def read(self, value: object, name: str, error: type[MrJackError] = ArgumentError) -> int:
        """A number that Python code has passed.

        Args:
            value: what `operator.index` takes, NumPy's integers among it; but no `bool`.
            name: what the number is, for the message.
            error: what to raise.

        Returns:
            A plain `int`.

        Raises:
            MrJackError: of the kind `error`, when it is none or out of range.
        """
        if type(value) is not int:
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                self._refuse(value, name, error)
            try:
                value = operator.index(value)
            except Exception:  # an array of several, or an odd object
                self._refuse(value, name, error)
        if not self.least <= value <= self.most:
            self._refuse(value, name, error)
        return value

    def parse(self, text: str, name: str, error: type[MrJackError] = ArgumentError) -> int:
        """A number that stands in a text, in decimal digits.

        Raises:
            MrJackError: of the kind `error`, when it is none or out of range.
        """
        digits = text.strip()
        if not _WHOLE.fullmatch(digits) or len(digits) > _MOST_DIGITS:
            self._refuse(text, name, error)
        number = int(digits)
        if not self.least <= number <= self.most:
            self._refuse(number, name, error)
        return number

    def _refuse(self, value: object, name: str, error: type[MrJackError]) -> NoReturn:
        told = _told(value, int)
        within = "of at most 64 bits" if self == LONG_INTEGERS else f"from {self}"
        raise error(f"{name} {told} must be a whole number {within}") from None

    def __str__(self) -> str:
        return f"{number_text(self.least)} to {number_text(self.most)}"


@dataclass(frozen=True)
class RealNumbers:
    """A range of finite numbers.

    Attributes:
        least: the least of them.
        most: the greatest of them.
        above: leave out `least` itself.
        below: leave out `most` itself.
    """

    least: float
    most: float
    above: bool = False
    below: bool = False

    def read(self, value: object, name: str, error: type[MrJackError] = ArgumentError) -> float:
        """A number that Python code has passed.

        Args:
            value: a real number, NumPy's among them; but no `bool`.
            name: what the number is, for the message.
            error: what to raise.

        Returns:
            A plain `float`.

        Raises:
            MrJackError: of the kind `error`, when it is none, not finite or out of range.
        """
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            self._refuse(value, name, error)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not self._holds(number):
            self._refuse(value if isinstance(value, int) else number, name, error)
        return number

    def parse(self, text: str, name: str, error: type[MrJackError] = ArgumentError) -> float:
        """A number that stands in a text.

        Raises:
            MrJackError: of the kind `error`, when it is none, not finite or out of range.
        """
        digits = text.strip()
        if len(digits) > _MOST_DIGITS or not _REAL.fullmatch(digits):
            self._refuse(text, name, error)
        number = float(digits)
        if not self._holds(number):
            self._refuse(number, name, error)
        return number

    def _holds(self, number: float) -> bool:
        low = self.least < number if self.above else self.least <= number
        high = number < self.most if self.below else number <= self.most
        return low and high  # neither holds for NaN

    def _refuse(self, value: object, name: str, error: type[MrJackError]) -> NoReturn:
        told = _told(value, int, float)
        if self == FINITE:
            raise error(f"{name} {told} must be a finite number") from None
        plain = not (self.above or self.below)
        raise error(f"{name} {told} must be a number{' from' * plain} {self}") from None

    def __str__(self) -> str:
        low, high = number_text(self.least), number_text(self.most)
        if not (self.above or self.below):
            return f"{low} to {high}"
        least = f"above {low}" if self.above else f"at least {low}"
        return f"{least} and {'below' if self.below else 'at most'} {high}"


@dataclass(frozen=True)
class Words:
    """A choice of words.

    Attributes:
        words: all of them.
        others: other texts are taken too, such as names of files.
    """

    words: tuple[str, ...]
    others: str = ""

    def read(self, value: object, name: str, error: type[MrJackError] = ArgumentError) -> str:
        """A word that Python code has passed, or that stands in a text.

        Raises:
            MrJackError: of the kind `error`, when it is none of them.
        """
        if isinstance(value, str) and (value in self.words or self.others):
            return value
        raise error(f"{name} {_told(value, str)} must be one of {', '.join(self.words)}")

    parse = read

    def __str__(self) -> str:
        return " | ".join([*self.words, *filter(None, [self.others])])


def _told(value: object, *plain: type) -> str:
    """A value that is refused, with its type where that is what is wrong with it."""
    told = shown(value)
    return told if type(value) in (*plain, str) else f"{told} ({type(value).__name__})"


LONG_INTEGERS = WholeNumbers(-(2**63), 2**63 - 1)
"""All that compiled code can hold."""
FINITE = RealNumbers(-sys.float_info.max, sys.float_info.max)
"""All numbers but infinity and NaN."""
SEEDS = WholeNumbers(0, 2**128 - 1)
"""Seeds of random generators."""
COUNTS = WholeNumbers(0, 10**12)
"""How many of something there are."""

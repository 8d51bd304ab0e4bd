"""The compiled engine: bit sets, typing of kernels, plain-Python runs, the cache, counting."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mrjack_ai
from mrjack_ai.engine import bits, compile, features, kernels, turn
from mrjack_ai.engine.layout import GENERATOR, STATE
from mrjack_ai.engine.tables import TABLES, build_tables, tables_record
from mrjack_ai.engine.types import GeneratorRecord, StateRecord, TablesRecord
from mrjack_ai.game.perft import GAMES_PER_CHUNK, perft, perft_divide, random_games
from mrjack_ai.search import heuristic
from mrjack_ai.setup.variant import Variant, make_variant

WORDS = st.integers(0, 2**64 - 1)
INDICES = st.integers(0, 63)
SIGNATURE = (369678, 1093)
"""Decisions and Detective's wins in 10,000 random games with seed 1."""


def run_python(program: str, folder: Path | None = None, **environment: str) -> tuple[str, str]:
    """What a program prints on standard output and standard error."""
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=folder,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout, run.stderr


# -- bit sets -----------------------------------------------------------------------------


@given(WORDS, INDICES)
def test_bits_against_python_integers(word: int, index: int) -> None:
    packed = np.uint64(word)
    assert int(bits.bit(index)) == 1 << index
    assert bool(bits.has(packed, index)) == bool(word >> index & 1)
    assert count_bits(packed) == word.bit_count()
    if word:
        assert lowest_bit(packed) == (word & -word).bit_length() - 1
        members = [i for i in range(64) if word >> i & 1]
        assert bits.nth_bit(packed, len(members) - 1) == members[-1]
        assert bits.nth_bit(packed, 0) == members[0]


@compile.helper
def count_bits(word: np.uint64) -> int:
    return bits.popcount(word)


@compile.helper
def lowest_bit(word: np.uint64) -> int:
    return bits.lowest(word)


def test_bit_63() -> None:
    assert int(bits.bit(63)) == 2**63
    assert lowest_bit(np.uint64(2**63)) == 63
    assert bits.has(np.uint64(2**63), 63)
    assert count_bits(np.uint64(2**64 - 1)) == 64


@compile.helper
def draw(generator_words: np.ndarray, n: int) -> int:
    return bits.random_below(generator_words[0], n)


def test_random_below_is_uniform_and_repeatable() -> None:
    samples = []
    for _ in range(2):
        generator = np.zeros(1, GENERATOR)
        generator["state"] = 12345
        samples.append([int(draw(generator, 7)) for _ in range(7000)])
    assert samples[0] == samples[1]
    counts = np.bincount(samples[0], minlength=7)
    assert len(counts) == 7
    assert abs(counts - 1000).max() < 5 * np.sqrt(7000 / 7 * 6 / 7)


def test_splitmix_reference_values() -> None:
    """The first outputs for seed 1234567, as published with the algorithm's reference code."""
    generator = np.zeros(1, GENERATOR)
    generator["state"] = 1234567
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [int(next_word(generator)) for _ in expected] == expected


@compile.helper
def next_word(generator_words: np.ndarray) -> np.uint64:
    return bits.next_random(generator_words[0])


# -- typing -------------------------------------------------------------------------------

KERNELS = [
    function
    for module in (kernels, features, heuristic)
    for function in vars(module).values()
    if hasattr(function, "overloads") and function.__module__ == module.__name__
]


@pytest.mark.skipif(compile.JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.slow
def test_no_kernel_mixes_signed_with_unsigned_or_falls_into_floats(tmp_path: Path) -> None:
    """A `uint64` that meets a signed integer silently becomes `int64` or `float64`.

    Compiled anew here, since kernels read from the cache carry no type annotations.
    """
    program = """
import operator
import mrjack_ai
from mrjack_ai.engine import abilities, batch, bits, geometry, kernels, movement, turn
from mrjack_ai.engine import warmup, whistle
from mrjack_ai.engine.tables import build_tables
variant = mrjack_ai.Variant()
for group in (warmup.ENGINE, warmup.COUNTING, warmup.BATCH):
    group.compile_share(0, 1)
checked, wrong = 0, []
for module in (geometry, movement, whistle, abilities, turn, bits, kernels, batch):
    for name, function in vars(module).items():
        for result in getattr(function, "overloads", {}).values():
            for node, signature in result.type_annotation.calltypes.items():
                if signature is None or getattr(node, "op", "") not in ("binop", "inplace_binop"):
                    continue
                # The types of the operands themselves: bytes of a record are widened first.
                types = result.type_annotation.typemap
                operands = {str(types[value.name]).split("(")[0] for value in node.list_vars()}
                checked += "uint64" in operands
                mixed = "uint64" in operands and len(operands) > 1
                floats = any("float" in str(kind) for kind in (*signature.args, *operands))
                if mixed or floats or "float" in str(signature.return_type):
                    wrong.append(f"{module.__name__}.{name} {node.loc}: {node} {signature}")
print("checked", checked, *wrong, sep=chr(10))
"""
    output = (
        run_python(program, NUMBA_CACHE_DIR=str(tmp_path))[0].split("checked\n")[1].splitlines()
    )
    assert int(output[0]) > 50
    assert output[1:] == []


@pytest.mark.parametrize(
    ("layout", "record"),
    [(STATE, StateRecord), (TABLES, TablesRecord), (GENERATOR, GeneratorRecord)],
)
def test_record_types_have_the_fields_of_their_layout(layout: np.dtype, record: type) -> None:
    """What a type checker knows of a record: see `mrjack_ai.engine.types`."""
    assert layout.fields is not None
    hints = get_type_hints(record)
    assert tuple(hints) == layout.names
    for name, (kind, *_) in layout.fields.items():
        if kind.subdtype is not None:
            assert hints[name] == npt.NDArray[kind.base.type], name
        else:
            assert hints[name] is (np.uint64 if kind == np.uint64 else int), name


@pytest.mark.slow
def test_a_misspelt_field_is_found_by_mypy(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from mrjack_ai.engine.records import new_states, tables_of\n"
        "from mrjack_ai.engine.types import StateRecord, Words\n"
        "def right(s: StateRecord, words: Words) -> int:\n"
        "    s['turn'] += 1\n"
        "    return s['turn'] + new_states(2)[1]['play'] + tables_of(words)['seats']\n"
        "def wrong(s: StateRecord, words: Words) -> int:\n"
        "    s['trun'] = 1\n"
        "    s['occupied'] = 1\n"
        "    return new_states(2)[1]['ply'] + tables_of(words)['seat']\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(mrjack_ai.__file__).parent.parent)},
        timeout=300,
        check=False,
    )
    unknown = re.findall(r':(\d+): error: TypedDict "(\w+)" has no key "(\w+)"', run.stdout)
    assert unknown == [
        ("7", "StateRecord", "trun"),
        ("9", "StateRecord", "ply"),
        ("9", "TablesRecord", "seat"),
    ], run.stdout + run.stderr
    assert 'program.py:8: error: Value of "occupied" has incompatible type "int"' in run.stdout


def test_state_record_is_two_cache_lines() -> None:
    assert STATE.itemsize == 128
    assert "reserved" in (STATE.names or ())


def test_hexes_beyond_bit_52_are_exact() -> None:
    """Hexes 53 to 59 are where a float would lose them: l10 to m12."""
    streets = Variant().board.streets
    last = streets[53:]
    assert last == ("l10", "l12", "m8", "m9", "m10", "m11", "m12")
    state = mrjack_ai.State("jack=JS dealt=SH,JW,JS,IL cards=SH,JW,JS,IL SH=m12 JW=m8:N")
    assert set(state.reachable("SH", 1)) == {"l12", "m11"}
    assert {"m9", "m10", "m11", "m12"} <= set(state.lit_hexes())


# -- plain Python -------------------------------------------------------------------------

WHOLE_GAMES = """
import random, mrjack_ai
for seed in range(3):
    for variant in (mrjack_ai.Variant(), mrjack_ai.make_variant("mews", "SH+JW+SG+WG", 4)):
        choose = random.Random(seed)
        state = mrjack_ai.new_game(variant)
        while not state.is_terminal():
            actions = state.legal_actions()
            quiet = [a for a in actions if "accuse" not in state.action_to_string(a)] or actions
            state.apply_action(choose.choice(quiet))
            print(state, state.visible(), state.observation(0).observation_tensor().sum())
"""


@pytest.mark.skipif(compile.JIT_DISABLED, reason="already plain")
def test_compiled_and_plain_python_agree_on_whole_games() -> None:
    plain, _ = run_python(WHOLE_GAMES, NUMBA_DISABLE_JIT="1")
    assert plain == run_python(WHOLE_GAMES)[0]
    assert plain.count("\n") > 300


def test_random_games_are_the_same_in_plain_python() -> None:
    program = (
        "import mrjack_ai; from mrjack_ai.game.perft import random_games;"
        "print(random_games(mrjack_ai.new_game(), 20, seed=4))"
    )
    plain, _ = run_python(program, NUMBA_DISABLE_JIT="1")
    assert plain.strip() == str(random_games(mrjack_ai.new_game(), 20, seed=4))


# -- the cache ----------------------------------------------------------------------------


def copy_package(folder: Path) -> None:
    source = Path(mrjack_ai.__file__).parent
    shutil.copytree(
        source, folder / "mrjack_ai", ignore=shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    )


@pytest.mark.skipif(compile.JIT_DISABLED, reason="nothing is cached")
@pytest.mark.slow
def test_an_edited_callee_in_another_file_is_seen(tmp_path: Path) -> None:
    """Also shown: the first run says that it compiles, the second one does not."""
    copy_package(tmp_path)
    cache = tmp_path / "cache"
    program = "import mrjack_ai; print(mrjack_ai.State('jack=JS dealt=SH,JW,JS,IL').visible())"
    program = program.replace("dealt=SH,JW,JS,IL", "dealt=SH,JW,JS,IL cards=SH,JW,JS,IL")
    environment = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
    output, messages = run_python(program, tmp_path, **environment)
    assert "compiling the engine, once" in messages
    assert output.strip() == "('SH', 'JS', 'IL', 'JB')"
    assert run_python(program, tmp_path, **environment) == (output, "")
    edited = tmp_path / "mrjack_ai" / "engine" / "movement.py"
    text = edited.read_text()
    old = '    visible = 0\n    for seat in range(t["seats"]):'
    assert old in text
    edited.write_text(text.replace(old, old.replace("visible = 0", "visible = 16")))
    output, messages = run_python(program, tmp_path, **environment)
    assert "compiling the engine, once" in messages
    assert output.strip() == "('SH', 'JS', 'IL', 'MS', 'JB')"


def test_source_hash_depends_on_every_engine_source(tmp_path: Path) -> None:
    copy_package(tmp_path)
    package = tmp_path / "mrjack_ai"
    before = compile.source_hash(package)
    assert before == compile.source_hash()
    seen = {before}
    sources = [
        path for folder in ("setup", "engine", "search") for path in (package / folder).glob("*.py")
    ]
    assert package / "engine" / "kernels.py" in sources
    for path in sources:
        path.write_text(path.read_text() + "\n# edited\n")
        seen.add(compile.source_hash(package))
    assert len(seen) == 1 + len(sources)


@pytest.mark.skipif(compile.JIT_DISABLED, reason="nothing is cached")
def test_other_packages_keep_their_cache_folder() -> None:
    program = """
import numba.core.config as config
before = config.CACHE_DIR
import mrjack_ai
assert config.CACHE_DIR == before, config.CACHE_DIR
print("kept")
"""
    assert run_python(program) == ("kept\n", "")


@pytest.mark.skipif(os.name != "posix", reason="needs a folder that cannot be written")
def test_unwritable_cache_folder_is_said_and_survived(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    program = "import mrjack_ai; print(mrjack_ai.new_game().node)"
    output, messages = run_python(program, NUMBA_CACHE_DIR=str(blocked))
    assert output == "jack\n"
    assert compile.JIT_DISABLED or "set NUMBA_CACHE_DIR" in messages


@pytest.mark.skipif(compile.JIT_DISABLED, reason="nothing is cached")
@pytest.mark.skipif(os.name != "posix", reason="needs a folder that cannot be written")
def test_complete_cache_that_cannot_be_written_is_used(tmp_path: Path) -> None:
    """As where an administrator has filled it once for all; root could write anywhere."""
    assert compile.CACHE_FOLDER is not None
    shared = tmp_path / compile.CACHE_FOLDER.name
    shutil.copytree(compile.CACHE_FOLDER, shared)
    program = """
import os
access = os.access
os.access = lambda path, mode: mode != os.W_OK and access(path, mode)
from mrjack_ai.engine import compile, kernels
assert compile.CACHE_READ_ONLY
import mrjack_ai
state = mrjack_ai.new_game()
state.apply_action("jack JS")
print(state.node, sum(kernels.apply_action.stats.cache_hits.values()))
"""
    before = sorted(path.name for path in shared.iterdir())
    output, messages = run_python(program, NUMBA_CACHE_DIR=str(tmp_path))
    assert (output, messages) == ("deal 1\n", "")
    assert sorted(path.name for path in shared.iterdir()) == before


# -- counting and playing out -------------------------------------------------------------


def after(actions: str, variant: Variant | None = None) -> mrjack_ai.State:
    state = mrjack_ai.new_game(variant)
    for action in actions.split("; "):
        state.apply_action(action)
    return state


def test_perft_divide_adds_up() -> None:
    state = after("jack JS; deal SH,JW,JS,IL")
    divide = perft_divide(state, 3)
    assert list(divide) == ["pick SH", "pick JW", "pick JS", "pick IL"]
    assert sum(divide.values()) == perft(state, 3) == 1039
    assert perft(state, 0) == 1
    assert perft_divide(state, 1) == dict.fromkeys(divide, 1)


def test_perft_counts_no_games_that_have_ended() -> None:
    state = mrjack_ai.new_game(board="mews", cast="SH+MS", turns=1)
    counts = [perft(state, depth) for depth in range(8)]
    nodes, level = [1], [state]
    while level:
        level = [s.child(a) for s in level for a in s.legal_actions()]
        nodes.append(len(level))
    assert counts == (nodes + [0] * 8)[:8]


def test_perft_leaves_the_state_alone_and_checks_depth() -> None:
    state = after("jack JS; deal SH,JW,JS,IL")
    before = str(state)
    perft(state, 4)
    assert str(state) == before
    with pytest.raises(ValueError, match="from 0 to 1000"):
        perft(state, -1)
    with pytest.raises(ValueError, match="from 1 to"):
        perft_divide(state, 0)


def test_bench_signature() -> None:
    """Changes only when the rules, the random generator or the order of actions do."""
    totals = random_games(mrjack_ai.new_game(), 10_000, seed=1)
    assert (totals.decisions, totals.detective_wins) == SIGNATURE


@pytest.mark.parametrize("threads", [2, 3])
def test_random_games_do_not_depend_on_threads(threads: int) -> None:
    state = mrjack_ai.new_game()
    games = 5 * GAMES_PER_CHUNK + 17
    assert random_games(state, games, seed=3, threads=threads) == random_games(state, games, seed=3)
    assert random_games(state, games, seed=4) != random_games(state, games, seed=3)


def test_random_games_agree_with_play_by_hand() -> None:
    """Shares of endings of the compiled playouts against the State interface."""
    variant = make_variant("mews", "SH+JW+SG+WG", 4)
    state = mrjack_ai.new_game(variant)
    choose = random.Random(1)
    games = 3000
    endings = dict.fromkeys(("caught", "wrong accusation", "escape", "dawn"), 0)
    decisions = 0
    for _ in range(games):
        game = state.clone()
        while not game.is_terminal():
            decisions += not game.is_chance_node()
            game.apply_action(choose.choice(game.legal_actions()))
        outcome = game.outcome()
        assert outcome is not None
        endings[outcome.ending] += 1
    totals = random_games(state, 30_000, seed=1)
    assert sum(totals.endings.values()) == totals.games == 30_000
    for ending, count in endings.items():
        share = totals.endings[ending] / totals.games
        # Five standard errors of the smaller sample.
        assert abs(count / games - share) < 5 * np.sqrt(share * (1 - share) / games) + 1e-9
    assert totals.mean_decisions == pytest.approx(decisions / games, rel=0.05)


def test_random_games_start_where_they_are_told() -> None:
    state = mrjack_ai.State(
        "node=use turn=8 jack=JS dealt=SH,JW,JS,IL cards=MS using=MS cleared=JW"
    )
    totals = random_games(state, 500, seed=1)
    assert totals.endings["caught"] == 0
    assert totals.endings["dawn"] == 500
    assert totals.decisions == 500


@pytest.mark.parametrize("arguments", [{"games": 0}, {"games": 1, "threads": 0}])
def test_random_games_check_their_arguments(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="from 1 to"):
        random_games(mrjack_ai.new_game(), **arguments)


def test_tables_are_read_only_and_shared() -> None:
    tables = build_tables(Variant())
    assert build_tables(make_variant()) is tables
    with pytest.raises(ValueError, match="read-only"):
        tables[0] = 1
    assert tables_record(tables)["actions"] == len(mrjack_ai.action_space(Variant()).names)
    assert turn.N_DIRECTIONS == 6

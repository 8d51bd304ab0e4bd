"""No module imports upwards, and outside libraries stay where they belong."""

from __future__ import annotations

import ast
import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import mrjack_ai
from mrjack_ai.engine.types import ActionKind, EndingKind, NodeKind, Player
from mrjack_ai.render import colours
from mrjack_ai.setup.characters import Ability, Walk

PACKAGE = Path(mrjack_ai.__file__).parent

LAYERS: tuple[tuple[str, ...], ...] = (
    ("common", "errors", "version"),
    ("setup",),
    ("engine",),
    ("game",),
    ("search", "render"),
    ("agents",),
    ("training",),
    ("openspiel", "envs"),
    ("stats",),
    ("tournament",),
    ("lab",),
    ("testing",),
    ("reports",),
    ("studies",),
    ("play",),
    ("cli",),
)
"""The order of the layers: a folder or module imports only from itself and earlier layers."""

ENGINE_LAYERS: tuple[tuple[str, ...], ...] = (
    ("types",),
    ("compile", "layout", "tables"),
    ("bits", "records"),
    ("geometry",),
    ("movement",),
    ("whistle",),
    ("abilities",),
    ("turn",),
    ("kernels", "features"),
    ("batch",),
    ("warmup",),
)
"""The same within the engine."""

ONLY_IN = {
    "pyspiel": {"openspiel"},
    "click": {"cli"},
    "rich": {"cli"},
    "numba": {"engine"},
    "pandas": {"tournament", "agents", "studies"},
    "matplotlib": {"studies"},
    "sqlite3": {"tournament"},
    "nbclient": {"studies"},
    "nbformat": {"studies"},
    "distributed": {"tournament"},
    "prompt_toolkit": {"play"},
    "pettingzoo": {"envs"},
    "gymnasium": {"envs"},
}


ON_DEMAND = {("game", "mrjack_ai.render.svg")}
"""Upward imports inside a function: a notebook asks the position itself for its picture."""


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def rank(layers: tuple[tuple[str, ...], ...], name: str) -> int:
    return next(n for n, layer in enumerate(layers) if name in layer)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_imports_upwards(path: Path) -> None:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    own = rank(LAYERS, parts[0])
    for name in imports(path):
        words = name.split(".")
        if words[0] != "mrjack_ai" or len(words) < 2:
            continue
        if (parts[0], name.removesuffix(".board_svg")) in ON_DEMAND:
            continue
        assert rank(LAYERS, words[1]) <= own, f"imports {name}"
        if parts[0] == words[1] == "engine" and len(words) > 2 and len(parts) > 1:
            inner = {name for layer in ENGINE_LAYERS for name in layer}
            if parts[1] != "__init__" and words[2] in inner:
                theirs = rank(ENGINE_LAYERS, words[2])
                assert theirs <= rank(ENGINE_LAYERS, parts[1]), f"imports {name}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Neither at the top, nor inside functions, nor for types alone."""
    names = {
        ".".join(["mrjack_ai", *path.relative_to(PACKAGE).with_suffix("").parts]): path
        for path in modules()
        if path.name != "__init__.py"
    }
    graph = {
        name: {
            other
            for other in imports(path) & set(names)
            if (name.split(".")[1], other) not in ON_DEMAND
        }
        for name, path in names.items()
    }
    assert graph["mrjack_ai.agents.registry"] > {"mrjack_ai.agents.base"}
    assert len(list(TopologicalSorter(graph).static_order())) == len(names)


def test_every_module_has_a_layer() -> None:
    names = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in modules()}
    assert names == {name for layer in LAYERS for name in layer}


@pytest.mark.parametrize(("library", "places"), ONLY_IN.items())
def test_libraries_stay_where_they_belong(library: str, places: set[str]) -> None:
    users = {
        path.relative_to(PACKAGE).with_suffix("").parts[0]
        for path in modules()
        if any(name.split(".")[0] == library for name in imports(path))
    }
    assert users == places


def test_package_does_not_use_global_randomness() -> None:
    for path in modules():
        if path.name == "testing.py":  # it forbids global randomness, and so has to name it
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(import random|from random import)\b", text, re.MULTILINE), path
        for line in text.splitlines():
            if "np.random." in line:
                # RandomState, with a seed, is what OpenSpiel's bots take.
                allowed = ("Generator", "SeedSequence", "default_rng", "RandomState")
                assert any(f"np.random.{word}" in line for word in allowed), f"{path}: {line}"


def test_public_names_exist_and_are_documented() -> None:
    for name in mrjack_ai.__all__:
        value = getattr(mrjack_ai, name)
        if name.startswith("__") or isinstance(value, int):
            continue
        assert value.__doc__, name


def test_no_module_is_too_long() -> None:
    for path in modules():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= 560, f"{path}: {lines} lines"


def test_only_geometry_reads_the_tables_of_the_board() -> None:
    """What closes a side during a game then has to be known in one module only."""
    reads = re.compile(r'\b(t|tables)\["(neighbours|ball|beam|whistle)"\]')
    readers = {
        path.name
        for folder in ("engine", "search")
        for path in (PACKAGE / folder).glob("*.py")
        if reads.search(path.read_text(encoding="utf-8"))
    }
    assert readers == {"geometry.py"}


ENUMS = (Player, NodeKind, EndingKind, ActionKind, Ability, Walk)
"""What is numbered once: everybody else names a member."""


def numbered_again(tree: ast.Module) -> list[str]:
    """Names of members, prefixed or not, that a module gives a number outside their enum."""
    members = {name for kind in ENUMS for name in kind.__members__}
    prefixed = re.compile(rf"((NODE|ENDING|ABILITY|WALK|PLAYER|ACTION)_)?({'|'.join(members)})")
    enums = {kind.__name__ for kind in ENUMS}
    inside = {
        id(node)
        for body in ast.walk(tree)
        if isinstance(body, ast.ClassDef) and body.name in enums
        for node in ast.walk(body)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets: list[ast.expr] = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        numbers = re.fullmatch(
            r"[-\d, ()]+|(\w+\.)?(range|count)\(.*\)", ast.unparse(node.value or node)
        )
        if numbers and id(node) not in inside:
            names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            found += [name for name in names if prefixed.fullmatch(name)]
    return found


def test_players_nodes_endings_and_kinds_are_numbered_once() -> None:
    classes: list[str] = []
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes += [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        assert numbered_again(tree) == [], path
    assert all(classes.count(kind.__name__) == 1 for kind in ENUMS)
    again = (
        "JACK = 1\nCHANCE: int = -1\nNODE_PICK, NODE_USE = range(2)\nclass Side:\n    DAWN = 4\n"
    )
    assert numbered_again(ast.parse(again)) == ["JACK", "CHANCE", "NODE_PICK", "NODE_USE", "DAWN"]


def compared_with_a_number(tree: ast.Module) -> list[str]:
    """Comparisons of a field that holds a member with its number."""
    field = re.compile(
        r"(int\(|integer\()*\w+\['(node|player|ending|kind|\w+_ability|\w+_walk)'\].*"
    )
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and any(field.fullmatch(ast.unparse(side)) for side in (node.left, *node.comparators))
        and any(isinstance(side, ast.Constant) for side in (node.left, *node.comparators))
    ]


def test_fields_are_compared_with_members() -> None:
    for path in modules():
        assert compared_with_a_number(ast.parse(path.read_text(encoding="utf-8"))) == [], path
    bare = 's["player"] == 1; int(s["node"]) != 7; 3 == t["kind"][action]; s["turn"] == 1'
    assert len(compared_with_a_number(ast.parse(bare))) == 3


def compiled_functions() -> list[tuple[Path, ast.FunctionDef]]:
    """Every function that numba compiles."""
    return [
        (path, node)
        for folder in ("engine", "search", "lab")
        for path in sorted((PACKAGE / folder).glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and {name.id for name in node.decorator_list if isinstance(name, ast.Name)}
        & {"kernel", "helper"}
    ]


def records_of_freed_arrays(function: ast.FunctionDef) -> list[int]:
    """Lines that take an element of an array made in the same expression.

    A record is a pointer that keeps nothing alive: numba frees the array after its last use, and
    the next one made may get the same memory.
    """
    makers = {"zeros", "empty", "ones", "full", "copy", "array", "new_states"}
    sources = [
        node.value if isinstance(node, ast.Subscript) else argument
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        or (isinstance(node, ast.Call) and ast.unparse(node.func) in ("state_of", "tables_of"))
        for argument in (node.args if isinstance(node, ast.Call) else [node])
    ]
    return [
        call.lineno
        for source in sources
        for call in ast.walk(source)
        if isinstance(call, ast.Call) and ast.unparse(call.func).split(".")[-1] in makers
    ]


def test_records_are_read_in_one_place() -> None:
    """Words become records by `records` for kernels, by `position` and `tables` for Python."""
    views = re.compile(r"\.view\((?:\w+\.)?(STATE|TABLES)\)")
    readers = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in modules()
        for name in views.findall(path.read_text(encoding="utf-8"))
    }
    assert readers == {
        ("engine/records.py", "STATE"),
        ("engine/records.py", "TABLES"),
        ("engine/tables.py", "TABLES"),
        ("game/position.py", "STATE"),
    }


def test_only_game_asks_for_the_record_of_a_state() -> None:
    """Everybody else asks what it means: `positions`, `cleared()`, `playing`."""
    for path in modules():
        if path.parent.name != "game":
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and node.attr == "_record":
                    assert ast.unparse(node.value) == "self", f"{path}:{node.lineno}"


def test_no_kernel_takes_a_record_out_of_an_array_that_is_freed() -> None:
    found = [
        f"{path.name}:{line}"
        for path, function in compiled_functions()
        for line in records_of_freed_arrays(function)
    ]
    assert found == []
    caught = ast.parse(
        "def f(n):\n g = np.zeros(1, GENERATOR)[0]\n s = new_states(1)[0]\n"
        " s = state_of(game[i].copy())\n"
    ).body[0]
    assert isinstance(caught, ast.FunctionDef)
    assert records_of_freed_arrays(caught) == [2, 3, 4]


def test_every_file_that_is_no_module_is_package_data() -> None:
    """A file that no pattern of pyproject.toml names would be missing from the wheel."""
    settings = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["mrjack_ai"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    others = {
        path
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    }
    assert {path.suffix for path in others} >= {".css", ".js", ".json", ".npz"}
    assert others == {path for path in packed if path.is_file()}


WRITE_MODES = re.compile(r"[wax+]")
WRITING_METHODS = {
    *("write_text", "write_bytes", "savefig"),
    *("save", "savez", "savez_compressed", "savetxt", "tofile", "memmap"),
    *("to_csv", "to_parquet", "to_json", "to_html", "to_excel", "to_pickle", "to_feather"),
    *("mkstemp", "NamedTemporaryFile", "TemporaryFile", "copyfile", "copy2", "copytree", "move"),
    *("dump", "link_to", "hardlink_to"),
}
"""Functions of libraries that write a file, unless they are given one that is open."""
OPEN_ELSEWHERE = {
    "common/files.py": "writes whole files",
    "tournament/lock.py": "a lock is no file to read",
}


def open_files(tree: ast.AST) -> set[str]:
    """Names of files that somebody has opened: by `replacing`, or handed over as `BinaryIO`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            if isinstance(node.context_expr, ast.Call):
                if getattr(node.context_expr.func, "id", None) == "replacing":
                    found.add(node.optional_vars.id)
        annotation = getattr(node, "annotation", None)
        if getattr(annotation, "id", None) == "BinaryIO":
            found.add(node.arg if isinstance(node, ast.arg) else node.target.id)  # type: ignore[attr-defined]
    return found


def mode_of(call: ast.Call, place: int) -> str:
    """The mode a file is opened in; one that only shows when the call runs counts as writing."""
    given = [word.value for word in call.keywords if word.arg == "mode"]
    given += call.args[place : place + 1]
    if not given:
        return "r"
    return str(given[0].value) if isinstance(given[0], ast.Constant) else "w"


def writes_of(source: str) -> list[str]:
    """The calls in a module that open a file for writing, or make a library write one."""
    tree = ast.parse(source)
    ours, found = open_files(tree), []
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        text = ast.unparse(call)
        nowhere = bool(call.args) and ast.unparse(call.args[0]) == "os.devnull"
        if isinstance(call.func, ast.Name):
            if call.func.id == "open" and WRITE_MODES.search(mode_of(call, 1)) and not nowhere:
                found.append(text)
        elif isinstance(call.func, ast.Attribute):
            name, owner = call.func.attr, ast.unparse(call.func.value)
            given = bool(call.args) and getattr(call.args[0], "id", None) in ours
            if owner == "os" and name in ("open", "mkfifo", "replace", "link", "symlink"):
                if not nowhere:
                    found.append(text)
            elif name == "open":
                if WRITE_MODES.search(mode_of(call, 1 if owner == "io" else 0)):
                    found.append(text)
            elif name in WRITING_METHODS and not given:
                found.append(text)
    return found


def test_files_are_written_in_one_place() -> None:
    found = {
        str(path.relative_to(PACKAGE)): calls
        for path in modules()
        if (calls := writes_of(path.read_text(encoding="utf-8")))
    }
    assert set(found) <= set(OPEN_ELSEWHERE), found
    assert set(found) == set(OPEN_ELSEWHERE)


@pytest.mark.parametrize(
    "code",
    [
        "open(path, 'w')",
        "open(path, mode='ab')",
        "open(path, mode)",
        "io.open(path, 'r+')",
        "Path(path).open('x')",
        "path.write_text('x')",
        "numpy.savez(path, a=1)",
        "table.to_parquet(path)",
        "figure.savefig('x.png')",
        "json.dump(x, file)",
        "os.open(path, os.O_WRONLY)",
        "os.replace(part, path)",
        "with other(path) as file:\n    table.to_csv(file)",
    ],
)
def test_what_counts_as_writing_a_file(code: str) -> None:
    assert writes_of(code)


@pytest.mark.parametrize(
    "code",
    [
        "open(path)",
        "open(path, 'rb')",
        "path.open(encoding='utf-8')",
        "open(os.devnull, mode)",
        "with replacing(path) as file:\n    table.to_csv(file)",
        "def export(file: BinaryIO):\n    table.to_csv(file, index=False)",
    ],
)
def test_what_does_not_count_as_writing_a_file(code: str) -> None:
    assert not writes_of(code)


def test_colours_stand_in_one_module() -> None:
    """Pages, boards and figures then agree; a terminal has numbers of its own."""
    literal = re.compile(r"#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?\b(?=[\"';, ])|rgba?\(\s*\d")
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.css"), *PACKAGE.rglob("*.js")]
    found = {
        path.name for path in files if literal.search(path.read_text(encoding="utf-8")) is not None
    }
    assert found == {"colours.py"}


def test_style_sheets_use_the_variables_there_are() -> None:
    sheets = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.css"))
    used = set(re.findall(r"var\(--([\w-]+)\)", sheets))
    assert used == set(colours.LIGHT) == set(colours.DARK)
    assert all(f"--{name}:" in colours.variables() for name in used)

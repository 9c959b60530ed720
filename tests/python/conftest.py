"""Fixtures: the tool, and what its demos make. EXEMPLAR_TOOL names the tool; the package is on PYTHONPATH."""
import os
import pathlib
import subprocess

import pytest


@pytest.fixture(scope="session")
def tool():
    return os.environ["EXEMPLAR_TOOL"]


@pytest.fixture(scope="session")
def demo(tool, tmp_path_factory):
    """demo("arm"): the folder of a demo, made once."""
    made = {}

    def make(name):
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            subprocess.run([tool, "demo", name, "-q", "-o", made[name]], check=True)
        return pathlib.Path(made[name])

    return make

"""A few thousand random calls, most of them wrong, end in exceptions (fuzz_calls.py makes any number)."""
import pathlib
import shutil
import subprocess
import sys


def test_calls(demo, tmp_path):
    for name in ("arm", "blob", "elbow"):
        shutil.copytree(demo(name), tmp_path / name)
    made = subprocess.run([sys.executable, "-B", pathlib.Path(__file__).parent / "fuzz_calls.py", tmp_path, "5000", "1"],
                          capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "5000 calls" in made.stdout and "TypeError" in made.stdout

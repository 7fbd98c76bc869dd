#!/bin/sh
# Build a wheel with SUNDIALS and KLU linked in, install it into an empty environment and run a first model with the native solver.
# sh scripts/check_wheel.sh [PYTHON]; not part of the tests, since it downloads what the package needs.
set -e
python=${1:-python3}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip wheel -q --no-deps --config-settings=cmake.define.ACAUSAL_BUNDLED=ON --config-settings=build-dir="$work/build" -w "$work/wheel" .
"$python" -m venv "$work/venv"
cd "$work"
cat > first.py <<'PROGRAM'
import subprocess
import acausal as ac
import acausal._core as core

class Decay(ac.Component):
    x = ac.Variable(start=1.0)
    def equations(self):
        yield ac.der(self.x) == -self.x

result = ac.compile(Decay()).simulate(until=1.0, solver="ida")
assert abs(result["x"][-1] - 0.36787944) < 1e-5
linked = subprocess.run(["ldd", core.__file__], capture_output=True, text=True).stdout
wrong = [line.split()[0] for line in linked.splitlines() if "sundials" in line or "klu" in line or "amd" in line]
assert not wrong, f"not linked in: {wrong}"
print("the native core is inside, and needs of the system:", ", ".join(line.split()[0] for line in linked.splitlines()))
PROGRAM
# What is downloaded comes first and is told apart: it takes as long as the line does.
"$work/venv/bin/python" - <<'PROGRAM'
import glob, resource, subprocess, sys, time

def timed(what, *command):
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what}: {time.monotonic() - began:.0f} s, of which the processor worked {busy:.0f} s", flush=True)
    return busy

(wheel,) = glob.glob("wheel/*.whl")
timed("download", "-m", "pip", "download", "-q", "-d", "packages", wheel)
busy = timed("install", "-m", "pip", "install", "-q", "--no-index", "--find-links", "packages", wheel)
busy += timed("first result", "first.py")
assert busy <= 60, f"{busy:.0f} s of work from an empty environment to a first result; 60 are asked for"
PROGRAM

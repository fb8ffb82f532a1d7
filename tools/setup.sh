#!/bin/sh
# Make a virtual environment with beamzero, unless it is there already: make calls this first.
#
#     sh tools/setup.sh PYTHON VENV web    # to train and to play, also in the browser
#     sh tools/setup.sh PYTHON VENV docs   # to build the documentation
#     sh tools/setup.sh PYTHON VENV dev    # all of that, and what the tests need
#
# Run in the root of the checkout. What cannot be done is said in one line, with what to do about it.
set -eu

python=$1
venv=$2
extra=$3
ready=$venv/.ready-$extra # holds the folder and the requirements that the environment was made for
log=$venv/install.log
case $extra in            # kB: 0.9 or 1.7 GB for the environment, the rest for what pip unpacks on the way
  web | docs) room_to_install=2000000 ;;
  *) room_to_install=3000000 ;;
esac
room_to_work=1000000      # kB: compiled programs, and what tests write

fail() {
  echo "beamzero: $*" >&2
  exit 1
}

need_room() { # FOLDER KILOBYTES
  free=$(df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print $4 }')
  if [ -n "$free" ] && [ "$free" -lt "$2" ]; then
    fail "$((free / 1000)) MB of disk space are left in $1, and $(($2 / 1000)) MB are needed: make room there"
  fi
}

made_for="$(pwd -P) $(cat pyproject.toml constraints.txt | cksum)"
if [ -e "$venv" ] && ! [ -d "$venv" ]; then
  fail "$venv is in the way: it should be a folder with a Python environment, so move it elsewhere"
fi
is_ready() { [ -f "$1" ] && [ "$(cat "$1")" = "$made_for" ]; }
if { is_ready "$ready" || is_ready "$venv/.ready-dev"; } && "$venv/bin/python" -c '' 2>/dev/null; then
  need_room . $room_to_work
  need_room "${TMPDIR:-/tmp}" $room_to_work
  exit 0
fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  fail "Python 3.11 or newer is needed, and $python is not that: name another by make setup PYTHON=python3.12"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
  fail "$python has no venv: install it (Debian and Ubuntu: apt install python3-venv) and run make setup again"
need_room . $room_to_install

made_elsewhere() {
  for one in "$venv"/.ready-*; do
    if [ -f "$one" ] && ! grep -qF "$(pwd -P) " "$one"; then return 0; fi
  done
  return 1
}

# One that was made in another folder, or by a Python that has gone, is made anew.
if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1 || made_elsewhere; then
  "$python" -m venv --clear "$venv" >/dev/null 2>&1 ||
    fail "$python cannot make an environment in $venv: see what $python -m venv --clear $venv says"
fi
for one in "$venv"/.ready-*; do # what was installed for the same requirements stays
  is_ready "$one" || rm -f "$one"
done
echo "Installing beamzero and what it needs into $venv (a minute or two)"
"$venv/bin/python" -m pip install --disable-pip-version-check --constraint constraints.txt --editable ".[$extra]" >"$log" 2>&1 ||
  fail "could not install what is needed: $(grep -i '^error' "$log" | tail -n 1) (all that pip said is in $log)"
echo "$made_for" >"$ready"

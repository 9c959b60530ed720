#!/bin/sh
# A program that scripts/steps runs beside the steps ends with the script, whether a step fails or a signal comes.
# Otherwise its output and status are those of wait_aside.
# Usage: aside.sh SOURCE WORK
set -eu
source=$1
work=$2
rm -rf "$work"
mkdir -p "$work/scripts"
cp "$source/scripts/steps" "$work/scripts/"
cat >"$work/scripts/try" <<'END'
#!/bin/sh
cd "$(dirname "$0")/.." || exit 1
. scripts/steps
# The program beside starts another one, and tells its number.
if [ "${1:-}" = --beside ]; then
    echo "beside in $PWD"
    sleep "$2" &
    echo $! >pid
    wait
    exit 3
fi
begin try
aside scripts/try --beside "$2"
until [ -s pid ]; do sleep 0.05; done
case $1 in
fails) step 'one that fails' false ;;
waits) attempt 'one that waits' sleep 1 ;;
ends) attempt 'its end' wait_aside ;;
esac
END
chmod 755 "$work/scripts/try"
cd "$work"

fail() {
    echo "$1" >&2
    exit 1
}

# At most two seconds for a program to be gone.
gone() { # PID
    for _ in $(seq 40); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.05
    done
    kill "$1"
    return 1
}

rm -f pid
scripts/try fails 60 >said 2>&1 && fail 'a step that fails ends the script with success'
gone "$(cat pid)" || fail 'the program beside went on after a step that failed'

rm -f pid
scripts/try waits 60 >said 2>&1 &
script=$!
until [ -s pid ]; do sleep 0.05; done
kill -s TERM "$script"
wait "$script" && fail 'a signal ends the script with success'
gone "$(cat pid)" || fail 'the program beside went on after a signal'

rm -f pid
scripts/try ends 0.1 >said 2>&1 && fail 'a program beside that fails is a step that succeeds'
grep -q '^beside in ' build/try.log || fail 'the output of the program beside is not in the log'

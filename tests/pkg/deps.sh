#!/bin/sh
# deps.sh - make deps installs what a distribution has, under the names that it has there.
# An apt of our own plays the distribution: it refuses a name that it does not know.
#
# SPDX-License-Identifier: MIT
set -u
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$SRCDIR/tests/lib-capture.sh"
cd "$SRCDIR" || exit 1
mkdir "$SCRATCH/bin"

cat >"$SCRATCH/bin/apt-cache" <<'END'
#!/bin/sh
shift # policy
for name; do
    candidate='(none)'
    grep -qx "$name" "$SCRATCH/known" && candidate=1.0-1
    printf '%s:\n  Installed: (none)\n  Candidate: %s\n  Version table:\n' "$name" "$candidate"
done
END
cat >"$SCRATCH/bin/apt-get" <<'END'
#!/bin/sh
[ "$1" = install ] || exit 0
for name; do
    case $name in
    install | -*) ;;
    *)
        grep -qx "$name" "$SCRATCH/known" || { echo "E: Unable to locate package $name"; exit 100; }
        echo "$name" >>"$SCRATCH/installed" ;;
    esac
done
END
printf '#!/bin/sh\n"$@"\n' >"$SCRATCH/bin/sudo"
printf '#!/bin/sh\n' >"$SCRATCH/bin/npm"
chmod +x "$SCRATCH"/bin/*

deps() # NAME KNOWN...: with a distribution of these packages
{
    UNDER=$1
    shift
    printf '%s\n' gcc g++ make pkg-config gjs libgjs-dev lua5.4 "$@" >"$SCRATCH/known"
    rm -f "$SCRATCH/installed"
    check 'make deps' env SCRATCH="$SCRATCH" PATH="$SCRATCH/bin:$PATH" make deps
    cp "$SCRATCH/check.out" "$SCRATCH/said"
    for name in gcc gjs lua5.4 "$@"; do
        check "it installs $name" grep -qx "$name" "$SCRATCH/installed"
    done
    check 'and says what there is not' \
        grep -qx 'deps: not in this distribution: valgrind' "$SCRATCH/said"
}

deps 'Debian 12' libmozjs-102-dev libsysprof-4-dev
deps 'Debian 13' libmozjs-128-dev libsysprof-6-dev
deps forky libmozjs-140-dev libsysprof-6-dev lua5.5

finish

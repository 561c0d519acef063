# machine.sh - a fresh Debian in a chroot, for the scripts beside this one; sourced.
#
# The machine is in a temporary folder. debootstrap fills it from the mirror that apt uses
# here; MIRROR=URL takes another. A user without rights runs the tests, and PATH is the whole
# environment. Mounts and processes lie in namespaces of their own, which end with the script
# that made them, however it ends.
#
# A script calls machine_inside when its first word is --inside: that is itself, in the
# namespaces. It defines `inside ROOT SUITE WORD...`, which fills the machine and uses it.
#
# SPDX-License-Identifier: MIT

apt_mirror()
{
    apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' \
        'Label: Debian' 'Component: main' | sed -n 1p
}

fill() # ROOT SUITE PACKAGES: install the machine, and copy this tree into it
{
    script=/usr/share/debootstrap/scripts/$2
    [ -e "$script" ] || script=${script%/*}/sid # a suite that is younger than debootstrap
    debootstrap --variant=minbase --include="$3" "$2" "$1" "$MIRROR" "$script" \
        >"$1.log" 2>&1 || { tail -n 20 "$1.log" >&2; return 1; }
    mkdir -p "$1/home/user/jsprof"
    tar -c --exclude=.git --exclude='./build*' --exclude=node_modules . |
        tar -x --no-same-owner -C "$1/home/user/jsprof"
    chown -R 1000:1000 "$1/home/user"
    mount --rbind /dev "$1/dev"
    mount -t proc proc "$1/proc"
    mount -t sysfs -o ro sysfs "$1/sys"
}

as_root() # ROOT COMMAND...
{
    chroot "$1" /usr/bin/env -i DEBIAN_FRONTEND=noninteractive http_proxy="${http_proxy:-}" \
        https_proxy="${https_proxy:-}" PATH=/usr/sbin:/usr/bin:/sbin:/bin "${@:2}"
}

as_user() # ROOT COMMAND...: the number needs no account
{
    chroot --userspec=1000:1000 "$1" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin \
        "${@:2}"
}

finish()
{
    [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true
    rm -rf "$scratch" || { sleep 1 && rm -rf "$scratch"; } # what was killed still wrote
}

machine() # SCRIPT SUITE WORD...: SCRIPT --inside ROOT SUITE WORD..., and its status
{
    if [ "$(id -u)" != 0 ]; then
        exec sudo MIRROR="${MIRROR:-}" TMPDIR="${TMPDIR:-/tmp}" "$@"
    fi
    export MIRROR=${MIRROR:-$(apt_mirror)}
    [ -n "$MIRROR" ] || { echo "${1##*/}: apt knows no mirror of Debian; set MIRROR" >&2; exit 1; }
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    [ -z "${http_proxy:-}" ] || export http_proxy
    [ -z "${https_proxy:-}" ] || export https_proxy

    scratch=$(mktemp -d)
    inside=
    trap finish EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    chmod 755 "$scratch"
    unshare --mount --pid --fork --kill-child "$1" --inside "$scratch/root" "${@:2}" &
    inside=$!
    wait "$inside" && status=0 || status=$?
    inside=
    exit "$status"
}

#!/bin/sh
# pkg/debian.sh - the packages of debian/: built without a word of lintian, installed by dpkg,
# used, and purged without a trace; built again in another folder, they have the same bytes.
#
# The installation is an overlay on this machine's own system, so dpkg checks dependencies and
# runs triggers as ever, and the overlay's upper folder shows each file that was touched. The
# second build is of the packages without bindings, and of all with LONG=1.
#
# SPDX-License-Identifier: MIT
set -eu
if [ "${1:-}" = --inside ]; then # FOLDER: in a mount namespace of its own
    tmp=$2 root=$2/over/root
    fail() { echo "debian: $*"; exit 1; }
    mount -t tmpfs none "$tmp/over"
    mkdir "$tmp/over/upper" "$tmp/over/work" "$root"
    mount -t overlay overlay "$root" \
        -o "lowerdir=/,upperdir=$tmp/over/upper,workdir=$tmp/over/work" || exit 77
    mount --rbind /dev "$root/dev"
    mount -t proc proc "$root/proc"
    mount -t tmpfs none "$root/tmp"
    cp "$tmp"/one/*.deb "$root/tmp"
    mkdir "$root/tmp/examples"
    cp -R examples/cmake examples/minimal.c "$root/tmp/examples"
    cp tests/pkg/host.c "$root/tmp"
    there()
    {
        chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/tmp \
            DEBIAN_FRONTEND=noninteractive sh -euc "cd /tmp; $1" >"$tmp/said" 2>&1 ||
            { tail -n 20 "$tmp/said"; fail "$1"; }
    }
    said() { grep -q "$1" "$tmp/said" || { cat "$tmp/said"; fail "does not say: $1"; }; }
    packages='libjsprof0 libjsprof-read0 libjsprof-dev jsprof jsprof-gjs lua-jsprof'
    there 'dpkg -i *.deb'
    there 'dpkg --audit; dpkg -V '"$packages"
    [ ! -s "$tmp/said" ] || { cat "$tmp/said"; fail 'not as it was packed'; }
    version=$(sed -n 's/^.define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)
    there 'jsprof --version'
    said "$version"

    there 'gcc host.c -o host $(pkg-config --cflags --libs jsprof) && readelf -d host'
    said 'NEEDED.*libjsprof\.so\.0'
    there './host host.cap && jsprof report host.cap'
    said 'installed_work (host.c'
    there 'gcc host.c -o host $(pkg-config --cflags --libs --static jsprof |
        sed s/-ljsprof/-l:libjsprof.a/) && ./host host.cap && jsprof report host.cap'
    said 'installed_work (host.c'
    if there 'command -v cmake || echo none'; ! grep -qx none "$tmp/said"; then
        there 'cmake -S examples/cmake -B made && cmake --build made
            JSPROF=cmake.cap made/host && jsprof report cmake.cap'
        said 'render (script.x'
    fi

    # The module of each Lua, also where two look in one folder; and the programs.
    echo 'local t = 0; for i = 1, 3e6 do t = t + i % 7 end; print(t > 0)' >"$root/tmp/sum.lua"
    for lua in 5.1 5.2 5.3 5.4 5.5 jit; do
        [ -e "$root/usr/bin/jsprof-lua$lua" ] || continue
        there "! command -v lua$lua || lua$lua -e 'print(require(\"jsprof\").version)'"
        said "$version"
        there "jsprof-lua --version $lua --profile-output=lua.cap sum.lua && jsprof info lua.cap"
        said '^true'
    done
    there 'jsprof-lua sum.lua'
    said '^true'
    echo 'let t = 0; for (let i = 0; i < 3e7; i++) t += i % 7; print(6 * 7, t > 0)' \
        >"$root/tmp/sum.js"
    for program in 'jsprof-gjs --profile-output=gjs.cap gjs sum.js' \
        'jsprof-gjs-console --profile-output=gjs.cap sum.js'; do
        there "$program"
        said '^42 true$'
        there 'jsprof report gjs.cap'
        said 'sum\.js'
    done
    # A machine may be set up to install no manual pages.
    there "dpkg -L $packages"
    for f in share/bash-completion/completions/jsprof share/zsh/vendor-completions/_jsprof \
        share/fish/vendor_completions.d/jsprof.fish share/man/man3/jsprof.3.gz \
        share/man/man1/jsprof-gjs.1.gz share/man/man1/jsprof-luajit.1.gz \
        share/man/man5/jsprof-capture.5.gz share/man/man7/jsprof.7.gz \
        lib/systemd/user/jsprof-serve.socket lib/systemd/user/jsprof-serve.service; do
        said "^/usr/$f$"
    done

    # Only dpkg's own records and caches that a trigger wrote may have changed.
    there "dpkg --purge $packages"
    find "$tmp/over/upper" ! -type d | sed "s|^$tmp/over/upper||" | grep -vE \
        '^/(var/(lib/dpkg|log|cache/(man|ldconfig))/|etc/ld\.so\.cache$)' >"$tmp/left" || true
    [ ! -s "$tmp/left" ] || { cat "$tmp/left"; fail 'these files are left'; }
    ! grep -rl jsprof "$tmp/over/upper/var/lib/dpkg/status" || fail 'dpkg still knows one'
    exit 0
fi

cd "$SRCDIR"
for tool in dpkg-buildpackage dh lintian fakeroot; do
    command -v $tool >/dev/null && continue
    echo 'SKIP: needs dpkg-dev debhelper lintian fakeroot'
    exit 77
done
missing=$(dpkg-checkbuilddeps 2>&1) ||
    { echo "SKIP: needs ${missing#*dependencies: }"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "debian: $*"; exit 1; }
# Debug information takes a third of the time. The check of the room needs the lines.
packages() # FOLDER PROFILE: build in it
{
    mkdir -p "$tmp/$1/jsprof"
    tar -x -C "$tmp/$1/jsprof" -f "$tmp/tree"
    (cd "$tmp/$1/jsprof" && env -u B -u CC -u CFLAGS -u MAKEFLAGS -u WERROR \
        DEB_BUILD_OPTIONS='nocheck noautodbgsym parallel='"$(nproc)" DEB_BUILD_PROFILES="$2" \
        DEB_CFLAGS_APPEND=-g1 DEB_CXXFLAGS_APPEND=-g0 dpkg-buildpackage -b -uc -us) \
        >"$tmp/log" 2>&1 || { tail -n 20 "$tmp/log"; fail "no packages in $1"; }
    # Debian 13's own C library has diversions, for /usr's merge.
    ! grep 'warning:' "$tmp/log" | grep -v '^dh_dwz\|: diversions involved' || fail "warnings in $1"
}
tar -c -f "$tmp/tree" --exclude=.git --exclude='./build*' --exclude=node_modules .
packages one ''
packages 'two/and/deeper' "$([ -n "${LONG:-}" ] || echo pkg.jsprof.nobindings)"
for deb in "$tmp"/two/and/deeper/*.deb; do
    name=${deb##*/}
    # Without the bindings' static libraries this one is another package.
    case ${LONG:-short}:$name in short:libjsprof-dev_*) continue ;; esac
    cmp "$deb" "$tmp/one/$name" || fail "two folders, two packages $name"
done
lintian --fail-on error,warning "$tmp"/one/*.changes >"$tmp/said" 2>&1 ||
    { cat "$tmp/said"; fail 'lintian complains'; }
# The command is hardened with CPPFLAGS too: a fortified call has a name of its own.
dpkg-deb -x "$tmp"/one/jsprof_*.deb "$tmp/hard"
readelf -sW --dyn-syms "$tmp/hard/usr/bin/jsprof" | grep -q '_chk@' ||
    fail 'the command is not fortified'
# The signal-safe room and the callbacks are closed in what was built so.
B=$tmp/one/jsprof/build CC=gcc sh tests/check/rooms.sh || fail 'the room is open'
B=$tmp/one/jsprof/build CC=gcc sh tests/check/callbacks.sh || fail 'the callbacks are open'

case $(dpkg-query -W -f '${Package}\n' 'libjsprof*' 'jsprof*' 'lua-jsprof' 2>/dev/null) in
?*) echo 'SKIP: a package of jsprof is installed already'; exit 77 ;;
esac
as_root=
[ "$(id -u)" = 0 ] || as_root='sudo -n'
mkdir "$tmp/over"
$as_root unshare --mount true 2>/dev/null ||
    { echo 'SKIP: the packages are right; only root can install them'; exit 77; }
status=0
$as_root unshare --mount --propagation private sh tests/pkg/debian.sh --inside "$tmp" || status=$?
[ $status != 77 ] || echo 'SKIP: the packages are right; needs overlayfs to install them'
exit $status

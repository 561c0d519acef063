# node/lib.sh - for tests that run npm packages: sets $node (Node 24 or what there is)
# and $modules, or skips. Sourced; `need PACKAGE...` says which packages of
# tests/node/package.json are wanted.
#
# SPDX-License-Identifier: MIT
modules=$SRCDIR/tests/node/node_modules
node=$modules/.bin/node
"$node" --version >/dev/null 2>&1 || node=$(command -v node) || node=
export NODE_PATH="$modules"

need()
{
    for package; do
        [ -n "$node" ] && [ -d "$modules/$package" ] ||
            { echo "SKIP: needs npm package $package (make deps)"; exit 77; }
    done
}

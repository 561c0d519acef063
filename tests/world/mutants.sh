#!/bin/sh
# check/mutants.sh - the other checks can fail: each is shown a copy of the tree with
# one thing wrong, and has to say which.
#
# SPDX-License-Identifier: MIT
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$SRCDIR"
tar -c --exclude=node_modules Makefile docs include src tests examples bindings debian \
    debugger *.pc.in | tar -xp -C "$scratch"
mkdir -p "$scratch/build/obj"
cp -a "$B/obj/src" "$B/obj/flags" "$scratch/build/obj" # as new as the sources
if [ -x "$B/bin/gjs-console" ]; then
    mkdir -p "$scratch/build/bin" "$scratch/build/obj/bindings/mozjs/102"
    cp -a "$B/bin/gjs-console" "$scratch/build/bin"
fi
cp -a "$scratch/include" "$scratch/include.kept"
cd "$scratch"
SRCDIR=$scratch B=$scratch/build
export SRCDIR B
n=0 bad=0

build() { make -s CC="$CC" MOZJS=no LUA=no "$@" >build.log 2>&1; }

# What the check looks at: the libraries, the mutant's object, or the sources alone.
prepare()
{
    objects=$(find src -name '*mutant*.c' | sed "s|^|$B/obj/|; s|c$|o|")
    case $1 in
    exports) # linked anew, and no object that is not the mutant's
        rm -f "$B"/lib/*
        touch -r include.kept include/*.h
        build lib -o "$B/obj/flags" LDFLAGS="${extra:-}" ;;
    rooms | layers) [ -z "$objects" ] || build $objects ;;
    esac
}

# mutant CHECK WORDS - run the check on what was just spoilt; it must refuse, and
# its words must name the mutation. Then undo it.
mutant()
{
    n=$((n + 1))
    if ! prepare "$1"; then
        echo "mutants: $1: does not build: $(tail -n 3 build.log)"
        bad=1
    elif WERROR=-Werror sh "tests/check/$1.sh" >out 2>&1; then
        echo "mutants: $1 let this pass: $2"
        bad=1
    elif ! grep -qF -- "$2" out; then
        echo "mutants: $1 refused, but not for \"$2\": $(cat out)"
        bad=1
    fi
    restore
}

# refused FILE WORDS - the compiler itself has to refuse.
refused()
{
    n=$((n + 1))
    build "$B/obj/${1%.c}.o" && { echo "mutants: it compiled: $2"; bad=1; }
    grep -qF -- "$2" build.log ||
        { echo "mutants: refused, but not for \"$2\": $(cat build.log)"; bad=1; }
    restore
}

restore()
{
    find . -name '*mutant*' ! -name mutants.sh -exec rm -f {} +
    rm -rf include && cp -a include.kept include
    for f in src/sigsafe/ALLOWED src/sigsafe/left.h src/sigsafe/sample.h src/base/losses.h \
        src/jsprof.map docs/failures.md docs/design.md; do
        [ ! -f "$f.kept" ] || mv "$f.kept" "$f"
    done
    extra=
}

spoil() { cp -a "$1" "$1.kept"; cat >>"$1"; } # FILE: append stdin until restored
edit() { cp -a "$1" "$1.kept"; sed -i "$2" "$1"; }
fn() { echo "int jsp_mutant($1); int jsp_mutant($1) { $2 }"; } # ARGUMENTS BODY
restore

# The room.
room=src/sigsafe/mutant.c
echo '#include "room.h"
void *jsp_mutant(void); void *jsp_mutant(void) { return malloc(8); }' >$room
refused $room 'poisoned'
echo '#include "room.h"
int jsp_mutant(int); int jsp_mutant(int i) { char b[4096]; memset(b, i, sizeof b);
__asm__ volatile("" : : "r"(b) : "memory"); return b[i & 9]; }' >$room
refused $room 'frame size'
{ echo 'int getpid(void);'; fn void 'return getpid();'; } >$room
mutant rooms 'mutant.c reaches outside the room: getpid'
fn 'int (*f)(void)' 'return f() + 1;' >$room
mutant rooms 'mutant.c:1: call through a pointer'
fn 'int (*f)(void)' 'return f();' >$room
mutant rooms 'mutant.c:1: call through a pointer' # in tail position
{ echo '#include <stdlib.h>'; fn void 'return EXIT_FAILURE;'; } >$room
mutant rooms 'mutant.c:1:#include <stdlib.h>'
# By hand: gcc 16 takes the better of an attribute's model and the command line's.
case $($CC -dumpmachine) in
x86_64*) dynamic='leaq jsp_mutant_v@tlsgd(%rip), %rdi' ;;
*) dynamic='adrp x0, :tlsdesc:jsp_mutant_v' ;;
esac
{ echo 'extern _Thread_local int jsp_mutant_v; _Thread_local int jsp_mutant_v;'
    fn void "__asm__ volatile(\"$dynamic\"); return jsp_mutant_v;"; } >$room
mutant rooms 'not initial-exec'
echo 'int jsp_mutant(int);
int jsp_mutant(int i) { return i ? jsp_mutant(i - 1) * i + 2 : i; }
int jsp_mutant_too(int); int jsp_mutant_three(int);
__attribute__((noinline)) int jsp_mutant_too(int i)
{ return i ? jsp_mutant_three(i) + 1 : i; }
__attribute__((noinline)) int jsp_mutant_three(int i)
{ return i & 1 ? jsp_mutant_too(i - 1) * 3 : i; }' >$room
mutant rooms 'in a circle'
echo 'int jsp_mutant(int); __attribute__((noinline)) int jsp_mutant(int i)
{ return i > 1 ? jsp_mutant(i - 1) * jsp_mutant(i - 2) : i; }' >$room
mutant rooms 'calls itself: jsp_mutant'
edit src/sigsafe/left.h 's/JSP_STACK_ENTRY = 256/JSP_STACK_ENTRY = 64/'
mutant rooms 'jsp_sample_handle may use'
edit src/sigsafe/left.h 's/JSP_STACK_NEED = 4096/JSP_STACK_NEED = 1024/'
mutant rooms 'jsp_backtrace may use'
case $($CC -dumpmachine) in x86_64*) enter=syscall ;; *) enter='svc #0' ;; esac
fn void "__asm__ volatile(\"$enter\"); return 0;" >$room
mutant rooms 'system call of its own'
echo 'memfrob' | spoil src/sigsafe/ALLOWED
mutant rooms 'allowed without a reason'

# The layers.
{ echo 'int jsp_up(void);'; fn void 'return jsp_up();'; } >$room
echo 'int jsp_up(void); int jsp_up(void) { return 1; }' >src/session/mutant.c
mutant layers 'src/sigsafe/mutant.c calls up to jsp_up in src/session/mutant.c'
echo 'int jsp_up(void); int jsp_up(void) { return 1; }' >src/session/mutant.c
{ echo 'int jsp_up(void);'; fn void 'return jsp_up();'; } >src/capture/mutant.c
mutant layers 'src/capture/mutant.c calls up to jsp_up'
echo '#include "session/mutant.h"
extern int jsp_mutant;' >src/capture/mutant.c
echo 'enum { JSP_MUTANT };' >src/session/mutant.h
mutant layers 'src/capture/mutant.c includes upward: src/session/mutant.h'
mkdir -p src/loft && echo 'extern int jsp_mutant;' >src/loft/mutant.c
mutant layers 'is on no layer'
rmdir src/loft
{ echo 'int jsp_up(void);'; fn void 'return jsp_up();'; } >src/session/mutant.c
echo 'int jsp_mutant(void); int jsp_up(void); int jsp_up(void) { return jsp_mutant(); }' \
    >src/session/mutant_too.c
mutant layers 'in a circle: src/session/mutant.c src/session/mutant_too.c'
echo '#include "analyze/profile.h"' >src/cli/mutant.h
mutant layers 'src/cli includes src/analyze/profile.h through src/cli/mutant.h'
echo 'struct jsp_profile;' >src/cli/mutant.h
mutant layers 'names the inside of a reader'

# The contracts.
echo 'int jsp_mutant(void);' >src/session/mutant.h
mutant contracts 'src/session/mutant.h:1: jsp_mutant has no comment'
echo '/* -- mutant.c */
int jsp_mutant(void);' >src/session/mutant.h
mutant contracts 'src/session/mutant.h:2: jsp_mutant has no comment'
echo '/* -- mutant.c: return one; return two. */
int jsp_mutant(void);
enum jsp_loss jsp_mutant_too(int a,
                             int b);' >src/session/mutant.h
mutant contracts 'src/session/mutant.h:3: jsp_mutant_too shares the comment'
echo '/* Return one. */
static inline int jsp_mutant(void);
static inline int jsp_mutant(void) { return 1; }

static inline int jsp_mutant_too(void) { return 1; }' >src/session/mutant.h
mutant contracts 'src/session/mutant.h:5: jsp_mutant_too has no comment'
echo '
void jsprof_mutant(void);' >>include/jsprof.h
mutant contracts 'jsprof_mutant has no comment'
echo '/* Return one. */
int jsp_mutant(void);' >src/session/mutant.h
mutant contracts 'src/session/mutant.h:2: jsp_mutant has no body'
echo 'void jsp_mutant(struct jsprof *p);
void jsp_mutant(struct jsprof *p) { p->chain = true; }' >src/session/mutant.c
mutant contracts 'src/session/mutant.c:2: assigns jsprof.chain, which is constant'

# The orders.
echo '#include <stdatomic.h>
int jsp_mutant(_Atomic int *); int jsp_mutant(_Atomic int *a) {
return atomic_load_explicit(a, memory_order_acquire); }' >src/session/mutant.c
mutant orders 'mutant.c:3: atomic without an ORDER: reason'
echo '#include <stdatomic.h>
int jsp_mutant(_Atomic int *); int jsp_mutant(_Atomic int *a) {
/* ORDER: relaxed. A statistic. */
return atomic_load_explicit(a, memory_order_acquire); }' >src/session/mutant.c
mutant orders 'mutant.c:4: the reason does not speak of acquire'
echo '#include <stdatomic.h>
int jsp_mutant(_Atomic int *); int jsp_mutant(_Atomic int *a) {
/* ORDER: relaxed. A statistic. */
int b = atomic_load_explicit(a, memory_order_relaxed);
return b + atomic_load_explicit(a, memory_order_relaxed); }' >src/session/mutant.c
mutant orders 'mutant.c:5: atomic without an ORDER: reason'
echo '#include <stdatomic.h>
int jsp_mutant(_Atomic int *); int jsp_mutant(_Atomic int *a) {
return atomic_load(a); }' >src/session/mutant.c
mutant orders 'mutant.c:3: atomic operation without an order'

# The public header.
echo 'JSPROF_API int jsprof_mutant(int a);' >>include/jsprof.h
mutant contract 'jsprof_mutant'
echo 'static inline int jsprof_mutant(int a);
static inline int jsprof_mutant(int a) { return a; }' >>include/jsprof.h
mutant contract 'jsprof_mutant'
echo 'JSPROF_API int jsprof_mutant(void) JSPROF_COLD;' >>include/jsprof.h
mutant exports 'lacks what the header promises: jsprof_mutant'
echo 'struct jsp_mutant { uint32_t n; };' >src/session/mutant.h
mutant headers 'src/session/mutant.h does not stand alone'
echo 'struct jsprof_mutant { int zero[0]; };' >>include/jsprof.h
mutant headers 'is not strict C11'
if command -v g++ >/dev/null; then
    echo 'static inline int *jsprof_mutant(void *new) { return new; }' >>include/jsprof.h
    mutant headers_cxx 'refused by g++'
fi

# The binding's callbacks: the mutant is the whole binding.
if [ -x "$B/bin/gjs-console" ]; then
    echo 'extern "C" void *malloc(unsigned long); void *mutant_sigsafe();
    static __attribute__((noinline)) void *mutant_deep() { return malloc(1); }
    void *mutant_sigsafe() { return mutant_deep(); }' |
        g++ -O2 -c -x c++ -o "$B/obj/bindings/mozjs/102/mutant.o" -
    mutant callbacks 'callbacks: reach malloc'
fi

# The libraries.
echo '__attribute__((visibility("default"))) int jsprof_mutant(void);
int jsprof_mutant(void) { return 1; }' >src/session/mutant.c
mutant exports 'shows what the header does not: jsprof_mutant'
echo '__attribute__((visibility("default"))) int jsp_mutant(void);
int jsp_mutant(void) { return 1; }' >src/session/mutant.c
edit src/jsprof.map 's/jsprof_\*/jsp*/'
mutant exports 'shared library shows what the header does not: jsp_mutant'
extra='-Wl,--no-as-needed -lm'
mutant exports 'needs more than libc: libm'
echo 'JSPROF_READ_API int jsprof_read_mutant(void);' >>include/jsprof-read.h
mutant exports 'lacks what the header promises: jsprof_read_mutant'
echo '__attribute__((visibility("default"))) int jsprof_read_mutant(void);
int jsprof_read_mutant(void) { static int n; return ++n; }' >src/read/mutant.c
mutant exports 'the reading library has variables: .bss'
extra='-Wl,-soname,libmutant.so'
mutant exports 'wrong soname'
extra='-Wl,-z,lazy'
mutant exports 'binds lazily'
extra='-Wl,-z,execstack'
mutant exports 'executable stack'

# The style.
echo 'extern int jsp_mutant;' >src/session/mutant.c
mutant style 'mutant.c: no SPDX line'
head='/* session/mutant.c - nothing.\n *\n * SPDX-License-Identifier: MIT\n'
echo '/* mutant.c - SPDX-License-Identifier: MIT */' >src/session/mutant.c
mutant style 'mutant.c:1: does not begin with its path'
printf "$head * More.\n */\n" >src/session/mutant.c
mutant style 'the licence does not end the first comment'
printf "$head */\n#include \"session/thread.h\"\n" >src/session/mutant.c
mutant style 'mutant.c:5: a path for a header of the same room'
printf '/* mutant.c - SPDX-License-Identifier: MIT */\nextern\tint jsp_mutant;\n' \
    >src/session/mutant.c
mutant style 'mutant.c:2: a tab'
printf '/* mutant.c - SPDX-License-Identifier: MIT %0100d */\n' 0 >src/session/mutant.c
mutant style 'columns'

# The table of failures.
echo '| a mutant | is not tested | nowhere |' | spoil docs/failures.md
mutant failures 'the above have no test'
echo '| a mutant | is tested | `tests/fault/mutant.sh` |' | spoil docs/failures.md
mutant failures 'tests/fault/mutant.sh does not exist'
echo '| a mutant | is tested | `tests/fault/deep.sh`: `mutant` |' | spoil docs/failures.md
mutant failures 'tests/fault/deep.sh has no mutant'

# What the documents name.
echo 'Open `src/session/mutant.c`.' | spoil docs/design.md
mutant documents 'docs/design.md: src/session/mutant.c does not exist'
echo 'Call `jsp_mutant`.' | spoil docs/design.md
mutant documents 'docs/design.md: no jsp_mutant'

echo 'sleep 1' >tests/cli/mutant.sh
mutant kinds 'tests/cli/mutant.sh'
echo 'thr'ice true >tests/lua/mutant.sh
mutant kinds 'tests/lua/mutant.sh'
echo true >tests/world/mutant.sh
mutant kinds 'tests/world/mutant.sh is in no row'
edit docs/design.md 's/`session\/looker_deep[.]c`, //'
mutant documents '> session/looker_deep.c'
edit docs/design.md 's/(`thread_clock`)/(`jsp_tags_take`)/'
mutant documents 'docs/design.md: jsp_tags_take is not in src/session/thread.c'
edit docs/design.md 's/`session\/drain.c` | `jsp_drain_pass`/`session\/fold.c` | `jsp_drain_pass`/'
mutant documents 'docs/design.md: jsp_drain_pass is not in src/session/fold.c'
edit docs/design.md 's/^| 1 | `src\/image/| 2 | `src\/image/'
mutant documents '< 2 image'

# The tables of callers.
edit src/sigsafe/sample.h 's/\(jsp_sampled_enter *\)yes/\1 - /'
mutant callers 'src/sigsafe/sample.h: the handler calls jsp_sampled_enter'
edit src/sigsafe/sample.h 's/jsp_sampled_busy     /jsp_sampled_mutant   /'
mutant callers 'src/sigsafe/sample.h: jsp_sampled_mutant is in the table, but is no function'
echo 'int jsp_mutant(void);' | spoil src/sigsafe/sample.h
mutant callers 'src/sigsafe/sample.h: jsp_mutant has no row'

# The causes of loss.
edit src/base/losses.h 's|^    X(BLOCKED|    X(MUTANT, mutant, false, "mutant", "") \\\n&|'
mutant losses 'docs/capture.md: thread id=N differs'
edit src/base/losses.h 's/"ring full"/"ring mutant"/'
mutant losses 'lost_ring|ring mutant|'
echo '    uint64_t lost_mutant;' >mutant
edit include/jsprof.h '/uint64_t lost_ring;/r mutant'
mutant losses 'jsprof_stats differs'
echo 'extern const char *jsp_mutant; /* "lost_ring" */' >src/session/mutant.h
mutant losses 'a key beside the table: src/session/mutant.h:1'
echo 'int jsp_mutant = s.lost_ring + s.lost_paused +
    s.lost_stack;' >src/session/mutant.c
mutant losses 'added by hand: src/session/mutant.c:1'

echo "mutants: $n shown"
exit $bad

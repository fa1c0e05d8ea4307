#!/bin/sh
# build.sh - the only build file of gap. `./build.sh help` lists what it does.
# POSIX sh; works from any directory; writes only under build/ (sync and readme also rewrite what
# they generate). Needs a C compiler; whatever else a step wants and does not find is `skipped`.
set -u
LC_ALL=C; export LC_ALL
unset CDPATH
cd "$(dirname "$0")" || exit 2
ROOT=$(pwd)
B=build
CC=${CC:-gcc}
CXX=${CXX:-$(command -v g++ || command -v clang++ || echo g++)}
JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
MODULES="ccd barrier friction fem rigid remesh solver"
HEADERS=$(for m in $MODULES; do ls $m/gap_*.h 2>/dev/null; done)
INC=$(for m in $MODULES; do printf ' -I%s' $m; done)
STRICT="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wundef -Wvla -Wcast-qual
 -Werror"
STRICT_C="-Wstrict-prototypes -Wmissing-prototypes"
# Programs and tests: our bit-for-bit promises are made without contraction.
PROG="-std=c99 -D_POSIX_C_SOURCE=200809L -g -Wall -Wextra -Wshadow -Wpedantic -Werror
 -ffp-contract=off"
LIBS="-lm -lpthread"

have() { command -v "$1" >/dev/null 2>&1; }
die() { echo "build.sh: $*" >&2; exit 2; }
cxx_works() { # COMPILER: it is there, and its library too
    echo '#include <cstdio>' | "$1" -std=c++11 -x c++ -fsyntax-only - 2>/dev/null
}

# ---------------------------------------------------------------- jobs
# A job is a named shell command. It runs with its output in a log; exit 0 passes, 77 is skipped,
# anything else fails and shows the log. A job that writes `count P F S` as its last line counts as
# that many results instead of one.
jobs_begin() { rm -rf "$B/jobs"; mkdir -p "$B/jobs"; njobs=0; }
job() { # NAME COMMAND
    njobs=$((njobs + 1))
    j=$(printf '%s/jobs/%05d' "$B" $njobs)
    printf '%s\n' "$1" > "$j.name"
    printf '%s\n' "$2" > "$j.sh"
}
jobs_run() { # adds to passed, failed, skipped
    [ $njobs -gt 0 ] || return 0
    t0=$(date +%s)
    ls "$B"/jobs/*.sh 2>/dev/null | xargs -P "$JOBS" -n 1 sh -c '
        j=${1%.sh}
        sh "$1" > "$j.log" 2>&1 < /dev/null
        rc=$?
        counted=$(tail -n 1 "$j.log" | sed -n "s/^count //p")
        case $rc in
        0) echo "${counted:-1 0 0}" > "$j.res" ;;
        77) echo "0 0 1" > "$j.res"; printf "skipped  %s\n" "$(cat "$j.name")" ;;
        *) set -- ${counted:-0 1 0}
           [ "$2" -gt 0 ] || set -- "$1" 1 "$3"
           echo "$1 $2 $3" > "$j.res"
           printf "FAILED   %s\n" "$(cat "$j.name")"
           tail -n 40 "$j.log" | sed "s/^/    /" ;;
        esac' run1
    set -- $(cat "$B"/jobs/*.res 2>/dev/null | awk -v n="$njobs" '{ p += $1; f += $2; s += $3 }
        END { if (NR < n) f += n - NR; print p + 0, f + 0, s + 0 }')
    passed=$((passed + $1)); failed=$((failed + $2)); skipped=$((skipped + $3))
    printf '%-8s %d passed, %d failed, %d skipped (%d s)\n' "$section" "$1" "$2" "$3" \
        $(($(date +%s) - t0))
}
section_run() { section=$1; shift; jobs_begin; "$@"; jobs_run; }
finish() {
    [ $skipped -eq 0 ] || echo "$skipped skipped"
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ]
}

# ---------------------------------------------------------------- check
# Each rule prints `FILE:LINE: what`; no output is a pass.
short() { basename "$1" .h | sed 's/^gap_//'; }

check_top() { # first line, headings, length of the top comment, version macro, licence
    awk -v name="$(basename "$1")" -v macro="GAP_$(short "$1" | tr a-z A-Z)_VERSION" '
    FNR == 1 {
        if ($0 !~ "^/\\* " name " - v[0-9]+\\.[0-9]+\\.[0-9]+ - .* - MIT-0, see end")
            print FILENAME ":1: first line must be /* " name " - vX.Y.Z - what - MIT-0, see end"
        split($4, v, "[v.]"); version = v[2] * 10000 + v[3] * 100 + v[4]
        top = 1
    }
    top && /^[A-Z][A-Z ]*[A-Z]/ { head[$1 " " $2] = 1; head[$1] = 1 }
    top && /\*\// { top = 0; if (FNR > 60) print FILENAME ":" FNR ": top comment over 60 lines" }
    $1 == "#define" && $2 == macro {
        seen = 1
        if ($3 + 0 != version) print FILENAME ":" FNR ": version differs from the first line"
    }
    /THE SOFTWARE IS PROVIDED "AS IS"/ { licence = 1 }
    END {
        n = split("QUICK START|GUARANTEES|OPTIONS|EDGE CASES|METHOD|NOT HERE|HISTORY", need, "|")
        for (i = 1; i <= n; ++i)
            if (!(need[i] in head)) print FILENAME ":1: no section " need[i]
        if (!seen) print FILENAME ":1: no " macro
        if (!licence) print FILENAME ":" FNR ": no licence at the end"
    }' "$1"
}
check_includes() { # ISO C only, none of ours
    awk -v iso=" assert ctype errno fenv float inttypes limits math setjmp signal stdarg stdbool \
stddef stdint stdio stdlib string time " '/^[ \t]*#[ \t]*include/ {
        line = $0
        name = line; sub(/.*include[ \t]*</, " ", name); sub(/\.h>.*/, " ", name)
        if (top_done && !index(iso, name)) print FILENAME ":" FNR ": not an ISO C header: " line
    }
    /\*\// { top_done = 1 }' "$1"
}
strip_comments() { # comments and strings blanked, lines kept
    awk '{
        out = ""; s = $0
        while (length(s)) {
            if (incom) {
                i = index(s, "*/")
                if (!i) break
                s = substr(s, i + 2); incom = 0; continue
            }
            if (!match(s, /\/\*|\/\/|"([^"\\]|\\.)*"/)) { out = out s; break }
            out = out substr(s, 1, RSTART - 1)
            tok = substr(s, RSTART, RLENGTH); s = substr(s, RSTART + RLENGTH)
            if (tok == "/*") incom = 1
            else if (tok == "//") break
            else out = out "\"\""
        }
        print out
    }' "$1"
}
check_calls() { # malloc and stdio only in the libc hook
    strip_comments "$1" | awk -v file="$1" -v hook="gap_$(short "$1")__realloc_libc" '
    index($0, hook "(") { inhook = 1 }
    /^}/ { inhook = 0 }
    BEGIN {
        banned = "(malloc|calloc|realloc|free|printf|fprintf|puts|exit|abort)"
        call = "(^|[^A-Za-z0-9_>.])" banned "[ \t]*\\("
    }
    !inhook && $0 ~ call {
        print file ":" FNR ": call outside the hooks: " $0
    }'
}
check_layout() { # 100 columns (longer prefixes in stamped copies pass), no tabs, no trailing space
    awk '/^\/\* \[block [^ ]+ from / { copy = 1 }
    /^\/\* \[end / { copy = 0 }
    length($0) > 100 && !copy { print FILENAME ":" FNR ": longer than 100 columns" }
    /\t/ { print FILENAME ":" FNR ": tab" }
    /[ \t]$/ { print FILENAME ":" FNR ": space at the end of the line" }' "$1"
}
check_owed() { # a test with assertions for every header
    t=tests/test_$(short "$1").c
    if [ ! -f "$t" ]; then echo "$1:1: no $t"
    elif ! grep -q munit_assert "$t"; then echo "$t:1: no assertion"; fi
}
check_sync() { stamp_all "$B/stamped" >/dev/null; for h in $HEADERS; do
    cmp -s "$h" "$B/stamped/$h" || echo "$h:1: stamped blocks differ: run ./build.sh sync"; done; }
check_table() {
    readme_table > "$B/table.md"
    sed -n '/^<!-- headers -->/,/^<!-- \/headers -->/p' README.md | cmp -s - "$B/table.md" ||
        echo "README.md:1: table of headers is stale: run ./build.sh sync"
}
silent() { out=$("$@" 2>&1); [ -z "$out" ] || { printf '%s\n' "$out"; return 1; }; }
check_jobs() {
    mkdir -p "$B"
    for h in $HEADERS; do
        for rule in top includes calls owed; do
            job "check $rule $h" "exec '$ROOT/build.sh' _silent check_$rule $h"
        done
    done
    for f in build.sh $HEADERS $(ls apps/*.c apps/common/*.[ch] tests/*.[ch] 2>/dev/null); do
        job "check layout $f" "exec '$ROOT/build.sh' _silent check_layout $f"
    done
    job "check sync" "exec '$ROOT/build.sh' _silent check_sync"
    job "check table" "exec '$ROOT/build.sh' _silent check_table"
}

# ---------------------------------------------------------------- sync: stamped blocks and table
# `/* [block NAME from gap_home.h] ... */` .. `/* [end NAME] */` in any header is filled with what
# stands between `/* [block NAME home] ... */` and `/* [end NAME] */` in gap_home.h, private prefix
# rewritten. Both markers are whole one-line comments.
stamp() { # HEADER: prints it with fresh blocks
    homes=$(sed -n 's/^\/\* \[block [^ ]* from \(gap_[a-z0-9_]*\.h\)\].*/\1/p' "$1" | sort -u)
    files=
    for home in $homes; do
        file=$(ls */"$home" 2>/dev/null | head -n 1)
        [ -n "$file" ] || { echo "$1: no home $home" >&2; return 1; }
        files="$files $file"
    done
    awk -v user="$(short "$1")" '
    function base(f) { sub(/.*\//, "", f); return f }
    FNR == 1 { ++nfile; main = (FILENAME == ARGV[ARGC - 1]) && nfile == ARGC - 1 }
    !main && /^\/\* \[block [^ ]+ home\]/ {
        key = base(FILENAME) " " $3; have[key] = 1; on = 1; next
    }
    !main && /^\/\* \[end / { on = 0 }
    !main { if (on) body[key] = body[key] $0 "\n"; next }
    /^\/\* \[block [^ ]+ from / {
        home = $5; sub(/\].*/, "", home); key = home " " $3
        print
        if (!(key in have)) { print FILENAME ": no block " key > "/dev/stderr"; exit 1 }
        name = home; sub(/^gap_/, "", name); sub(/\.h$/, "", name)
        text = body[key]
        gsub("gap_" name "__", "gap_" user "__", text)
        gsub("GAP_" toupper(name) "__", "GAP_" toupper(user) "__", text)
        printf "%s", text
        skip = 1; next
    }
    /^\/\* \[end / { skip = 0 }
    !skip { print }' $files "$1"
}
stamp_all() { # DIR: a copy of every header with fresh blocks
    for h in $HEADERS; do
        mkdir -p "$1/$(dirname "$h")"
        stamp "$h" > "$1/$h" || cp "$h" "$1/$h"
    done
}
readme_table() {
    echo '<!-- headers -->'
    echo '| header | what it does |'
    echo '|---|---|'
    for h in $HEADERS; do
        sed -n '1s/^\/\* \([^ ]*\) - \(v[^ ]*\) - \(.*\) - MIT-0, see end.*/\1 \2 \3/p' "$h" |
            while read -r name version what; do echo "| [$name]($h) | $what |"; done
    done
    echo '<!-- /headers -->'
}
sync() {
    mkdir -p "$B"
    stamp_all "$B/stamped"
    for h in $HEADERS; do
        cmp -s "$h" "$B/stamped/$h" || { cat "$B/stamped/$h" > "$h"; echo "stamped $h"; }
    done
    readme_table > "$B/table.md"
    awk -v table="$B/table.md" '
        /^<!-- headers -->/ { while ((getline line < table) > 0) print line; skip = 1 }
        !skip { print }
        /^<!-- \/headers -->/ { skip = 0 }' README.md > "$B/README.md"
    cmp -s README.md "$B/README.md" && return 0
    cat "$B/README.md" > README.md; echo "table of README.md"
}

# ---------------------------------------------------------------- headers
# One translation unit per way of use, made from the list of headers:
#   decl    declarations only, included twice; defines nothing
#   impl    declared, implemented, included again; nm sees only gap_x_ and nothing writable
#   alone   implementation switched on before the only include
#   static  everything private; defines nothing
#   cxx     every function of the C object called for from C++
header_units() { # HEADER DIR
    n=$(basename "$1"); U=$(short "$1" | tr a-z A-Z)
    printf '#include "%s"\n#include "%s"\nextern int unit_decl;\n' $n $n > "$2/decl.c"
    printf '#include "%s"\n#define GAP_%s_IMPLEMENTATION\n#include "%s"\n#include "%s"\n' \
        $n $U $n $n > "$2/impl.c"
    printf '#define GAP_IMPLEMENTATION\n#include "%s"\n' $n > "$2/alone.c"
    printf '#define GAP_%s_STATIC\n#include "%s"\n' $U $n > "$2/static.c"
}
compile() { # COMPILER STD SOURCE OUTPUT [FLAGS]
    case $2 in
    c++*) lang="-x c++"; extra= ;;
    *) lang="-x c"; extra=$STRICT_C ;;
    esac
    cc_=$1; std_=$2; src_=$3; out_=$4; shift 4
    $cc_ -std=$std_ $lang $STRICT $extra "$@" $INC -c "$src_" -o "$out_"
}
cxx_of() { case $1 in gcc*) echo g++ ;; clang*) echo clang++ ;; *) echo "$1" ;; esac; }
header_symbols() { # HEADER OBJECT: only our prefix, nothing writable
    nm "$2" | awk -v p="gap_$(short "$1")_" '
        { type = $(NF - 1); name = $NF }
        type ~ /^[TRVWDBC]$/ && index(name, p) != 1 { print "symbol without prefix: " name }
        type ~ /^[DBCdb]$/ && name !~ /^DW\.ref/ { print "writable global: " name }'
}
header_exports() { nm "$1" | awk '$(NF - 1) ~ /^[TRVWDBC]$/ { print "exported: " $NF }'; }
header_from_cxx() { # HEADER OBJECT DIR: a C++ program that names every function links
    cxx_works "$CXX" || return 0
    {
        printf '#include "%s"\n#include <cstdio>\ntypedef void (*any)();\nint main()\n{\n' \
            "$(basename "$1")"
        printf '    static const any all[] = {\n'
        nm "$2" | awk '$(NF - 1) == "T" { print "        reinterpret_cast<any>(&" $NF ")," }'
        printf '        0};\n    return std::printf("%%d\\n", int(sizeof all)) < 0;\n}\n'
    } > "$3/from_cxx.cpp"
    $CXX -std=c++11 -Wall -Wextra -Werror $INC "$3/from_cxx.cpp" "$2" -lm -o "$3/from_cxx" &&
        "$3/from_cxx" > /dev/null
}
header_one() { # HEADER COMPILER STD
    d=$B/headers/$(short "$1")/$2-$3; mkdir -p "$d"
    header_units "$1" "$d"
    comp=$2; case $3 in c++*) comp=$(cxx_of "$2") ;; esac
    if [ "$2 $3" = "gcc c99" ]; then
        compile $comp $3 "$d/impl.c" "$d/impl.o" -O2 && silent header_symbols "$1" "$d/impl.o" &&
            compile $comp $3 "$d/decl.c" "$d/decl.o" -O0 && silent header_exports "$d/decl.o" &&
            compile $comp $3 "$d/static.c" "$d/static.o" -O1 &&
            silent header_exports "$d/static.o" &&
            compile $comp $3 "$d/alone.c" "$d/alone.o" -fsyntax-only &&
            header_from_cxx "$1" "$d/impl.o" "$d"
    else
        for u in impl decl static alone; do
            compile $comp $3 "$d/$u.c" "$d/$u.o" -fsyntax-only || return 1
        done
    fi
}
header_together() { # COMPILER STD: all headers in one unit, in both orders
    d=$B/headers/together/$1-$2; mkdir -p "$d"
    comp=$1; case $2 in c++*) comp=$(cxx_of "$1") ;; esac
    for h in $HEADERS; do echo "#include \"$(basename "$h")\""; done > "$d/includes"
    { echo '#define GAP_IMPLEMENTATION'; cat "$d/includes"; } > "$d/forward.c"
    { echo '#define GAP_IMPLEMENTATION'; sed -n '1!G;h;$p' "$d/includes"; } > "$d/back.c"
    compile $comp $2 "$d/forward.c" "$d/forward.o" -fsyntax-only &&
        compile $comp $2 "$d/back.c" "$d/back.o" -fsyntax-only
}
SEAMS="range parallel_for realloc linear_ccd material"
header_seams() { # COMPILER STD: the types of every seam are one type (tests/seams.h)
    d=$B/headers/seams/$1-$2; mkdir -p "$d"
    comp=$1; case $2 in c++*) comp=$(cxx_of "$1") ;; esac
    {
        echo '#include "../tests/seams.h"'
        for h in $HEADERS; do echo "#include \"$(basename "$h")\""; done
        echo 'int seams(void);'
        echo 'int seams(void)'
        echo '{'
        echo '    int n = 0;'
        for k in $SEAMS; do
            echo "    other_$k o_$k = 0;"
            echo "    seam_$k s_$k = o_$k;"
            for h in $HEADERS; do
                x=gap_$(short "$h")_$k
                grep -q "^typedef .*(\*$x)(" "$h" || continue
                echo "    $x ${x}_ = s_$k;"
            done
        done
        for k in $SEAMS; do
            echo "    o_$k = s_$k;"
            echo "    n += o_$k != s_$k;"
            for h in $HEADERS; do
                x=gap_$(short "$h")_$k
                grep -q "^typedef .*(\*$x)(" "$h" || continue
                echo "    s_$k = ${x}_;"
                echo "    n += s_$k != ${x}_;"
            done
        done
        echo '    return n;'
        echo '}'
    } > "$d/seams.c"
    INC="$INC -I$B"; compile $comp $2 "$d/seams.c" "$d/seams.o" -fsyntax-only
}
header_m32() { # HEADER
    d=$B/headers/$(short "$1")/m32; mkdir -p "$d"; header_units "$1" "$d"
    compile gcc c99 "$d/impl.c" "$d/impl.o" -m32 -msse2 -mfpmath=sse -fsyntax-only
}
header_plain() { # HEADER COMPILER FLAGS: another compiler, without our warnings
    d=$B/headers/$(short "$1")/plain; mkdir -p "$d"; header_units "$1" "$d"
    $2 $3 $INC -c "$d/impl.c" -o "$d/impl-$(basename $2).o"
}
headers_jobs() { # all | HEADER... | nothing
    stds="c99 c++11"; list=$HEADERS; more=0
    case ${1:-} in
    '') ;;
    all) stds="c99 c11 c17 c++11 c++17"; more=1 ;;
    *) list=$* ;;
    esac
    for c in gcc clang; do
        for s in $stds; do
            case $s in c++*) cxx_works "$(cxx_of $c)" ;; *) have $c ;; esac ||
                { job "headers $c $s" "exit 77"; continue; }
            for h in $list; do
                job "header $h $c $s" "exec '$ROOT/build.sh' _call header_one $h $c $s"
            done
            job "headers together $c $s" "exec '$ROOT/build.sh' _call header_together $c $s"
            job "seams $c $s" "exec '$ROOT/build.sh' _call header_seams $c $s"
        done
    done
    [ $more = 0 ] || for h in $list; do
        if echo '#include <math.h>' | gcc -m32 -x c -c - -o /dev/null 2>/dev/null; then
            job "header $h -m32" "exec '$ROOT/build.sh' _call header_m32 $h"
        else job "header $h -m32" "exit 77"; fi
        for c in tcc x86_64-w64-mingw32-gcc; do
            what="exit 77"
            ! have $c || what="exec '$ROOT/build.sh' _call header_plain $h $c -std=c99"
            job "header $h $c" "$what"
        done
    done
}

# ---------------------------------------------------------------- programs, tests, quick starts
fresh() { # OUTPUT: nothing that it may depend on is newer
    [ -f "$1" ] && [ -z "$(find $MODULES apps tests build.sh -newer "$1" \
        \( -name '*.[ch]' -o -name '*.html' -o -name build.sh \) 2>/dev/null | head -n 1)" ]
}
generated() { # apps/*.html become byte arrays
    mkdir -p "$B/gen"
    for page in apps/*.html; do
        [ -f "$page" ] || continue
        n=$(basename "$page" .html | tr -c 'a-zA-Z0-9\n' _)
        { echo "static const unsigned char ${n}_html[] = {"
          od -An -v -tu1 "$page" | sed 's/^ *//; s/  */,/g; s/$/,/'
          echo '0};'; } > "$B/gen/${n}_html.h.new"
        cmp -s "$B/gen/${n}_html.h.new" "$B/gen/${n}_html.h" ||
            cat "$B/gen/${n}_html.h.new" > "$B/gen/${n}_html.h"
    done
}
libs() { # DIR FLAGS: apps/common and the test framework as objects under DIR
    mkdir -p "$1"
    generated
    fresh "$1/libs.stamp" && return 0
    rm -f "$1"/*.o
    touch "$1/libs.begun" # a source changed while this runs is newer than the stamp
    for src in apps/common/*.c; do echo "$src" "$1/$(basename "$src" .c).o"; done |
        xargs -P "$JOBS" -n 2 sh -c "$CC $(echo $PROG $2) $INC -I$B/gen -c \$0 -o \$1" || return 1
    if [ -n "${MUNIT_DIR:-}" ]; then
        $CC -std=gnu99 $2 -I"$MUNIT_DIR" -c "$MUNIT_DIR/munit.c" -o "$1/munit_.obj" || return 1
    else
        $CC $PROG $2 -DMUNIT_IMPLEMENTATION -x c -c tests/munit.h -o "$1/munit_.obj" || return 1
    fi
    mv "$1/libs.begun" "$1/libs.stamp"
}
objects() { ls "$1"/*.o 2>/dev/null; }
build_prog() { # SOURCE OUTPUT DIR FLAGS
    fresh "$2" && return 0
    extra=; case $1 in tests/test_*) extra=$3/munit_.obj ;; esac
    $CC $PROG $4 $INC -I"${MUNIT_DIR:-tests}" -Itests -Iapps/common -I$B/gen ${PEER:-} "$1" \
        $(objects "$3") $extra $LIBS ${PEERLIBS:-} -o "$2"
}
test_one() { # NAME DIR FLAGS
    build_prog tests/test_$1.c "$2/test_$1" "$2" "$3" || return 1
    "$2/test_$1" --color never ${TESTFLAGS:---seed 0x1} > "$2/test_$1.log" 2>&1
    rc=$?
    cat "$2/test_$1.log"
    ended='\([0-9]*\) of \([0-9]*\) ([^)]*) tests\{0,1\} successful, \([0-9]*\) .*skipped.*'
    sed -n "s/^$ended/\1 \2 \3/p" "$2/test_$1.log" | tail -n 1 | while read -r ok all skip; do
        echo "count $ok $((all - ok)) $skip"
    done
    return $rc
}
tests_jobs() { # DIR FLAGS NAME...
    dir=$1; flags=$2; shift 2
    [ -z "${MUNIT_DIR:-}" ] || dir=$dir-munit
    libs "$dir" "$flags" || { job "apps/common and munit" "exit 1"; return; }
    [ $# -gt 0 ] || set -- $(ls tests/test_*.c 2>/dev/null | sed 's/.*test_\(.*\)\.c/\1/')
    for t in "$@"; do
        [ -f "tests/test_$t.c" ] || die "no tests/test_$t.c"
        job "test $t" "exec '$ROOT/build.sh' _call test_one $t $dir '$flags'"
    done
}
apps_list() { ls apps/*.c 2>/dev/null | sed 's/.*\/\(.*\)\.c/\1/'; }
apps_jobs() {
    libs "$B/obj" "-O2" || { job "apps/common" "exit 1"; return; }
    for a in $(apps_list); do
        job "app $a" "exec '$ROOT/build.sh' _call build_prog apps/$a.c $B/$a $B/obj -O2"
    done
}
# A program in a comment: `// text` behind a printf is what that line prints; comment lines that
# follow it directly are further lines of its output.
expected_output() {
    awk '
    /printf *\(|puts *\(/ && match($0, /\/\/ /) { print substr($0, RSTART + 3); more = 1; next }
    more && /^ *\/\/ / { sub(/^ *\/\/ /, ""); print; next }
    { more = 0 }' "$1" | sed 's/ *$//'
}
run_quoted() { # SOURCE DIR
    d=$2; mkdir -p "$d"
    expected_output "$1" > "$d/expected"
    [ -s "$d/expected" ] || { echo "$1: prints nothing that a comment promises"; return 1; }
    ways=c
    $CC -std=c99 -O1 -Wall -Wextra -Werror $INC "$1" -lm -o "$d/c" || return 1
    if cxx_works "$CXX"; then
        ways="c cxx"
        $CXX -std=c++11 -O1 -Wall -Wextra -Werror -x c++ $INC "$1" -lm -o "$d/cxx" || return 1
    fi
    for x in $ways; do
        "$d/$x" > "$d/$x.out" || return 1
        sed 's/ *$//' "$d/$x.out" | diff "$d/expected" - || return 1
    done
}
quick_start() { # HEADER
    d=$B/quick/$(short "$1"); mkdir -p "$d"
    awk '/^QUICK START/ { on = 1; next } on && (/^[A-Z]/ || /\*\//) { exit }
        on { sub(/^   /, ""); print }' "$1" > "$d/main.c"
    [ -s "$d/main.c" ] || { echo "$1: no QUICK START"; return 1; }
    [ "$(wc -l < "$d/main.c")" -le 20 ] || { echo "$1: QUICK START over 20 lines"; return 1; }
    run_quoted "$d/main.c" "$d"
}
readme_program() {
    mkdir -p "$B/quick/readme"
    awk '/^```c$/ { on = 1; if (NR > 20) late = 1; next } on && /^```/ { exit late } on { print }' \
        README.md > "$B/quick/readme/main.c" ||
        { echo "README.md: program after line 20"; return 1; }
    run_quoted "$B/quick/readme/main.c" "$B/quick/readme"
}
quick_jobs() {
    for h in $HEADERS; do job "quick start $h" "exec '$ROOT/build.sh' _call quick_start $h"; done
    job "program of README.md" "exec '$ROOT/build.sh' _call readme_program"
}

# ---------------------------------------------------------------- slower work
peers() { # libraries that a benchmark may stand beside, if installed
    PEER=; PEERLIBS=
    if echo '#include <suitesparse/cholmod.h>' | $CC -x c -fsyntax-only - 2>/dev/null; then
        PEER="-DHAVE_CHOLMOD"; PEERLIBS="-lcholmod"
        echo 'int main(void){return 0;}' | $CC -x c - -lopenblas -o /dev/null 2>/dev/null &&
            PEERLIBS="$PEERLIBS -lopenblas"
    fi
    export PEER PEERLIBS
}
bench() {
    peers
    libs "$B/obj" "-O2" || exit 1
    [ $# -gt 0 ] || set -- $(ls tests/bench_*.c 2>/dev/null | sed 's/.*bench_\(.*\)\.c/\1/')
    for b in "$@"; do
        [ -f "tests/bench_$b.c" ] || die "no tests/bench_$b.c"
        echo "== bench $b"
        build_prog tests/bench_$b.c "$B/bench_$b" "$B/obj" "-O2" && "$B/bench_$b" || exit 1
    done
}
FUZZ="-O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
fuzz_one() { # NAME SECONDS
    d=$B/fuzz; mkdir -p "$d/$1"
    CC=clang build_prog tests/fuzz_$1.c "$d/fuzz_$1" "$d/obj" "$FUZZ -fsanitize=fuzzer" ||
        return 1
    (cd "$d" && "./fuzz_$1" -max_total_time="$2" -rss_limit_mb=2048 -timeout=10 \
        -error_exitcode=1 -close_fd_mask=3 "$1")
}
fuzz_jobs() {
    if have clang; then CC=clang libs "$B/fuzz/obj" "$FUZZ" || { job "fuzz" "exit 1"; return; }; fi
    [ $# -gt 0 ] || set -- $(ls tests/fuzz_*.c 2>/dev/null | sed 's/.*fuzz_\(.*\)\.c/\1/')
    for f in "$@"; do
        if echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n);
            int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n)
            { (void)d; (void)n; return 0; }' |
            clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then
            job "fuzz $f" "exec '$ROOT/build.sh' _call fuzz_one $f ${FUZZ_SECONDS:-60}"
        else job "fuzz $f" "exit 77"; fi
    done
}
san() { # address and undefined on every test, threads on those that use the pool
    ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}; export ASAN_OPTIONS
    section_run asan tests_jobs "$B/asan" \
        "-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined" "$@"
    pooled=$(grep -l 'pool_' tests/test_*.c 2>/dev/null | sed 's/.*test_\(.*\)\.c/\1/')
    [ $# -eq 0 ] || pooled=$(for t in "$@"; do for p in $pooled; do
        [ "$t" = "$p" ] && echo "$t"; done; done)
    [ -z "$pooled" ] || section_run tsan tests_jobs "$B/tsan" "-O1 -fsanitize=thread" $pooled
}
# A scene runs as it stands and once for each of its variants; those named paper* are the published
# sizes, which only have to start and make three steps.
scene_one() { # SCENE VARIANT DIR: run, meet the expectations, be certified by gap-check; one row
    case $1 in apps/scenes/rigid/*) prog=gap-rigid ;; *) prog=gap-sim ;; esac
    case $1:$2 in *.paper.json:* | *:paper*) how="--steps 3" ;; *) how=--expect ;; esac
    case $1 in apps/scenes/ipc/*) # meshes that do not belong to the project
        [ -d ../shared/data/meshes/ipc ] || return 77
        how="$how --mesh-dir ../shared/data/meshes/ipc" ;;
    esac
    rm -rf "$3"; mkdir -p "$(dirname "$3")"
    "$B/$prog" "$1" ${2:+--variant "$2"} -o "$3" $how > "$3.out"; rc=$?
    cat "$3.out"
    "$B/gap-check" "$3" > "$3.check" || rc=1
    cat "$3.check"
    scene_row "$(basename "$3")" "$3" $rc > "$3.row"
    return $rc
}
scene_row() { # NAME DIR RC: a line of the table
    awk -F, -v name="$1" -v rc="$3" -v out="$2.out" -v check="$2.check" '
        NR > 1 { n++; newton += $3; if ($3 > most) most = $3; c += $5; if ($5 > full) full = $5
                 if ($6 != "nan" && (gap == "" || $6 + 0 < gap + 0)) gap = $6 }
        END {
            published = "-"; said = "-"; met = rc ? "MISSED" : "met"
            while ((getline line < out) > 0) {
                if (line ~ /^published/) { split(line, w, " "); published = w[4] }
                if (line ~ /^(met|MISSED).* = / && (said == "-" || (line ~ /^MISSED/ && !bad))) {
                    bad = line ~ /^MISSED/; sub(/^[A-Za-z]* */, "", line); said = line
                    sub(/ in \[.*/, "", said)
                }
            }
            if (said == "-" && !rc) met = "ran"
            while ((getline line < check) > 0) if (line ~ /^frames=/) {
                split(line, w, " "); split(w[1], f, "="); split(w[2], x, "="); split(w[3], v, "=")
                exact = x[2] + v[2] " in " f[2]
            }
            if (n) printf "| %s | %d | %.2f (%d) | %s | %.0f (%d) | %s | %s | %s | %s |\n", name, n,
                newton / n, most, published, c / n, full, gap == "" ? "-" : sprintf("%.1e", gap),
                said, met, exact
            else printf "| %s | did not start | | | | | | MISSED | |\n", name
        }' "$2/stats.csv" 2>/dev/null || echo "| $1 | did not start | | | | | | MISSED | |"
}
scenes_jobs() { # fast | paper | NAME... | nothing = all but the published sizes
    list=$(find apps/scenes -name '*.json' 2>/dev/null | sort)
    kind=small
    case ${1:-} in
    fast) list=$(grep -l '"fast": *true' $list /dev/null); shift ;;
    paper) kind=paper; shift ;;
    esac
    rm -f "$B"/scenes/*.row
    for s in $list; do
        n=$(basename "$s" .json)
        variants=""
        case $s in
        apps/scenes/rigid/*) # published sizes are files here: NAME.paper.json
            [ -x "$B/gap-rigid" ] || continue
            n=rigid-$n ;;
        apps/scenes/ipc/*) [ $# -gt 0 ] || continue ;; # only by name
        *) variants=$("$B/gap-sim" "$s" --variants) ;;
        esac
        for v in "" $variants; do
            case $s:$v in *.paper.json:* | *:paper*) size=paper ;; *) size=small ;; esac
            full=$n${v:+--$v}
            if [ $# -gt 0 ]; then
                hit=0; for want in "$@"; do case $want in "$n" | "$full") hit=1 ;; esac; done
                [ $hit = 1 ] || continue
                case "$size:$*" in paper:*paper*) ;; paper:*) continue ;; esac
            elif [ $size != $kind ]; then continue; fi
            job "scene $full" "exec '$ROOT/build.sh' _call scene_one $s '$v' $B/scenes/$full"
        done
    done
}
scenes_table() {
    echo "| scene | steps | newton (max) | published | contacts (max) | least gap, m | measured |" \
        "outcome | intersections and inversions in frames |"
    echo "|---|---|---|---|---|---|---|---|---|"
    cat "$B"/scenes/*.row 2>/dev/null
}
readme_picture() {
    apps_only
    "$B/gap-sim" -o "$B/demo" --overwrite && "$B/gap-view" "$B/demo" --png apps/gap.png \
        --frame 24 --size 1200x700 --camera 30,32,1.35
}
apps_only() { section_run apps apps_jobs; [ $failed -eq 0 ] || { finish; exit 1; }; }
demo() {
    apps_only
    exec "$B/gap-sim" -o "$B/demo" --overwrite
}
quick() { # before every commit, under a minute: rules, gcc, quick starts, tests of what changed
    section_run check check_jobs
    jobs_begin
    for h in $HEADERS; do
        job "header $h gcc c99" "exec '$ROOT/build.sh' _call header_one $h gcc c99"
    done
    section=headers; jobs_run
    section_run quick quick_jobs
    changed=$(git diff --name-only HEAD 2>/dev/null |
        sed -n 's/.*\/gap_\([a-z0-9_]*\)\.h$/\1/p; s/^tests\/test_\(.*\)\.c$/\1/p' | sort -u)
    list=$(for t in $changed; do [ -f "tests/test_$t.c" ] && echo "$t"; done)
    [ -z "$list" ] || section_run tests tests_jobs "$B/obj" "-O2" $list
    finish
}
everything() {
    section_run check check_jobs
    section_run headers headers_jobs
    section_run apps apps_jobs # before the tests: some run the programs
    section_run tests tests_jobs "$B/obj" "-O2"
    section_run quick quick_jobs
    if [ -x "$B/gap-sim" ] && [ -x "$B/gap-check" ]; then section_run scenes scenes_jobs fast; fi
    finish
}
help() {
    cat <<'TXT'
./build.sh               check, headers, tests, quick starts, apps; ends with `N passed, N failed`
./build.sh demo          build and run the main job
./build.sh check         rules of the sources: sections, includes, stamped blocks, README table
./build.sh headers [all | FILE...]   every header in every way of use, gcc and clang, C and C++
./build.sh test [NAME]   tests; TESTFLAGS="--seed N" for another seed than 1, MUNIT_DIR=DIR for the
                         real munit
./build.sh slow [NAME]   the same tests with their full counts (GAP_SLOW=1)
./build.sh san [NAME]    tests under address, undefined and thread sanitizers
./build.sh quick         under a minute: rules, gcc, quick starts, tests of what changed
./build.sh apps          programs, into build/
./build.sh bench [NAME]  benchmarks, beside their peers where those are installed
./build.sh fuzz [NAME]   fuzzers, FUZZ_SECONDS each (60)
./build.sh scenes [fast | paper | NAME[--VARIANT]]   scenes with known outcomes, ends with a table
./build.sh sync          stamp shared blocks, refresh the README's table
./build.sh readme        sync, and draw the README's picture
./build.sh clean         remove build/
TXT
}

passed=0; failed=0; skipped=0
mkdir -p "$B"
cmd=${1:-everything}
[ $# -eq 0 ] || shift
case $cmd in
everything) everything ;;
_call) "$@" ;;
_silent) silent "$@" ;;
demo) demo ;;
check) section_run check check_jobs; finish ;;
headers) section_run headers headers_jobs "$@"; finish ;;
test) section_run tests tests_jobs "$B/obj" "-O2" "$@"; finish ;;
slow) GAP_SLOW=1; export GAP_SLOW; section_run tests tests_jobs "$B/obj" "-O2" "$@"; finish ;;
san) san "$@"; finish ;;
quick) quick ;;
apps) section_run apps apps_jobs; finish ;;
bench) bench "$@" ;;
fuzz) section_run fuzz fuzz_jobs "$@"; finish ;;
scenes) apps_only; section_run scenes scenes_jobs "$@"; scenes_table; finish ;;
sync) sync ;;
readme) sync; readme_picture ;;
clean) rm -rf "$B" ;;
help | -h | --help) help ;;
*) help >&2; die "unknown command: $cmd" ;;
esac

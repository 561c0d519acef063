# generate.awk - print a random Lark program: awk -v seed=N -f generate.awk
#
# It ends: loops take from one supply of fuel, functions call only those before them.
# Most operations succeed; some programs end in an error, which is a result as well.
#
# SPDX-License-Identifier: MIT
function chance(n) { return int(rand() * n) }
function pick(list, parts, n) { n = split(list, parts, "|"); return parts[1 + chance(n)] }
function number()
{
    if (!chance(30)) return pick("9223372036854775807|1e300|-9223372036854775807")
    return pick("0|1|2|3|7|-1|255|65536|2147483647|0.5|2.0|-3.25|1e3")
}
function variable() { return pick(names) }

function leaf(k)
{
    k = chance(10)
    if (k < 5) return variable()
    if (k < 8) return number()
    if (k < 9) return "list[" chance(4) "]"
    if (!chance(60)) return pick("true|nil|\"text\"")
    return pick("shared|len(list)|int(1.5)")
}

function expression(depth, k)
{
    k = depth <= 0 ? 0 : chance(12)
    if (k < 2) return leaf()
    if (k < 3)
        return "(" expression(depth - 1) pick(" / | % ") pick("3|7.5|-1|2|0.5") ")"
    if (k < 6)
        return "(" expression(depth - 1) pick(" + | - | * ") expression(depth - 1) ")"
    if (k < 7)
        return "(int(" leaf() " % 1e6) " pick("&|^|<<|>>") " " chance(70) ")"
    if (k < 8) return "-" leaf()
    if (k < 9)
        return "((" condition(depth - 1) " and " expression(depth - 1) ") or " leaf() ")"
    if (k < 10 && n_functions)
        return "f" chance(n_functions) "(" leaf() ", " expression(depth - 1) ")"
    if (k < 11) return "[" leaf() ", " leaf() "][" chance(2) "]"
    return leaf()
}

function condition(depth, k)
{
    k = depth <= 0 ? 0 : chance(8)
    if (k < 5) return "(" leaf() " " pick("<|<=|>|>=|==|!=|==|!=") " " leaf() ")"
    if (k < 6) return "not " condition(depth - 1)
    return "(" condition(depth - 1) pick(" and | or ") condition(depth - 1) ")"
}

function block(depth, indent, n)
{
    for (n = 1 + chance(3); n > 0; n--) statement(depth, indent)
}

function statement(depth, indent, k)
{
    k = depth <= 0 ? chance(5) : chance(10)
    if (k < 2) print indent pick("a|b|c") " = " expression(2) ";"
    else if (k < 3) print indent "shared " pick("+=|-=|=") " " expression(1) ";"
    else if (k < 4) print indent "list[" chance(4) "] = " expression(2) ";"
    else if (k < 5) print indent "c " pick("+=|-=") " " leaf() ";"
    else if (k < 7) {
        print indent "if " condition(2) " {"
        block(depth - 1, indent "    ")
        if (chance(2)) {
            print indent "} else {"
            block(depth - 1, indent "    ")
        }
        print indent "}"
    } else if (k < 9) {
        print indent "for i = 0, " (2 + chance(9)) " {"
        print indent "    fuel -= 1; if fuel < 0 { break; }"
        if (!chance(4)) print indent "    if i == 1 { continue; }"
        block(depth - 1, indent "    ")
        print indent "}"
    } else {
        print indent "while " condition(1) " {"
        print indent "    fuel -= 1; if fuel < 0 { break; }"
        block(depth - 1, indent "    ")
        print indent "}"
    }
}

BEGIN {
    srand(seed)
    print "let fuel = 3000;\nlet shared = 1;"
    names = "a|b|c"
    count = 2 + chance(4)
    for (i = 0; i < count; i++) {
        print "fn f" i "(a, b) {\n    let c = " number() ";"
        print "    let list = [a, b, 3, 0.25];"
        block(3, "    ")
        print "    return " expression(1) ";\n}"
        n_functions++
    }
    print "for i = 0, 30 {\n    fuel = 300;"
    print "    print(i, f" (count - 1) "(i, " number() "), shared);\n}"
    for (i = 0; i < count; i++) print "print(f" i "(" number() ", " number() "));"
}

# SPDX-License-Identifier: BSD-3-Clause
# families.txt written out: RESULT | NAME | PARAMETERS, a line a routine, of version (1.5 or 1.6).
function put(result, name, parameters) { print result " | " name " | " parameters }

# One name, or one for each type or size of the class.
function expand(result, name, parameters, class,    list, count, i, as, c) {
    if (class in types) {
        count = split(types[class], list, " ")
        for (i = 1; i <= count; i++) {
            c = ctype[list[i]]
            as = name; sub(/\{T\}/, list[i], as)
            put(typed(result, c), as, typed(parameters, c))
        }
    } else if (class in sizes) {
        count = split(sizes[class], list, " ")
        for (i = 1; i <= count; i++) {
            as = name; sub(/\{S\}/, list[i], as)
            put(result, as, parameters)
        }
    } else if (class == "-") {
        put(result, name, parameters)
    } else {
        print "no class " class > "/dev/stderr"
        exit 1
    }
}

function typed(text, c) { gsub(/TYPE/, c, text); return text }

function rest(line,    words) { words = line; sub(/^[^ ]+ [^ ]+ /, "", words); return words }

/^#/ || /^$/ { next }
/^type /     { types[$2] = rest($0); next }
/^size /     { sizes[$2] = rest($0); next }
/^c /        { ctype[$2] = rest($0); next }
{
    split($0, column, / \| /)
    if (column[6] > version) next
    expand(column[1], column[2], column[3], column[4])
    if (column[5] == "ctx") {
        sub(/^shmem_/, "shmem_ctx_", column[2])
        expand(column[1], column[2],
               "shmem_ctx_t ctx" (column[3] == "void" ? "" : ", " column[3]), column[4])
    }
}

# SPDX-License-Identifier: BSD-3-Clause
# Lines of code by app, of files APP_FORM.c: not empty, not of comments.
FNR == 1 {
    app = FILENAME
    sub(/.*\//, "", app)
    sub(/_.*/, "", app)
}
!/^ *(\/\*|\* |\*\/|$)/ {
    lines[app]++
}
END {
    for (app in lines) {
        print "lines-" app, lines[app]
    }
}

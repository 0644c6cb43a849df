# Medians of CSV columns by contender (column 2), with the least and the most below.
#   columns, digits: lists of numbers; titles: list separated by commas; width: of a column
# Input: CSV with a heading.

function sorted(list, n,   i, j, v) { # insertion sort: a handful of rounds
  for (i = 2; i <= n; i++) {
    v = list[i]
    for (j = i - 1; j && list[j] > v; j--) list[j + 1] = list[j]
    list[j + 1] = v
  }
}

function line(label, contender, which,   c, i, n, list, value) {
  printf "%-16s", label
  for (c = 1; c <= count; c++) {
    n = rows[contender]
    for (i = 1; i <= n; i++) list[i] = values[contender, c, i]
    sorted(list, n)
    value = which == "median" ? (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2 : list[which == "least" ? 1 : n]
    printf "%" width "." digit[c] "f", value
  }
  print ""
}

BEGIN {
  count = split(columns, column, " ")
  split(digits, digit, " ")
  split(titles, title, ",")
}
NR > 1 {
  if (!($2 in rows)) order[++contenders] = $2
  rows[$2]++
  for (c = 1; c <= count; c++) values[$2, c, rows[$2]] = $column[c] + 0
}
END {
  printf "%-16s", ""
  for (c = 1; c <= count; c++) printf "%" width "s", title[c]
  print ""
  for (k = 1; k <= contenders; k++) {
    line(order[k] " (" rows[order[k]] ")", order[k], "median")
    if (rows[order[k]] > 1) {
      line("  least", order[k], "least")
      line("  most", order[k], "most")
    }
  }
}

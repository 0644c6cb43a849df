# Compares two contenders round by round, as work of others on the machine hits both of them alike.
#   column: of the CSV; a, b: contenders; how: "median" prints the median ratio a / b, "round" that round's number,
#   "spread" the least and the most
NR > 1 && $2 == a {x[$1] = $column}
NR > 1 && $2 == b {y[$1] = $column}
END {
  for (r in x) {
    if (!(y[r] > 0)) continue
    v = x[r] / y[r]
    for (j = n++; j && list[j] > v; j--) {
      list[j + 1] = list[j]
      round[j + 1] = round[j]
    }
    list[j + 1] = v
    round[j + 1] = r
  }
  if (!n) print "-"
  else if (how == "round") print round[int((n + 1) / 2)]
  else if (how == "spread") printf "%.3f to %.3f\n", list[1], list[n]
  else printf "%.3f\n", (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2
}

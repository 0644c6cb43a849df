# Transactions per second over time, one panel for each contender, forced checkpoints marked.
# gnuplot -c contest.gnuplot FORMAT RESULTS TITLE ROUND CONTENDERS

format = ARG1; results = ARG2; title = ARG3; round = ARG4; contenders = ARG5
panels = words(contenders)
height = 110 + 150 * panels
if (format eq "svg") {
  set terminal svg size 900, height font "Helvetica,Arial,sans-serif,13" noenhanced background "white" dashed
  heading = ",19"; subheading = ",14"; mark = 0.6
} else {
  set terminal pngcairo size 900, height font "DejaVu Sans,10" noenhanced background "white"
  heading = ",15"; subheading = ",11"; mark = 0.9
}
set datafile separator ","

# Dark to light, so that they stay apart in grey.
ink = "#1f3a5f"; area = "#c9d8ea"; alarm = "#c2410c"; change = "#15803d"; quiet = "#555555"

# The last second is drawn twice, so that its step has a width.
by_second(contender) = sprintf("< awk -F , '$1 == %s && $2 == \"%s\" {print $3 FS $4; s = $3; n = $4} END {print s + 1 FS n}' '%s/seconds.csv'", \
  round, contender, results)
# One point outside comes with them: gnuplot complains about files without any.
marks(contender, event) = sprintf("< awk -F , '$1 == %s && $2 == \"%s\" && $4 == \"%s\" && $3 > 0; END {print \"0,,-9,,0\"}' '%s/events.csv'", \
  round, contender, event, results)
number(program, file) = system(sprintf("awk -F , '%s' '%s/%s.csv'", program, results, file))
highest = number(sprintf("$1 == %s && $4 > m {m = $4} END {print m}", round), "seconds") * 1.18
last = number(sprintf("$1 == %s && $3 > m {m = $3} END {print m + 1}", round), "seconds") + 0

# Neighbouring labels stand on three lines.
low(n) = highest * (0.07 + 0.13 * (int(n) % 3))
# As the tables call them
called(c) = c eq "anticipate" ? "walsizer" : c eq "reactive" ? "walsizer, anticipate off" : c
# Three or four steps of 1, 2 or 5 times a power of ten.
power = 10 ** floor(log10(highest / 3.0))
multiple = highest / 3.0 / power
set ytics power * (multiple >= 5 ? 5 : multiple >= 2 ? 2 : 1)

set multiplot
set label 1 title at screen 0.09, screen 1 - 24.0 / height font heading tc rgb "black"
set label 2 "Transactions per second; round ".round at screen 0.09, screen 1 - 47.0 / height tc rgb quiet
set lmargin at screen 0.09
set rmargin at screen 0.97
set xrange [0:last]
set yrange [0:highest]
set style fill solid 1.0 noborder
set border 3 lc rgb quiet
set tics nomirror out scale 0.5 tc rgb quiet
set ytics format "%'.0f"
set grid ytics lc rgb "#dddddd" lw 1
set key off
set format x ""

do for [i = 1:panels] {
  c = word(contenders, i)
  top = 1 - (90.0 + 150 * (i - 1)) / height
  set tmargin at screen top
  set bmargin at screen top - 108.0 / height
  forced = number(sprintf("$1 == %s && $2 == \"%s\" {print $7}", round, c), "runs")
  tps = number(sprintf("$1 == %s && $2 == \"%s\" {printf \"%%.0f\", $5}", round, c), "runs")
  set label 3 sprintf("%s: %s per second, %s checkpoint%s forced", called(c), tps, forced, forced eq "1" ? "" : "s") \
    at graph 0, screen top + 11.0 / height font subheading tc rgb "black"
  if (i == panels) {
    set format x "%g"
    set xlabel "seconds since the start" tc rgb quiet offset 0, 0.3
    set key at screen 0.97, screen 1 - 40.0 / height right top horizontal samplen 1 noautotitle
  }
  plot by_second(c) using 1:2 with fillsteps lc rgb area notitle, \
    "" using 1:2 with steps lc rgb ink lw 1.4 notitle, \
    marks(c, "forced") using 3:(highest * 0.93) with impulses lc rgb alarm lw 1 dt 3 notitle, \
    "" using 3:(highest * 0.93) with points pt 11 ps mark lc rgb alarm notitle, \
    marks(c, "timed") using 3:(highest * 0.93) with points pt 10 ps mark lc rgb quiet notitle, \
    marks(c, "size") using 3:(low($0)) with points pt 5 ps mark lc rgb change notitle, \
    "" using 3:(low($0)):5 with labels left offset 0.9, 0 tc rgb change notitle, \
    keyentry with points pt 11 ps mark lc rgb alarm title "forced checkpoint", \
    keyentry with points pt 10 ps mark lc rgb quiet title "timed", \
    keyentry with points pt 5 ps mark lc rgb change title "max_wal_size raised"
  unset label 1
  unset label 2
}
unset multiplot

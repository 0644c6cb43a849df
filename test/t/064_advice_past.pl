
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# advice() about weeks. Three of its rules rest on what only time can bring: a load that has not come back for eight
# days; bursts that each follow twelve quiet windows (12 minutes for two, at the shortest checkpoint_timeout); twelve
# heavy windows in a row (6 minutes; long/advice.pl writes them). The servers, their settings and raises here are real, and
# so is what they do on the advice; the windows come from a history file (see WalsizerHistory).

use strict;
use warnings;

use Test::More;
use WalsizerAdvice;
use WalsizerHistory;
use WalsizerTest;

plan skip_all => 'the history file has another layout on this machine' if !can_write_history();

use constant {
	DAY     => 86_400,
	TIMEOUT => 300,
};

my $node = start_node(new_node('main', { checkpoint_timeout => TIMEOUT . 's' }));

# So much of such windows.
sub windows
{
	my ($seconds, %window) = @_;
	return map { { length => TIMEOUT, %window } } 1 .. $seconds / TIMEOUT;
}
my %quiet = (wal => 4 * MB);

# A stop, another past, a start. The past is measured from what the server itself wrote.
sub live_through
{
	my (%past) = @_;
	$node->stop;
	give_past($node, %past);
	start_node($node);
	return;
}

# 450 MB, and walsizer raises for it by itself.
finish_load(start_wal($node, rate => 90, seconds => 5));
eventually('raises to 1 GB or more', sub { max_wal_size($node) >= 1024 * MB });
is(topics($node), '', 'a load that is minutes old is no reason to speak');

subtest 'a one-off load long ago' => sub {
	live_through(age => 8.5 * DAY, windows => [ windows(8.5 * DAY, %quiet) ]);
	my $found = finding($node, 'max_wal_size');
	is(topics($node), 'max_wal_size', 'and nothing else');
	cmp_ok(value($node, 'SELECT count(*) FROM walsizer.windows'), '>', 2000, 'with more than 2000 windows on record');
	is($found->{severity}, 'info', 'severity');
	like($found->{finding}, qr/^a load that has not come back for 8 days still sets max_wal_size/, 'finding');
	my $raised = max_wal_size($node);
	my $megabytes = $raised / MB;
	like($found->{evidence},
		qr/^max_wal_size is $megabytes MB: grown \d+ \w\w\w \d\d:\d\d to \d+ \w\w\w \d\d:\d\d, at up to \d+ MB of WAL per window; the need since then is \d\d MB$/,
		'evidence');

	# What came back two days ago.
	live_through(age => 2 * DAY, windows => [ windows(2 * TIMEOUT, wal => 450 * MB), windows(2 * DAY, %quiet) ]);
	is(topics($node), '', 'silent when such a load came within the eight days');
	live_through(age => 7 * DAY, windows => [ windows(7 * DAY, %quiet) ]);
	$found = finding($node, 'max_wal_size');
	is($found->{statement}, 'SELECT walsizer.shrink()', 'statement');
	value($node, $found->{statement});
	cmp_ok(max_wal_size($node), '<', $raised / 2, 'which makes max_wal_size what is needed now');
	is(topics($node), '', 'and the finding go away');
};

value($node, q{ALTER SYSTEM SET max_wal_size = '6GB'});
$node->reload;

subtest 'min_wal_size too small for bursts that come again' => sub {
	my @burst = windows(TIMEOUT, wal => 2048 * MB);
	my @pause = windows(12 * TIMEOUT, %quiet);
	live_through(age => DAY, windows => [ @pause, @burst, @pause, @burst, @pause ]);
	my $found = finding($node, 'min_wal_size');
	is($found->{severity}, 'info', 'severity');
	like($found->{evidence},
		qr/^2 bursts of up to 2048 MB of WAL in a window, each after 12 quiet windows or more, in the last 2:1\d:\d\d; min_wal_size is 32 MB$/,
		'evidence');
	is($found->{statement}, q{ALTER SYSTEM SET min_wal_size = '2GB'}, 'statement');
	value($node, $found->{statement});
	$node->reload;
	ok(soon(sub { topics($node) eq '' }), 'which makes the finding go away') or diag(topics($node));
};

subtest 'every cycle heavy, and a short timeout' => sub {
	my @heavy = windows(12 * TIMEOUT, wal => 600 * MB, fpi => 200 * MB);
	live_through(windows => \@heavy);
	if ($node->pg_version < 14)
	{
		is(topics($node), '', 'PostgreSQL 13 cannot tell how much of it is images: silence');
		return;
	}
	my $found = finding($node, 'checkpoint_timeout');
	is($found->{severity}, 'notice', 'severity');
	# 19 counts the bytes of images, those before it their number.
	my $up_to = value($node, 'SHOW server_version_num') < 190000 ? 'up to ' : '';
	like($found->{evidence}, qr/^each of the last 12 windows of 5:00 saw 600 MB to 600 MB of WAL, ${up_to}33 % of it full-page images$/, 'evidence');
	is($found->{statement}, q{ALTER SYSTEM SET checkpoint_timeout = '15min'}, 'statement');
	value($node, $found->{statement});
	$node->reload;
	ok(soon(sub { topics($node) eq '' }), 'which makes the finding go away') or diag(topics($node));
};

done_testing();

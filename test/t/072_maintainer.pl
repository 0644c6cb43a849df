
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

# One maintainer, in every place that names one; scripts/maintainer.sh writes all of them, and nothing else.
use strict;
use warnings;
use File::Copy;
use File::Path;
use File::Temp;
use JSON::PP;
use Test::More;

my @places = qw(debian/control.in debian/control debian/changelog META.json packaging/walsizer.spec);

plan skip_all => 'the packaging is not here' if grep { !-e } @places;

sub content
{
	my ($file) = @_;
	open my $handle, '<', $file or die "$file: $!";
	local $/;
	return <$handle>;
}

# named DIRECTORY: whom each place names
sub named
{
	my ($directory) = @_;
	my %text = map { $_ => content("$directory/$_") } @places;
	my %name = (
		'META.json' => decode_json($text{'META.json'})->{maintainer},
		'debian/changelog' => $text{'debian/changelog'} =~ /^ -- (.*)  \w/m,
		'packaging/walsizer.spec' => $text{'packaging/walsizer.spec'} =~ /^%changelog\n\* (?:\S+ ){4}(.*) - \S+$/m);
	($name{$_}) = $text{$_} =~ /^Maintainer: (.*)$/m foreach qw(debian/control.in debian/control);
	return \%name;
}

sub everywhere { my ($name) = @_; return { map { $_ => $name } @places } }

my $here = named('.');
is_deeply($here, everywhere($here->{'debian/control.in'}), 'all places name the same maintainer');
is(qx(scripts/maintainer.sh), "$here->{'debian/control.in'}\n", 'scripts/maintainer.sh prints it');
like($here->{'debian/control.in'}, qr/^[^<>]+ <[^<>@\s]+\@[^<>@\s]+>$/, 'a name and an address');
unlike($here->{'debian/control.in'}, qr/[\@.]example(?:\.\w+)?>|localhost/, 'an address that looks real is real');

my $copy = File::Temp->newdir;
mkpath([ map { "$copy/$_" } qw(debian packaging scripts) ]);
copy($_, "$copy/$_") or die "$_: $!" foreach @places, 'scripts/maintainer.sh';
# An entry of an earlier release keeps who made it.
open my $changelog, '>>', "$copy/debian/changelog" or die $!;
print $changelog "\nwalsizer (0.9-1) unstable; urgency=medium\n\n  * Older.\n\n",
  " -- Some One <some\@one.org>  Mon, 01 Jun 2026 12:00:00 +0000\n";
close $changelog;

my $new = q{Zoë O'Neill-Smith (packages) <zoe+pg@packages.walsizer.org>};
is(system('bash', "$copy/scripts/maintainer.sh", $new), 0, 'a new maintainer');
my $there = named($copy);
utf8::encode($there->{'META.json'});
# This file is not "use utf8": bytes are compared with bytes.
is_deeply($there, everywhere($new), 'is written everywhere');
like(content("$copy/debian/changelog"), qr/^ -- Some One <some\@one\.org>  /m, 'older entries keep theirs');
foreach my $place (@places)
{
	my ($before, $after) =
	  map { s{\Q$here->{'debian/control.in'}\E|\Q$new\E}{MAINTAINER}gr } content($place), content("$copy/$place");
	is(substr($after, 0, length $before), $before, "$place: nothing else is changed");
}

foreach my $bad ('Nobody', 'Nobody <nobody>', 'No "Body" <no@body.org>', 'a|b <no@body.org>', "No\nBody <no\@body>x")
{
	my $before = content("$copy/debian/control");
	isnt(system(qq(bash $copy/scripts/maintainer.sh "\$BAD" 2>$copy/refused)), 0, 'refused') if local $ENV{BAD} = $bad;
	is(content("$copy/debian/control"), $before, 'and nothing written');
}

done_testing();

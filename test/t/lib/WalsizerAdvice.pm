
# Copyright (c) 2026, the walsizer authors. PostgreSQL License, see LICENSE.

=pod

=head1 NAME

WalsizerAdvice - what advice() says, and storage slow enough for it to speak

=cut

package WalsizerAdvice;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use Test::More;
use WalsizerTest;

our @EXPORT = qw(advice topics finding slow_storage_library start_on_slow_storage slow_down);

=pod

=over

=item advice($node), topics($node), finding($node, $topic)

The findings by topic; the topics as one text; the finding of this topic, waited for, because counters become visible
late: up to 13 at the end of a window only.

=cut

sub advice
{
	my ($node) = @_;
	return { map { ($_->{topic} => $_) } rows($node, 'SELECT * FROM walsizer.advice()') };
}

sub topics
{
	my ($node) = @_;
	return join ', ', sort keys %{ advice($node) };
}

sub finding
{
	my ($node, $topic) = @_;
	my $found = soon(sub { advice($node)->{$topic} });
	ok($found, "$topic is found") or diag(topics($node));
	return $found || {};
}

=pod

=item slow_storage_library(), start_on_slow_storage($node, $library), slow_down($node, $table, $milliseconds)

Compiles slow_storage.c (undef without a compiler); starts a server with it; from now on the checkpointer's fsync() of
this table's file takes so long, or with no table none does.

=back

=cut

sub slow_storage_library
{
	my $library = PostgreSQL::Test::Utils::tempdir . '/slow_storage.so';
	my $source  = dirname(__FILE__) . '/slow_storage.c';
	return system("cc -shared -fPIC -o '$library' '$source' -ldl 2>/dev/null") == 0 ? $library : undef;
}

sub start_on_slow_storage
{
	my ($node, $library) = @_;
	local $ENV{LD_PRELOAD} = $library;
	return start_node($node);
}

sub slow_down
{
	my ($node, $table, $milliseconds) = @_;
	my $file = $node->data_dir . '/slow_storage';
	unlink $file;
	return if !defined $table;
	append_to_file("$file.new", value($node, "SELECT pg_relation_filepath('$table')") . " $milliseconds\n");
	rename "$file.new", $file or die "cannot rename $file.new: $!\n";
	return;
}

1;

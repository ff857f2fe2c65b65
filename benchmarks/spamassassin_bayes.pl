# SpamAssassin's Bayes alone: learns files, then prints the probability of others.
#
# perl -T spamassassin_bayes.pl FOLDER, whose standard input has the lines
#   start, ham TAB PATH or spam TAB PATH ..., done, test TAB PATH ...
# For each test one line: the probability of spam, or - where no token is known.

use strict;
use warnings;
use Mail::SpamAssassin;
use Mail::SpamAssassin::PerMsgStatus;

my ($folder) = $ARGV[0] =~ m{^([-\w./]+)$} or die "no folder\n";
my $sa = Mail::SpamAssassin->new({
    dont_copy_prefs => 1, local_tests_only => 1, userstate_dir => $folder,
    userprefs_filename => '/dev/null', rules_filename => '/dev/null',
    site_rules_filename => '/dev/null', config_text => <<"CONFIG",
loadplugin Mail::SpamAssassin::Plugin::Bayes
use_bayes 1
bayes_path $folder/bayes
bayes_auto_learn 0
bayes_auto_expire 0
bayes_min_ham_num 1
bayes_min_spam_num 1
bayes_learn_to_journal 0
CONFIG
});
$sa->init(1);
my ($bayes) = grep { ref eq 'Mail::SpamAssassin::Plugin::Bayes' }
    @{ $sa->{plugins}->{plugins} };
while (my $line = <STDIN>) {
    chomp $line;
    my ($what, $path) = split /\t/, $line, 2;
    if ($what eq 'start') { $sa->init_learner({ caller_will_untie => 1 }); next }
    if ($what eq 'done') {
        $sa->rebuild_learner_caches();
        $sa->finish_learner();
        next;
    }
    open my $file, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$file> };
    close $file;
    my $mail = $sa->parse($text, 0);
    if ($what eq 'test') {
        my $status = Mail::SpamAssassin::PerMsgStatus->new($sa, $mail);
        my $probability = $bayes->scan($status, $mail);
        print defined $probability ? sprintf('%.17g', $probability) : '-', "\n";
        $status->finish();
    }
    else {
        $sa->learn($mail, undef, $what eq 'spam', 0)->finish();
    }
    $mail->finish();
}

"""
A server that classifies mail for clients of SpamAssassin's spamd.

In: requests on sockets, from clients that may be slow, broken or hostile. Out: answers
in the protocol of spamd, within bounds of time and memory. The model is always the one
in its file, or the last that could be read.
"""

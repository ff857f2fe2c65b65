"""
A message as it travels to what it says.

In: the bytes of a message, however broken. Out: a `Mail`: its header fields, its raw
text, its body's text and a digest of what stays the same from delivery to delivery.
Any bytes at all give a `Mail`; nothing here raises, or imports the rest of nbtext.
"""

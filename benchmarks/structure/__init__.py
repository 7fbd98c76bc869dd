"""Reference problems for index reduction and state selection, each in its raw form: nothing is differentiated by hand.

`raw` says what a problem with published end values is; the other files state problems, one family a file.
"""

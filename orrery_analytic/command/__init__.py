"""The command line, one module a family of verbs: what is asked, what is run, how it is printed."""

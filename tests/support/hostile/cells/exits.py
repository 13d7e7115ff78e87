# either: asks IPython to leave.
exit()

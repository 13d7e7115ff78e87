# either: calls IPython's exit().
exit()

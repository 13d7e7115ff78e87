# May lose points: calls IPython's exit().
exit()

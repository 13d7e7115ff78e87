# points: a loop that never ends, but lets itself be stopped.
while True:
    pass

# either: never ends and swallows interrupts.
while True:
    try:
        while True:
            pass
    except BaseException:
        pass

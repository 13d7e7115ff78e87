# May lose points: loops forever and ignores interrupts.
while True:
    try:
        while True:
            pass
    except BaseException:
        pass

# Keeps points: loops forever, but can be interrupted.
while True:
    pass

# points: writes points for itself, by the hook that displays values and by hand.
import sys

sys.displayhook(3)
sys.displayhook("ok")
sys.displayhook = lambda value: print(20.0)

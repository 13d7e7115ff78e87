# Keeps points: forges points, by calling and replacing sys.displayhook.
import sys

sys.displayhook(3)
sys.displayhook("ok")
sys.displayhook = lambda value: print(20.0)

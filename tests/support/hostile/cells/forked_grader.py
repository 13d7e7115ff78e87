# either: takes the place of the copy that is to be asked, by a fork that always says "copy".
import os

os.fork = lambda: 0

# nothing: ends the whole process.
import os

os._exit(0)

# nothing: closes all files of its process, so that nobody can speak to it any more.
import os

os.closerange(3, 256)

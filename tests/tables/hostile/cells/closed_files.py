# Gets no points: closes all file descriptors, including the socket to the grader.
import os

os.closerange(3, 256)

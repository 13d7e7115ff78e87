"""What runs inside bubblewrap: the zygote, and each sandbox's init process and kernel.

Bubblewrap shows this folder as /run/inside and starts `inside.zygote`, so imports in here are
relative, and nothing else of `grading` is there to be imported.
"""

"""Code that runs inside bubblewrap.

It is the zygote, and each sandbox's init process and kernel. Bubblewrap mounts this folder at
/run/inside and starts `inside.zygote`, so imports here must be relative, and can't reach the rest
of `grading`.
"""

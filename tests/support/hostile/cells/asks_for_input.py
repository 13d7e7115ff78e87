# points: waits for somebody to type.
number = input("How many? ")

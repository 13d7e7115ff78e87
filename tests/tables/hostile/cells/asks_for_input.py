# Keeps points: waits for input from the keyboard.
number = input("How many? ")

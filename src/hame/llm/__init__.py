"""One streaming call to one model, whichever wire it speaks."""

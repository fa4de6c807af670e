"""The composition root: the only room that knows who implements which port."""

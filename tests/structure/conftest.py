from hypothesis import settings

# No deadline: the first example of a test may import scipy.
settings.register_profile("structure", deadline=None)
settings.load_profile("structure")

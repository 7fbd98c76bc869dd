"""Robertson's chemical kinetics as a plain model: residuals, no components (WinDali's model file format).

Shows: `ac.plain`, an index-1 system whose third equation is algebraic, eleven decades of time, tolerances for small quantities.
"""

import numpy as np

import acausal as ac


def robertson(dy, y, x, p):
    """A -> B slowly, 2 B -> B + C fast, B + C -> A + C medium; what is not A or B is C."""
    yield dy.a + p.k1 * y.a - p.k2 * y.b * x.c
    yield dy.b - p.k1 * y.a + p.k2 * y.b * x.c + p.k3 * y.b**2
    yield y.a + y.b + x.c - 1.0


def main():
    model = ac.compile(
        ac.plain(
            robertson,
            y={"a": 1.0, "b": ac.Variable(start=0.0, fixed=True, nominal=1e-5)},
            x={"c": 0.0},
            p={"k1": 0.04, "k2": 1e4, "k3": 3e7},
        )
    )
    result = model.simulate(until=1e11, at=[0.0, *np.logspace(-5, 11, 321)], rtol=1e-8, atol={"a": 1e-14, "b": 1e-18})
    print(result)
    published = {"a": 0.2083340149701255e-7, "b": 0.8333360770334713e-13, "c": 0.9999999791665050}
    for name, value in published.items():
        print(f"{name} = {result[name][-1]:.10e}, {abs(result[name][-1] / value - 1):.0e} from the published value")
    return result


if __name__ == "__main__":
    main()

"""Weighers alone."""
import unittest

import numpy

import exemplar


class Weighers(unittest.TestCase):
    def test_exact_at_examples(self):
        points = numpy.random.default_rng(1).uniform(-1, 1, (14, 4))
        for kind in ("cardinal", "calm", "gaussian", "shepard"):
            weigher = exemplar.Weigher(points, kind=kind)
            numpy.testing.assert_allclose(weigher.weights(points), numpy.eye(14), atol=1e-8)
            self.assertEqual(weigher.weights(points[3]).shape, (14,))

    def test_parameters(self):
        near, far = (exemplar.Weigher([[0], [1], [3]], radius=r).weights([2]) for r in (0.5, 2))
        self.assertGreater(abs(near - far).max(), 1e-3)
        self.assertEqual(exemplar.Weigher([[0], [1]], kernel="gaussian").weights([0.5]).shape, (1, 2))

    def test_refused(self):
        with self.assertRaisesRegex(exemplar.SingularError, "same place"):
            exemplar.Weigher([[0], [0]])
        with self.assertRaisesRegex(exemplar.ArgumentError, "above 0"):
            exemplar.Weigher([[0], [1]], radius=0)
        with self.assertRaisesRegex(TypeError, "no parameter 'softness'"):
            exemplar.Weigher([[0], [1]], softness=1)
        with self.assertRaisesRegex(ValueError, "no weigher 'magic'"):
            exemplar.Weigher([[0]], kind="magic")
        with self.assertRaisesRegex(ValueError, r"\(N, 1\)"):
            exemplar.Weigher([[0], [1]]).weights([[1, 2]])
        with self.assertRaises((exemplar.Error, ValueError)):
            exemplar.Weigher([[float("nan")], [1]])

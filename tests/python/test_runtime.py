"""The Python package on the demos' rigs: what it loads, poses and evaluates, beside the tool; and what it refuses."""
import subprocess
import threading
import unittest

import numpy
import pytest

import exemplar


class Arm(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _load(self, demo, tool, tmp_path):
        self.tool, self.folder, self.path = tool, tmp_path, demo("arm") / "arm.glb"
        self.rig = exemplar.load(self.path)

    def test_what_it_is(self):
        self.assertEqual(list(self.rig.axes), ["shoulder", "elbow", "wrist", "gender"])
        self.assertEqual((self.rig.axes["elbow"].min, self.rig.axes["elbow"].max), (0, 140))
        self.assertEqual(self.rig.mesh.vertices.shape, (1335, 3))
        self.assertEqual(self.rig.mesh.triangles.max(), 1334)
        self.assertEqual(len(self.rig.examples), 8)
        self.assertEqual(len(self.rig.skeleton), 3)
        self.assertIn("1335 vertices", repr(self.rig))

    def test_as_the_tool(self):
        out = self.folder / "posed.obj"
        subprocess.run([self.tool, "pose", self.path, "elbow=70", "gender=0.2", "-q", "-o", out], check=True)
        lines = [line.split()[1:4] for line in out.read_text().splitlines() if line.startswith("v ")]
        ours = self.rig.evaluate(self.rig.pose(elbow=70, gender=0.2))[0]
        numpy.testing.assert_allclose(ours, numpy.array(lines, dtype=float), atol=2e-6)

    def test_many_are_each_alone(self):
        rng = numpy.random.default_rng(3)
        pose = self.rig.pose(elbow=rng.uniform(0, 140, 150), gender=rng.uniform(0, 1, 150))
        together, normals, weights = self.rig.evaluate(pose, normals=True, weights=True)
        for threads in (1, 3):
            self.assertTrue(numpy.array_equal(together, self.rig.evaluate(pose, threads=threads)))
        self.assertTrue(numpy.allclose(numpy.linalg.norm(normals, axis=2), 1, atol=1e-5))
        self.assertTrue(numpy.allclose(weights.sum(1), 1))
        for i in range(0, 150, 37):
            alone = exemplar.Pose(self.rig)
            alone.dials[0], alone.joints[0] = pose.dials[i], pose.joints[i]
            self.assertTrue(numpy.array_equal(self.rig.evaluate(alone)[0], together[i]))

    def test_in_place(self):
        room = numpy.full((5, 1335, 6), 7, dtype=numpy.float32)
        pose = self.rig.pose(elbow=[0, 30, 60, 90, 120])
        made = self.rig.evaluate(pose, out=room[:, :, :3])
        self.assertTrue(numpy.shares_memory(made, room))
        self.assertTrue(numpy.array_equal(made, self.rig.evaluate(pose)))
        self.assertTrue((room[:, :, 3:] == 7).all())
        back = numpy.empty((5, 1335, 3), dtype=numpy.float32)[::-1]
        self.assertTrue(numpy.array_equal(self.rig.evaluate(pose, out=back), made))

    def test_refused(self):
        with self.assertRaisesRegex(exemplar.FormatError, "not a rig"):
            exemplar.Rig._unpack(b"", "float")
        with self.assertRaisesRegex(KeyError, "no axis 'knee'"):
            self.rig.pose(knee=3)
        with self.assertRaisesRegex(ValueError, "no level 2"):
            self.rig.evaluate(level=2)
        with self.assertRaisesRegex(ValueError, "different numbers of poses"):
            self.rig.pose(elbow=[1, 2], gender=[1, 2, 3])
        for wrong in (numpy.empty((1, 1335, 3)), numpy.empty((1, 1334, 3), "f4"), numpy.empty((1, 1335, 3), ">f4"),
                      numpy.empty((3, 1335, 1), "f4").T, [1], None.__class__):
            with self.assertRaises((ValueError, TypeError)):
                self.rig.evaluate(out=wrong)
        fixed = numpy.empty((1, 1335, 3), "f4")
        fixed.flags.writeable = False
        with self.assertRaises(ValueError):
            self.rig.evaluate(out=fixed)
        with self.assertRaises(TypeError):
            exemplar.load(self.path).evaluate(self.rig.pose())

    def test_not_finite(self):
        pose = self.rig.pose(elbow=float("nan"), gender=float("inf"))
        self.assertTrue(numpy.isfinite(self.rig.evaluate(pose)).all())

    def test_threads_and_rigs_that_are_gone(self):
        results = []

        def work():
            rig = exemplar.load(self.path)
            pose = rig.pose(elbow=numpy.linspace(0, 120, 70))
            del rig
            results.append(pose._rig.evaluate(pose))

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(len(results), 4)
        for made in results[1:]:
            self.assertTrue(numpy.array_equal(made, results[0]))


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
        self.assertEqual(exemplar.Weigher([[0], [1]], kernel="gaussian").weights([0.5]).shape, (2,))

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

"""The person: skin, eyes, lashes, teeth, tongue, hair, shirt, trousers and shoes as one mesh that follows the body.

Forms are in metres, with the soles on the ground. The rest form is a young woman.
"""
import numpy as np
from scipy.sparse import coo_matrix, diags
from scipy.spatial import cKDTree

from cloth import GARMENTS, Pattern
from hair import Hair
from source import BODY, METRES, Clothes

SOCK = -7.25  # decimetres: socks end there, below the shoes' rims, since trousers do not hide all of them
LASHES = 0.62  # of their length
# Cloth whose change differs from that of its neighbours by more than ROUGH (decimetres) is smoothed, and its neighbours.
ROUGH, SPREAD, SMOOTH = 0.06, 4, 30
# Skin that clothes cover, in metres: nearest vertex of cloth at most that far away and that far beside it; and how deep
# below the cloth it stays in every form.
NEAR, BESIDE, BELOW = 0.035, 0.014, 0.005


class Part:
    def __init__(self, name, faces, texcoords, form, weights):
        """form(whole) gives all points that faces refer to."""
        points = np.array([[corner[0] for corner in face] for face in faces])
        corners = np.array([[corner[1] for corner in face] for face in faces])
        used, numbers = np.unique(points, return_inverse=True)
        kept, places = np.unique(corners, return_inverse=True)
        self.name, self.faces, self.corners = name, numbers.reshape(points.shape), places.reshape(corners.shape)
        self.texcoords, self.weights = texcoords[kept], weights[used]
        self.form = lambda whole: form(whole)[used]
        self.count = len(used)


class Person:
    def __init__(self, source, skin_texcoords):
        self.source, self.parts, self.patterns = source, [], {}
        self.suit, self.shoes = Clothes(source, "female_casualsuit01"), Clothes(source, "shoes01")
        self.young_woman = source.points + source.target("macrodetails/caucasian-female-young")
        self.make_skin(skin_texcoords)
        self.make_face()
        self.make_hair()
        self.make_clothes()
        self.starts = np.cumsum([0] + [part.count for part in self.parts])
        self.faces = np.concatenate([part.faces + start for part, start in zip(self.parts, self.starts)])
        self.weights = np.concatenate([part.weights for part in self.parts])
        few = np.argsort(-self.weights, axis=1, kind="stable")[:, 4:]
        np.put_along_axis(self.weights, few, 0, axis=1)
        self.weights /= self.weights.sum(axis=1, keepdims=True)
        self.frames = source.frames(source.points)
        self.covered = self.cloth = np.zeros(0, int)
        self.rest, self.heads = self.form(self.young_woman)
        self.find_covered()
        self.rest, self.heads = self.form(self.young_woman)

    def add(self, name, faces, texcoords, form, weights):
        self.parts.append(Part(name, faces, texcoords, form, weights))

    def helpers(self, *names):
        return [face for name in names for face in self.source.groups["helper-" + name]]

    def make_skin(self, texcoords):
        """Without what the clothes hide."""
        hidden = self.suit.hides | self.shoes.hides
        faces = [face for face in self.source.groups["body"] if not all(hidden[corner[0]] for corner in face)]
        self.add("skin", faces, texcoords, lambda whole: whole, self.source.weights)

    def make_face(self):
        source, plain = self.source, np.full_like(self.source.texcoords, 0.5)
        self.add("eyes", self.helpers("l-eye", "r-eye"), self.eye_texcoords(), lambda whole: whole, source.weights)
        lashes = self.helpers("l-eyelashes-2", "r-eyelashes-2")
        hairs = np.unique([corner[0] for face in lashes for corner in face])
        lids = cKDTree(source.points[:BODY]).query(source.points[hairs])[1]

        def shorten(whole):
            form = whole.copy()
            form[hairs] = whole[lids] + LASHES * (whole[hairs] - whole[lids])
            return form
        self.add("lashes", lashes, plain, shorten, source.weights)
        self.add("teeth", self.helpers("upper-teeth", "lower-teeth"), plain, lambda whole: whole, source.weights)
        self.add("tongue", self.helpers("tongue"), plain, lambda whole: whole, source.weights)

    def eye_texcoords(self):
        """The pupil in the middle of the image, angles from it along its radius."""
        source, texcoords = self.source, np.zeros_like(self.source.texcoords)
        for faces in (self.helpers("l-eye"), self.helpers("r-eye")):
            corners = np.array([corner for face in faces for corner in face])
            points = source.points[corners[:, 0]]
            away = points - (points.max(axis=0) + points.min(axis=0)) / 2
            away /= np.linalg.norm(away, axis=1, keepdims=True)
            radius = np.minimum(1.6 * np.arccos(np.clip(away[:, 2], -1, 1)) / np.pi, 1)
            flat = away[:, :2] / np.maximum(np.linalg.norm(away[:, :2], axis=1, keepdims=True), 1e-9)
            texcoords[corners[:, 1]] = 0.5 + 0.5 * flat * radius[:, None]
        return texcoords

    def make_hair(self):
        hair = Hair(self.source)
        faces = [[[vertex, vertex] for vertex in face] for face in hair.faces]
        self.add("hair", faces, hair.texcoords, hair.fit, hair.weights)

    def make_clothes(self):
        piece, suit = self.suit.components(), self.smoothed(self.suit)
        for number, name in enumerate(GARMENTS):
            faces = [face for face in self.suit.faces if piece[face[0][0]] == number]
            self.add(name, faces, self.suit.texcoords, suit, self.suit.weights)
            self.patterns[name] = Pattern(self.suit, faces)
        height, shoe = self.shoes.points[:, 1], self.shoes.components() < 2
        faces = [face for face in self.shoes.faces if all(height[corner[0]] < SOCK or shoe[corner[0]] for corner in face)]
        self.add("shoes", faces, self.shoes.texcoords, self.shoes.fit, self.shoes.weights)

    def smoothed(self, garment):
        """The garment's fit, with its change from the young woman spread evenly where a man's chest would fold it."""
        faces = np.array([[corner[0] for corner in face] for face in garment.faces])
        pairs = np.concatenate([faces[:, [i, (i + 1) % 4]] for i in range(4)])
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
        count = len(garment.points)
        near = coo_matrix((np.ones(len(pairs)), pairs.T), (count, count)).tocsr()
        near = diags(1 / np.maximum(near.sum(axis=1).A1, 1)) @ near
        rest = garment.fit(self.young_woman)
        change = garment.fit(self.source.points + self.source.target("macrodetails/caucasian-male-young")) - rest
        rough = np.linalg.norm(change - near @ change, axis=1)
        for _ in range(SPREAD):
            rough = np.maximum(rough, near @ rough)
        share = np.clip((rough - ROUGH) / ROUGH, 0, 1)[:, None]

        def fit(whole):
            change = garment.fit(whole) - rest
            for _ in range(SMOOTH):
                change += share * (near @ change - change)
            return rest + change
        return fit

    def find_covered(self):
        """Vertices of the skin below cloth, and the nearest one of the cloth, both at rest."""
        names = [part.name for part in self.parts]
        first, last = self.starts[names.index("shirt")], self.starts[names.index("trousers") + 1]
        distance, nearest = cKDTree(self.rest[first:last]).query(self.rest[:self.parts[0].count])
        skin, cloth = np.arange(len(nearest)), nearest + first
        below = ((self.rest[cloth] - self.rest[skin]) * self.normals(self.rest)[cloth]).sum(axis=1)
        found = (distance < NEAR) & (below > 0) & (distance ** 2 - below ** 2 < BESIDE ** 2)
        self.covered, self.cloth = skin[found], cloth[found]

    def normals(self, form):
        """Of the vertices. Faces have four corners."""
        corners = form[self.faces]
        across = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        normals = np.zeros_like(form)
        for corner in range(4):
            np.add.at(normals, self.faces[:, corner], across)
        return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)

    def form(self, whole):
        """All vertices, and the heads of joints, of a body."""
        ground = self.parts[-1].form(whole)[:, 1].min()
        form = np.concatenate([part.form(whole) for part in self.parts])
        form = (form - [0, ground, 0]) * METRES
        return self.tucked(form), (self.source.heads(whole) - [0, ground, 0]) * METRES

    def tucked(self, form, deep=BELOW):
        """The form, with skin below the cloth that covers it."""
        if not len(self.covered):
            return form
        form, normals = form.copy(), self.normals(form)[self.cloth]
        below = ((form[self.cloth] - form[self.covered]) * normals).sum(axis=1)
        form[self.covered] -= np.maximum(deep - below, 0)[:, None] * normals
        return form

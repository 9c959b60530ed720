"""Shirt and trousers: images painted on the patterns that MakeHuman's texture coordinates cut them into.

A texel is about a millimetre of cloth. Edges of the pattern that two faces share are seams, the others hems; so a stitch
is a line at some distance from an edge. What a pattern does not know (pockets, where denim fades) is found by place, in
decimetres on the base mesh.
"""
import numpy as np
from PIL import Image, ImageDraw
from scipy.ndimage import distance_transform_edt, gaussian_filter

from noise import step
from skin import SIZE, raster

BEYOND = 12  # texels that are painted outside the pattern
SHIRT, DENIM, THREAD = (86, 134, 148), (58, 74, 106), (176, 138, 96)
FADED = (112, 130, 158)
APART = 0.004  # in the pattern
POCKET = ((0.35, 0.06), (1.15, 0.1), (1.12, -0.85), (0.75, -1.12), (0.38, -0.9))  # at the back: |x|, y


class Pattern:
    """The texels of one garment: where they are, which way they face, and how far they are from seams and hems."""

    def __init__(self, clothes, faces):
        self.inside = np.zeros((SIZE, SIZE), bool)
        points = clothes.points
        self.place = raster(faces, clothes.texcoords, points)
        self.normal = raster(faces, clothes.texcoords, normals(points, faces))
        self.inside = ~np.isnan(self.place[..., 0])
        seams, hems = edges(faces, clothes.texcoords)
        self.seam = self.distance(clothes, seams)
        self.hem = self.distance(clothes, hems)
        neck = [edge for edge in hems if abs(points[edge[0][0], 0]) < 1.2 and points[edge[0][0], 1] > 4.5]
        self.collar = self.distance(clothes, neck) if neck else np.full((SIZE, SIZE), np.inf)

    @staticmethod
    def distance(clothes, listed):
        """Texels from lines of the pattern."""
        drawn = Image.new("1", (SIZE, SIZE))
        pen = ImageDraw.Draw(drawn)
        for edge in listed:
            ends = [clothes.texcoords[corner[1]] * SIZE for corner in edge]
            pen.line([(x, SIZE - y) for x, y in ends], fill=1)
        return distance_transform_edt(~np.array(drawn, bool))

    def filled(self, image):
        """Texels just outside get the colour of the nearest one inside, so that no edge shows another colour."""
        far, nearest = distance_transform_edt(~self.inside, return_indices=True)
        filled = image[nearest[0], nearest[1]]
        filled[far > BEYOND] = image[self.inside].mean(axis=0)
        return filled


def normals(points, faces):
    found = np.zeros_like(points)
    for face in faces:
        a, b, c, d = (corner[0] for corner in face)
        found[[a, b, c, d]] += np.cross(points[c] - points[a], points[d] - points[b])
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


def edges(faces, texcoords):
    """Pairs of corners: where the pattern is cut and sewn again, and where no other face is."""
    def apart(a, b):
        places = [sorted(tuple(texcoords[corner[1]]) for corner in edge) for edge in (a, b)]
        return np.abs(np.subtract(*places)).max() > APART

    shared = {}
    for face in faces:
        for corner, after in zip(face, face[1:] + face[:1]):
            shared.setdefault(frozenset((corner[0], after[0])), []).append((corner, after))
    seams, hems = [], []
    for found in shared.values():
        if len(found) == 1:
            hems += found
        elif apart(*found[:2]):
            seams += found
    return seams, hems


def line(distance, at, width=1.0):
    return np.exp(-((distance - at) / width) ** 2)


def stitches(pattern, distance, period=7):
    """Shares of 0 to 1: a thread that shows half of the time along any line."""
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    return np.clip(0.55 + 0.9 * np.sin((x + y) * 2 * np.pi / period), 0, 1)


def mix(image, colour, share):
    return image + (np.asarray(colour, float) - image) * share[..., None]


def woven(rng, size, along, across):
    threads = gaussian_filter(rng.standard_normal((size, size)), (across, along), mode="wrap")
    return threads / threads.std()


def jersey(size):
    """How light each texel is. Images of cloth have no edges: they may be tiles."""
    rng = np.random.default_rng(5)
    return 1 + 0.035 * woven(rng, size, 2.6, 0.5) + 0.018 * woven(rng, size, 0.5, 0.5) + 0.012 * woven(rng, size, 40, 40)


def denim(size, worn=0):
    """The colours of a twill that is worn by 0 to 1."""
    rng = np.random.default_rng(6)
    y, x = np.mgrid[0:size, 0:size]
    twill = 0.05 * np.sin((x + y) * np.pi / 2) + 0.06 * woven(rng, size, 0.5, 2.2) + 0.035 * woven(rng, size, 0.6, 0.6)
    image = np.tile(np.array(DENIM, float), (size, size, 1))
    return mix(image, FADED, np.clip(worn + 0.03 * woven(rng, size, 9, 30), 0, 1)) * (1 + twill)[..., None]


def tiles(size=256):
    """{name: image} of the cloth alone, for clothes that are not cut to these patterns."""
    return {"shirt": np.array(SHIRT) * jersey(size).T[..., None], "trousers": denim(size, 0.25)}


def shirt(pattern):
    """Jersey with a ribbed collar and double stitches along the hems."""
    light = jersey(SIZE)
    seam, hem, collar = pattern.seam, pattern.hem, pattern.collar
    light -= 0.26 * line(seam, 0, 1.6) - 0.05 * line(seam, 4, 2)
    light -= 0.16 * (line(hem, 19, 0.8) + line(hem, 24, 0.8)) * (collar > 40) + 0.1 * line(hem, 0, 2)
    rib = 0.5 + 0.5 * np.sin(np.arctan2(pattern.place[..., 0], pattern.place[..., 2] - 0.2) * 150)
    light -= np.nan_to_num(0.07 * rib + 0.03) * step(19, 17, collar) + 0.24 * line(collar, 18.5, 1.1)
    return pattern.filled(np.array(SHIRT) * light[..., None])


def polygon(x, y, corners):
    """The distance to its outline in decimetres, negative inside."""
    far, within = np.full(x.shape, np.inf), np.zeros(x.shape, bool)
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
        t = np.clip(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2), 0, 1)
        far = np.minimum(far, np.hypot(x - ax - t * (bx - ax), y - ay - t * (by - ay)))
        if ay != by:
            within ^= ((ay > y) != (by > y)) & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
    return np.where(within, -far, far)


def trousers(pattern):
    """Denim that fades at thighs and knees, seams with two rows of thread, pockets."""
    place, normal = np.nan_to_num(pattern.place), np.nan_to_num(pattern.normal)
    side, height = np.abs(place[..., 0]), place[..., 1]
    front, back = step(0.35, 0.9, normal[..., 2]), step(-0.2, -0.5, normal[..., 2])
    worn = 0.55 * front * (np.exp(-((height + 1.9) / 1.3) ** 2) + 0.8 * np.exp(-((height + 4.1) / 0.55) ** 2))
    worn += 0.3 * back * np.exp(-((height + 0.7) / 0.6) ** 2)
    outer = normal[..., 2] + 10 * (normal[..., 0] * np.sign(place[..., 0]) < 0.2)  # where it is 0, the outer seam is
    drop = polygon(side, height, POCKET) + 10 * (1 - back)
    mouth = (np.hypot((side - 1.75) / 0.95, (height - 0.8) / 1.25) - 1) * 0.95 + 10 * (1 - step(0.1, 0.3, normal[..., 2]))
    dark = 0.34 * line(pattern.seam, 0, 1.8) + 0.26 * line(outer, 0, 0.035) + 0.2 * line(pattern.hem, 0, 3)
    dark += 0.24 * line(drop, 0, 0.016) + 0.34 * line(mouth, 0, 0.018)
    thread = np.maximum.reduce([line(pattern.seam, 5), line(pattern.seam, 9) * 0.8, line(pattern.hem, 16),
                                line(drop, -0.035, 0.009), line(drop, -0.085, 0.009), line(mouth, 0.035, 0.009)])
    image = denim(SIZE, worn) * (1 - np.clip(dark, 0, 0.5))[..., None]
    return pattern.filled(mix(image, THREAD, 0.75 * thread * stitches(pattern, pattern.seam)))


GARMENTS = {"shirt": shirt, "trousers": trousers}

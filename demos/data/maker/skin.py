"""Skins: images of the body's colour, painted by formulas at places of the base mesh (decimetres).

Every texel knows its place, so colours do not depend on where seams of the texture are. The texture coordinates are
MakeHuman's, moved so that the face gets most of the image.
"""
import numpy as np
from scipy.ndimage import distance_transform_edt

from noise import bump, noise, step

SIZE = 1024
TONES = {"child": (236, 194, 170), "young": (226, 181, 156), "old": (218, 176, 154)}
LIPS = {(0, "young"): (196, 100, 98), (0, "child"): (212, 122, 116), (0, "old"): (184, 112, 106),
        (1, "young"): (188, 116, 106), (1, "child"): (210, 124, 116), (1, "old"): (176, 118, 110)}
BROWS = {"child": (120, 86, 60), "young": (84, 58, 42), "old": (158, 146, 134)}
MOUTH_Y, MOUTH_WIDTH = 6.603, {"child": 0.24, "young": 0.262, "old": 0.262}


def is_mouth(texcoords):
    return (texcoords[:, 0] > 0.75) & (texcoords[:, 1] < 0.14)


def place(texcoords):
    """MakeHuman's texture coordinates to ours: the face in the middle, enlarged; hands; the rest small."""
    moved = texcoords * 0.2
    head = (texcoords[:, 0] > 0.63) & (texcoords[:, 1] > 0.14)
    across, down = (texcoords[:, 1] - 0.4835) / 0.335, (texcoords[:, 0] - 0.862) / 0.26
    grow = np.clip(np.hypot(across, down), 1e-9, 3) ** -0.42
    moved[head] = np.stack([0.5 + 0.485 * across * grow, 0.6 + 0.4 * down * grow], axis=1)[head]
    hands = (texcoords[:, 0] > 0.36) & (texcoords[:, 0] < 0.77) & (texcoords[:, 1] < 0.2) & ~is_mouth(texcoords)
    moved[hands] = np.stack([0.3 + (texcoords[:, 0] - 0.36) * 0.95, texcoords[:, 1] * 0.95], axis=1)[hands]
    return moved


def raster(faces, texcoords, points):
    """[SIZE, SIZE, 3]: the place of every texel; NaN outside the faces."""
    image = np.full((SIZE, SIZE, 3), np.nan)
    for face in faces:
        for three in ((0, 1, 2), (0, 2, 3)):
            at = np.array([texcoords[face[i][1]] for i in three]) * SIZE
            at[:, 1] = SIZE - at[:, 1]
            low = np.maximum(np.floor(at.min(axis=0) - 1), 0).astype(int)
            high = np.minimum(np.ceil(at.max(axis=0) + 1), SIZE - 1).astype(int)
            x, y = np.meshgrid(np.arange(low[0], high[0] + 1), np.arange(low[1], high[1] + 1))
            (ax, ay), (bx, by) = at[1] - at[0], at[2] - at[0]
            area = ax * by - bx * ay
            if abs(area) < 1e-12:
                continue
            px, py = x + 0.5 - at[0, 0], y + 0.5 - at[0, 1]
            b, c = (px * by - bx * py) / area, (ax * py - px * ay) / area
            inside = (b > -0.02) & (c > -0.02) & (b + c < 1.02)
            corners = [points[face[i][0]] for i in three]
            values = (1 - b - c)[..., None] * corners[0] + b[..., None] * corners[1] + c[..., None] * corners[2]
            image[y[inside], x[inside]] = values[inside]
    return image


def mix(colours, other, share):
    return colours + (np.asarray(other, float) - colours) * np.asarray(share)[:, None]


def flush(colours, tone, half, age, male):
    """Broad changes: a lighter forehead; redder cheeks, nose, chin, ears, hands and elbows; shaded lids."""
    red, head = (222, 128, 112), step(6.0, 6.5, half[:, 1])
    hand = step(3.7, 4.1, half[:, 0]) * (1 - head)
    blush = {"child": 0.55, "young": 0.42, "old": 0.38}[age] * (1 - 0.3 * male)
    colours = mix(colours, tone * (1.02, 1.015, 0.985), 0.7 * bump(half, (0, 7.8, 1.4), (0.6, 0.35, 0.6)))
    colours = mix(colours, red, blush * bump(half, (0.5, 6.93, 1.25), (0.26, 0.22, 0.5)))
    colours = mix(colours, red, (0.42 if age == "old" else 0.32) * bump(half, (0, 6.9, 1.66), (0.17, 0.13, 0.16)))
    colours = mix(colours, red, 0.25 * bump(half, (0, 6.3, 1.48), (0.2, 0.12, 0.3)))
    colours = mix(colours, (214, 124, 108), 0.4 * bump(half, (0.86, 7.1, 0.45), (0.1, 0.35, 0.35)))
    colours = mix(colours, (224, 140, 122), 0.16 * hand * (0.6 + noise(half, 7, 5)))
    colours = mix(colours, (219, 140, 120), 0.22 * bump(half, (3.35, 3.1, 0.95), (0.35, 0.35, 0.4)) * (1 - head))
    colours = mix(colours, (176, 116, 104), 0.42 * bump(half, (0.31, 7.36, 1.36), (0.19, 0.07, 0.2)))
    shade = 0.42 if age == "old" else 0.26
    return mix(colours, (178, 128, 126), shade * bump(half, (0.29, 7.13, 1.4), (0.17, 0.05, 0.2)))


def mottle(colours, points, half, age):
    coarse = 0.09 if age == "old" else 0.05
    fine = 0.03 * noise(points, 60, 3)[:, None] * [1, 1.1, 1.1]
    colours = colours * (1 + coarse * noise(points, 6, 1)[:, None] + 0.035 * noise(points, 19, 2)[:, None] + fine)
    if age == "old":
        head = step(6.0, 6.5, half[:, 1])
        where = 0.2 + 0.8 * step(7.3, 7.9, half[:, 1]) * head + 0.5 * step(3.7, 4.1, half[:, 0]) * (1 - head)
        spots = np.clip(step(0.3, 0.42, noise(points, 9, 11)) * where, 0, 1)
        colours = mix(colours, (178, 128, 102), 0.35 * spots)
    return colours


def beard(colours, points, half, age):
    """A shaved beard."""
    x, y, z = half.T
    jaw = step(6.95, 6.7, y - 0.35 * x) * step(0.05, 0.3, z) * step(6.1, 6.35, y + 0.25 * z)
    lip = bump(half, (0.1, 6.76, 1.56), (0.25, 0.07, 0.2))
    shade = np.clip(jaw + lip, 0, 1) * (1 - bump(half, (0, 6.6, 1.55), (0.24, 0.1, 0.3)))
    grey = (170, 160, 154) if age == "old" else (122, 104, 98)
    return mix(colours, grey, 0.3 * shade * (0.8 + 0.5 * noise(points, 70, 8)))


def lips(colours, points, age, male):
    x, y, z = points.T
    arc = np.clip(1 - (x / MOUTH_WIDTH[age]) ** 2, 0, 1)
    full = 0.8 if male else 1.0
    top = MOUTH_Y + full * (0.1 * arc ** 0.7 - 0.022 * np.exp(-(x / 0.045) ** 2))
    bottom = MOUTH_Y - full * 0.128 * arc ** 0.62
    inside = step(-0.012, 0.014, top - y) * step(-0.014, 0.02, y - bottom) * (arc > 0) * step(1.2, 1.3, z)
    colour = np.array(LIPS[male, age])
    colours = mix(colours, colour, 0.86 * inside)
    colours = mix(colours, colour * 0.62, 0.55 * inside * np.exp(-((y - MOUTH_Y) / 0.018) ** 2))
    return colours * (1 + 0.035 * (inside * np.sin(x * 190 + 6 * noise(points, 14, 9)))[:, None])


def brows(colours, points, half, age, male):
    """An arch of short strokes."""
    x, y, z = half.T
    along = (x - 0.1) / 0.42
    arch = 7.452 + 0.07 * np.sin(np.clip(along, 0, 1) * 2.35) - (0.03 if male else 0)
    thick = (0.058 if male else 0.037) * (1 - 0.72 * step(0.35, 1.0, along))
    thick *= {"child": 0.75, "young": 1, "old": 1.05}[age]
    combed = np.stack([points[:, 0] * 2.2 + (y - arch) * 1.9 * np.sign(points[:, 0]), y * 0.35, z * 0], axis=1)
    strokes = 0.72 + 0.6 * noise(combed, 55, 21) + 0.3 * noise(points, 40, 22)
    where = np.exp(-(np.abs(y - arch) / thick) ** 2.6) * step(-0.05, 0.16, along) * step(1.03, 0.86, along)
    return mix(colours, BROWS[age], np.clip(where * step(0.9, 1.1, z) * strokes * (1 if male else 0.9), 0, 0.92))


def creases(points, half, age):
    """How dark the lines of the face are: forehead, corners of the eyes, from the nose to the mouth."""
    x, y, z = half.T
    front = step(1, 1.2, z)

    def line(distance, width, amount, where):
        return amount * where * front * np.exp(-(distance / width) ** 2)
    fold = np.abs(x - (0.17 + 0.42 * (6.98 - y)))
    if age == "child":
        return np.zeros(len(points))
    if age == "young":
        return line(fold, 0.02, 0.08, step(6.66, 6.76, y) * step(7.0, 6.92, y))
    total = line(fold, 0.022, 0.2, step(6.5, 6.62, y) * step(7.02, 6.92, y))
    for number, height in enumerate((7.72, 7.83, 7.94)):
        wave = y - height - 0.03 * np.cos(points[:, 0] * 3.2 + number) - 0.012 * noise(points, 9, 30 + number)
        total += line(wave, 0.014, 0.15, step(0.6, 0.35, x))
    for slope in (-1, 0, 1):
        total += line(y - 7.27 - slope * (0.03 + 0.35 * (x - 0.52)), 0.012, 0.14, step(0.5, 0.54, x) * step(0.68, 0.58, x))
    total += line(y - 7.1 + 0.6 * (x - 0.3) ** 2, 0.018, 0.14, step(0.12, 0.2, x) * step(0.48, 0.36, x))
    return total + line(x - 0.05 - 0.02 * np.abs(y - 7.5), 0.012, 0.16, step(7.38, 7.45, y) * step(7.62, 7.52, y))


def paint(points, male, age):
    """Colours 0 to 255 (sRGB) at places; male is 0 or 1, age child, young or old."""
    half = np.column_stack([np.abs(points[:, 0]), points[:, 1:]])
    tone = np.array(TONES[age], float) * ((0.955, 0.935, 0.92) if male else (1, 1, 1))
    colours = flush(np.tile(tone, (len(points), 1)), tone, half, age, male)
    colours = mottle(colours, points, half, age)
    if male and age != "child":
        colours = beard(colours, points, half, age)
    colours = brows(lips(colours, points, age, male), points, half, age, male)
    return np.clip(colours * (1 - creases(points, half, age)[:, None] * [0.75, 1, 1.05]), 0, 255)


class Canvas:
    """The places of all texels, found once for all skins."""

    def __init__(self, source):
        self.texcoords = place(source.texcoords)
        body = source.groups["body"]
        inside = [all(is_mouth(source.texcoords[[corner[1]]])[0] for corner in face) for face in body]
        outer = [face for face, hidden in zip(body, inside) if not hidden]
        mouth = [face for face, hidden in zip(body, inside) if hidden]
        self.outer = raster(outer, self.texcoords, source.points)
        self.mouth = raster(mouth, self.texcoords, source.points)

    def image(self, male, age):
        image = np.zeros((SIZE, SIZE, 3))
        outer, mouth = ~np.isnan(self.outer[..., 0]), ~np.isnan(self.mouth[..., 0])
        image[outer] = paint(self.outer[outer], male, age)
        image[mouth] = np.array((150, 66, 66)) * (1 - 0.5 * step(1.35, 0.8, self.mouth[mouth][:, 2]))[:, None]
        nearest = distance_transform_edt(~(outer | mouth), return_distances=False, return_indices=True)
        return image[nearest[0], nearest[1]].astype(np.uint8)

"""Small images of eyes and hair, and how they are stored."""
import io

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

HAIR = {"child": (104, 72, 46), "young": (72, 47, 31), "old": (150, 146, 142)}


def jpeg(image, quality=88):
    stored = io.BytesIO()
    Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(stored, "JPEG", quality=quality)
    return stored.getvalue()


def eye(size=256):
    """A pupil, an iris of fibres with a dark rim, and a white that reddens outwards."""
    y, x = (np.mgrid[0:size, 0:size] + 0.5) / size * 2 - 1
    radius, angle, rim = np.hypot(x, y), np.arctan2(y, x), 0.28
    image = np.array((236.0, 230, 224)) - np.clip(radius - 0.35, 0, 1)[..., None] * (10, 34, 36)
    fibres = 0.5 + 0.25 * np.sin(angle * 37 + 3 * np.sin(angle * 5)) + 0.25 * np.sin(angle * 61 + 2 * np.sin(angle * 11))
    inner = 1 - radius / rim
    iris = np.stack([124 + 80 * fibres * inner + 34 * fibres, 140 + 52 * fibres * inner + 34 * fibres,
                     132 + 38 * fibres], axis=-1)
    iris *= 1 - 0.66 * np.clip((radius / rim - 0.8) / 0.2, 0, 1)[..., None]
    for colour, edge, soft in ((iris, rim, 0.02), (np.array((12, 10, 10)), 0.105, 0.018)):
        image += (colour - image) * np.clip((edge - radius) / soft, 0, 1)[..., None]
    # A window's light, which a small mesh would not show.
    glint = np.clip((0.062 - np.hypot(x + 0.085, y + 0.1)) / 0.02, 0, 1)
    glint += 0.3 * np.clip((0.03 - np.hypot(x - 0.07, y - 0.085)) / 0.02, 0, 1)
    return image + (255 - image) * glint[..., None]


def hair(age, size=384):
    """Strands from top to bottom, light at the root."""
    rng = np.random.default_rng(4)
    broad = gaussian_filter(rng.random(size), 1.6, mode="wrap")
    fine = gaussian_filter(rng.random((size, size)), (22, 0.6), mode="wrap")
    fine = (fine - fine.mean()) / fine.std()
    light = (0.78 + 0.4 * (broad - 0.5) + 0.16 * fine) * np.linspace(1.12, 0.78, size)[:, None]
    return np.array(HAIR[age]) * 1.15 * light[..., None]


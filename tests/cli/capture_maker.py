"""People written by program, with known joint angles: markers of a static trial and of a motion, as TRC and as C3D.

An own model, which shares nothing with the tool: x forwards, y up, z to the right, metres, angles in degrees. Joints
turn about z, then x, then y of the segment before (flexion, adduction, rotation). Arms hang at zero, palms forwards. Markers
have noise of 1 mm and slide with the skin.
"""
import math
import random
import struct


def times(m, v):
    return [sum(m[i][k] * v[k] for k in range(3)) for i in range(3)]


def product(m, n):
    return [[sum(m[i][k] * n[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def turn(axis, degrees):
    a, b = (axis + 1) % 3, (axis + 2) % 3
    m = [[float(i == j) for j in range(3)] for i in range(3)]
    m[a][a] = m[b][b] = math.cos(math.radians(degrees))
    m[a][b], m[b][a] = -math.sin(math.radians(degrees)), math.sin(math.radians(degrees))
    return m


def zxy(z, x=0.0, y=0.0):
    return product(turn(2, z), product(turn(0, x), turn(1, y)))


def add(a, b):
    return [p + q for p, q in zip(a, b)]


class Person:
    """Segments, and where the joints are on them. size: of the whole; legs, arms: longer or shorter."""

    def __init__(self, size=1.0, legs=1.0, arms=1.0):
        self.size = size
        self.hip = [-0.06 * size, -0.085 * size, 0.085 * size]  # from the middle of the front iliac spines
        self.thigh, self.shank = 0.41 * size * legs, 0.40 * size * legs
        self.lumbar = [-0.09 * size, 0.06 * size, 0]
        self.shoulder = [-0.01 * size, 0.37 * size, 0.17 * size]
        self.neck = [0, 0.44 * size, 0]
        self.upper, self.fore = 0.29 * size * arms, 0.25 * size * arms

    def frames(self, pose):
        """Rotation and origin of each segment."""
        def at(name):
            return pose.get(name, 0.0)
        out = {"pelvis": (zxy(at("pelvis_tilt"), at("pelvis_list"), at("pelvis_rotation")),
                          [at("pelvis_tx"), at("pelvis_ty"), at("pelvis_tz")])}

        def join(name, parent, offset, rotation):
            m, o = out[parent]
            out[name] = (product(m, rotation), add(o, times(m, offset)))
        join("torso", "pelvis", self.lumbar, zxy(at("lumbar_extension"), at("lumbar_bending"), at("lumbar_rotation")))
        join("head", "torso", self.neck, zxy(at("neck_extension"), at("neck_bending"), at("neck_rotation")))
        for s, sign in (("r", 1), ("l", -1)):
            def side(v, sign=sign):
                return [v[0], v[1], sign * v[2]]
            join("thigh_" + s, "pelvis", side(self.hip), zxy(at("hip_flexion_" + s), sign * at("hip_adduction_" + s),
                                                            sign * at("hip_rotation_" + s)))
            join("shank_" + s, "thigh_" + s, [0, -self.thigh, 0], zxy(-at("knee_angle_" + s)))
            join("foot_" + s, "shank_" + s, [0, -self.shank, 0],
                 zxy(at("ankle_angle_" + s), sign * at("subtalar_angle_" + s)))
            join("upper_" + s, "torso", side(self.shoulder), zxy(at("arm_flex_" + s), sign * at("arm_add_" + s),
                                                                 sign * at("arm_rot_" + s)))
            join("fore_" + s, "upper_" + s, [0, -self.upper, 0], zxy(at("elbow_flex_" + s), 0,
                                                                    sign * at("pro_sup_" + s)))
            join("hand_" + s, "fore_" + s, [0, -self.fore, 0], zxy(at("wrist_flex_" + s)))
        return out


def places(person):
    """Right and middle markers: segment and place, in metres."""
    k, t, s, u, f = person.size, person.thigh, person.shank, person.upper, person.fore
    return {
        "asis": ("pelvis", [0.005, 0, 0.125 * k]), "psis": ("pelvis", [-0.16 * k, 0.015 * k, 0.05 * k]),
        "sacrum": ("pelvis", [-0.175 * k, 0.01 * k, 0]),
        "thigh": ("thigh", [0.02, -0.55 * t, 0.09 * k]), "thigh2": ("thigh", [0.09 * k, -0.4 * t, 0.03 * k]),
        "thigh3": ("thigh", [0.03, -0.3 * t, 0.1 * k]),
        "knee": ("thigh", [0, -t, 0.056 * k]), "knee_in": ("thigh", [0, -t, -0.054 * k]),
        "shank": ("shank", [0.01, -0.45 * s, 0.055 * k]), "shank2": ("shank", [0.05 * k, -0.3 * s, 0.01]),
        "shank3": ("shank", [-0.01, -0.25 * s, 0.06 * k]),
        "ankle": ("shank", [-0.005, -s, 0.042 * k]), "ankle_in": ("shank", [0.005, -s, -0.04 * k]),
        "heel": ("foot", [-0.07 * k, -0.04 * k, 0.0]), "toe": ("foot", [0.14 * k, -0.035 * k, 0.01 * k]),
        "toe_out": ("foot", [0.11 * k, -0.05 * k, 0.055 * k]), "toe_in": ("foot", [0.13 * k, -0.045 * k, -0.035 * k]),
        "shoulder": ("torso", [-0.01, 0.42 * k, 0.165 * k]),
        "upper": ("upper", [0.01, -0.55 * u, 0.05 * k]), "elbow": ("upper", [0, -u, 0.04 * k]),
        "elbow_in": ("upper", [0, -u, -0.042 * k]),
        "fore": ("fore", [0.03 * k, -0.5 * f, 0.03 * k]), "wrist_thumb": ("fore", [0, -f, 0.035 * k]),
        "wrist_little": ("fore", [0, -f, -0.035 * k]), "hand": ("hand", [-0.02, -0.08 * k, 0.01]),
        "c7": ("torso", [-0.07 * k, 0.43 * k, 0]), "t10": ("torso", [-0.1 * k, 0.2 * k, 0]),
        "clavicle": ("torso", [0.08 * k, 0.37 * k, 0]), "sternum": ("torso", [0.13 * k, 0.22 * k, 0]),
        "back": ("torso", [-0.09 * k, 0.32 * k, 0.08 * k]),
        "head_front": ("head", [0.1 * k, 0.15 * k, 0.07 * k]), "head_back": ("head", [-0.09 * k, 0.15 * k, 0.07 * k]),
        "head_top": ("head", [0, 0.24 * k, 0]),
    }


GAIT2392 = {"asis": "?.ASIS", "sacrum": "V.Sacral", "thigh": "?.Thigh.Upper", "thigh2": "?.Thigh.Front",
            "thigh3": "?.Thigh.Rear", "knee": "?.Knee.Lat", "knee_in": "?.Knee.Med", "shank": "?.Shank.Upper",
            "shank2": "?.Shank.Front", "shank3": "?.Shank.Rear", "ankle": "?.Ankle.Lat", "ankle_in": "?.Ankle.Med",
            "heel": "?.Heel", "toe": "?.Toe.Tip", "toe_out": "?.Toe.Lat", "toe_in": "?.Toe.Med",
            "shoulder": "?.Acromium", "upper": "?.Bicep", "elbow": "?.Elbow", "fore": "?.Forearm",
            "wrist_thumb": "?.Wrist.Lat", "wrist_little": "?.Wrist.Med", "sternum": "Sternum", "head_top": "Top.Head",
            "clavicle": "Clavicle", "c7": "C7"}
PLUG_IN = {"asis": "?ASI", "psis": "?PSI", "thigh": "?THI", "knee": "?KNE", "shank": "?TIB", "ankle": "?ANK",
           "heel": "?HEE", "toe": "?TOE", "shoulder": "?SHO", "upper": "?UPA", "elbow": "?ELB", "fore": "?FRM",
           "wrist_thumb": "?WRA", "wrist_little": "?WRB", "hand": "?FIN", "c7": "C7", "t10": "T10",
           "clavicle": "CLAV", "sternum": "STRN", "back": "RBAK", "head_front": "?FHD", "head_back": "?BHD",
           "knee_in": "?KNM", "ankle_in": "?MED"}


def marker_set(person, names, leave_out=()):
    """name -> segment, place, and how the skin slides."""
    out = {}
    chance = random.Random(5)
    for key, (segment, at) in places(person).items():
        if key not in names:
            continue
        for s, sign in ((("r", 1), ("l", -1)) if "?" in names[key] else (("", 1),)):
            limb = segment + "_" + s if segment not in ("pelvis", "torso", "head") else segment
            slide = [chance.gauss(0, 1) for _ in range(3)]
            scale = (0.004 if segment in ("thigh", "shank") else 0.002) / math.sqrt(sum(x * x for x in slide))
            phase = chance.uniform(0, 6.28)
            if key not in leave_out:
                out[names[key].replace("?", s.upper())] = (limb, [at[0], at[1], sign * at[2]],
                                                           [x * scale for x in slide], phase)
    return out


def trial(person, markers, poses, noise=0.001, seed=1):
    """positions[frame][name]: metres, y up."""
    chance = random.Random(seed)
    out = []
    for f, pose in enumerate(poses):
        frames = person.frames(pose)
        row = {}
        for name, (segment, at, slide, phase) in markers.items():
            m, o = frames[segment]
            swing = math.sin(phase + pose.get("phase", 0.0))
            p = add(o, times(m, [a + swing * b for a, b in zip(at, slide)]))
            row[name] = [x + chance.gauss(0, noise) for x in p]
        out.append(row)
    return out


def static_pose(person, t=0.0):
    return {"pelvis_tx": 0.3, "pelvis_ty": person.thigh + person.shank + 0.165 * person.size, "pelvis_tz": -0.2,
            "pelvis_rotation": 10.0, "hip_flexion_r": 1.5, "knee_angle_r": 3.0, "ankle_angle_r": 1.5,
            "hip_flexion_l": 1.0, "knee_angle_l": 2.0, "ankle_angle_l": 1.0, "arm_add_r": -35.0, "arm_add_l": -35.0,
            "elbow_flex_r": 12.0, "elbow_flex_l": 10.0, "pro_sup_r": 60.0, "pro_sup_l": 60.0,
            "phase": 0.2 * math.sin(t)}


def walk_pose(person, t):
    """One step a second; arms swing and reach."""
    w = 2 * math.pi * t
    pose = {"phase": w, "pelvis_tx": -1.2 + 1.1 * t, "pelvis_tz": 0.02 * math.sin(w),
            "pelvis_ty": person.thigh + person.shank + 0.15 * person.size + 0.02 * math.cos(2 * w),
            "pelvis_tilt": -4 + 2 * math.sin(2 * w), "pelvis_list": 4 * math.sin(w), "pelvis_rotation": 6 * math.cos(w),
            "lumbar_extension": -5 + 3 * math.sin(2 * w), "lumbar_bending": -5 * math.sin(w),
            "lumbar_rotation": -8 * math.cos(w), "neck_extension": 5 * math.sin(w),
            "neck_rotation": 15 * math.sin(0.5 * w)}
    for s, p in (("r", 0), ("l", math.pi)):
        pose.update({"hip_flexion_" + s: 10 + 25 * math.cos(w + p), "hip_adduction_" + s: 4 * math.sin(w + p),
                     "hip_rotation_" + s: 5 * math.cos(w + p + 1), "knee_angle_" + s: 32 - 28 * math.cos(w + p + 2),
                     "ankle_angle_" + s: 2 + 12 * math.sin(w + p + 0.5), "subtalar_angle_" + s: 5 * math.sin(w + p),
                     "arm_flex_" + s: 15 + 30 * math.cos(w + p + math.pi), "arm_add_" + s: -20 + 8 * math.sin(w + p),
                     "arm_rot_" + s: 10 * math.sin(w + p + 1), "elbow_flex_" + s: 45 + 25 * math.cos(w + p + math.pi),
                     "pro_sup_" + s: 70 + 20 * math.sin(w + p), "wrist_flex_" + s: 10 * math.sin(w + p)})
    return pose


def static_trial(person, markers, seed=7, count=50):
    return trial(person, markers, [static_pose(person, 0.05 * f) for f in range(count)], seed=seed)


def walk(person, seconds=2.5, rate=100):
    return [walk_pose(person, f / rate) for f in range(int(seconds * rate))]


# ---- files ----

# Axes of the file for our x, y, z: index and sign.
AXES = {"+Y": ((0, 1), (1, 1), (2, 1)), "-Y": ((0, 1), (1, -1), (2, -1)), "+Z": ((0, 1), (2, 1), (1, -1)),
        "-Z": ((0, 1), (2, -1), (1, 1)), "+X": ((1, -1), (0, 1), (2, 1)), "-X": ((1, 1), (0, -1), (2, 1))}


def to_file(p, up, unit):
    out = [0.0, 0.0, 0.0]
    for i, (axis, sign) in enumerate(AXES[up]):
        out[axis] = sign * p[i] / unit
    return out


def names_of(rows):
    return list(dict.fromkeys(name for row in rows for name in row))


def write_trc(path, rows, rate=100, up="+Y", unit="mm"):
    names, size = names_of(rows), {"mm": 0.001, "m": 1.0, "cm": 0.01, "in": 0.0254}[unit]
    lines = [f"PathFileType\t4\t(X/Y/Z)\t{path.name}", "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits",
             f"{rate}\t{rate}\t{len(rows)}\t{len(names)}\t{unit}", "Frame#\tTime\t" + "\t\t\t".join(names) + "\t\t",
             "\t\t" + "\t".join(f"X{i}\tY{i}\tZ{i}" for i in range(1, len(names) + 1)), ""]
    for f, row in enumerate(rows):
        cells = [str(f + 1), f"{f / rate:.5f}"]
        for name in names:
            cells += [f"{x:.5f}" for x in to_file(row[name], up, size)] if row.get(name) else ["", "", ""]
        lines.append("\t".join(cells))
    path.write_text("\n".join(lines) + "\n")


def write_c3d(path, rows, rate=100, up="+Z", angles=None, prefix="", channels=0, say_up=None):
    """Reals, Intel. angles: {name: [(x, y, z) by frame]}; channels: analogue ones, one sample a frame."""
    names, angles = names_of(rows), angles or {}
    labels = [prefix + name for name in names] + list(angles)
    groups = {"POINT": 1, "ANALOG": 2}
    records = [struct.pack("<bb", len(n), -g) + n.encode() + struct.pack("<hb", 3, 0) for n, g in groups.items()]

    def put(group, name, kind, dims, data):
        body = struct.pack("<bB", kind, len(dims)) + bytes(dims) + data + b"\0"
        records.append(struct.pack("<bb", len(name), groups[group]) + name.encode() +
                       struct.pack("<h", 2 + len(body)) + body)

    def texts(group, name, items, width=24):
        put(group, name, -1, [width, len(items)], b"".join(item.encode().ljust(width)[:width] for item in items))
    put("POINT", "USED", 2, [], struct.pack("<h", len(labels)))
    put("POINT", "FRAMES", 2, [], struct.pack("<h", len(rows)))
    put("POINT", "SCALE", 4, [], struct.pack("<f", -1))
    put("POINT", "RATE", 4, [], struct.pack("<f", rate))
    texts("POINT", "LABELS", labels)
    texts("POINT", "UNITS", ["mm"], 4)
    if say_up:
        texts("POINT", "Y_SCREEN", [say_up], 2)
    if angles:
        texts("POINT", "ANGLES", list(angles))
    put("ANALOG", "USED", 2, [], struct.pack("<h", channels))
    put("ANALOG", "RATE", 4, [], struct.pack("<f", rate))
    section = b"".join(records) + b"\0\0"
    blocks = (len(section) + 4 + 511) // 512
    section = (b"\1\x50" + bytes([blocks, 84]) + section).ljust(512 * blocks, b"\0")
    header = struct.pack("<BBHHHHHfHHf", 2, 0x50, len(labels), channels, 1, len(rows), 0, -1.0, 2 + blocks,
                         1 if channels else 0, rate)
    data = []
    for f, row in enumerate(rows):
        for name in names:
            p = row.get(name)
            data.append(struct.pack("<4f", *(to_file(p, up, 0.001) if p else (0, 0, 0)), 0 if p else -1))
        for values in angles.values():
            data.append(struct.pack("<4f", *values[f], 0))
        data.append(struct.pack(f"<{channels}f", *[float(c) for c in range(channels)]))
    path.write_bytes(header.ljust(512, b"\0") + section + b"".join(data))

// A sleeve on a tube that bends, which lags behind the faster the tube moves; as forms, as files, and as a rig learned
// from its motion.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Rings of eight along a quarter of a bend. */
export const tube = (radius, angle, first, last) => {
    const positions = [];
    for (let ring = first; ring <= last; ring++)
        for (let side = 0; side < 8; side++) {
            const [turn, a] = [(angle * ring) / 8, (Math.PI * side) / 4];
            const far = 1 / angle - radius * Math.cos(a);
            positions.push(far * Math.sin(turn), 1 / angle - far * Math.cos(turn), radius * Math.sin(a));
        }
    return Float32Array.from(positions);
};

export const obj = (positions) => {
    const line = (_, v) => `v ${positions.slice(3 * v, 3 * v + 3).join(" ")}`;
    const lines = Array.from({ length: positions.length / 3 }, line);
    for (let v = 0; v + 8 < positions.length / 3; v++) {
        const next = v - (v % 8) + ((v + 1) % 8);
        lines.push(`f ${v + 1} ${next + 1} ${next + 9} ${v + 9}`);
    }
    return lines.join("\n") + "\n";
};

/** A point cache of these forms. */
export const pc2 = (forms, fps) => {
    const head = Buffer.alloc(32);
    head.write("POINTCACHE2\0", "latin1");
    head.writeInt32LE(1, 12);
    head.writeInt32LE(forms[0].length / 3, 16);
    head.writeFloatLE(1 / fps, 24);
    head.writeInt32LE(forms.length, 28);
    return Buffer.concat([head, ...forms.map((form) => Buffer.from(Float32Array.from(form).buffer))]);
};

const [FRAMES, FPS] = [75, 25];
const LAG = 0.08; // seconds
const TURN = 2 * Math.PI;
const bend = (hertz, t) => 0.75 + 0.4 * Math.sin(TURN * hertz * t);
const speed = (hertz, t) => 0.4 * TURN * hertz * Math.cos(TURN * hertz * t);

/** Forms of the tube that swings to and fro this often in a second. */
export const swing = (hertz, { count = FRAMES, fps = FPS } = {}) =>
    Array.from({ length: count }, (_, f) => tube(0.25, bend(hertz, f / fps), 0, 8));
const sleeve = (hertz) =>
    Array.from({ length: FRAMES }, (_, f) =>
        tube(0.3, bend(hertz, f / FPS) - LAG * speed(hertz, f / FPS), 2, 6));

/** Learns the rig from swings of several speeds, with run(...words of the tool); returns its path. */
export const learnSwing = (folder, run) => {
    const path = (name) => join(folder, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path("body.obj"), obj(swing(0)[0]));
    writeFileSync(path("sleeve.obj"), obj(sleeve(0)[0]));
    const takes = [0.1, 0.3, 0.5, 0.7].flatMap((hertz, k) => {
        writeFileSync(path(`body_${k}.pc2`), pc2(swing(hertz), FPS));
        writeFileSync(path(`sleeve_${k}.pc2`), pc2(sleeve(hertz), FPS));
        return ["--driver", path(`body_${k}.pc2`), "--driven", path(`sleeve_${k}.pc2`)];
    });
    const meshes = ["--driver-mesh", path("body.obj"), "--driven-mesh", path("sleeve.obj")];
    run("drive", "learn", "--method", "motion", "--forms", "6", ...takes, ...meshes, "-o", path("swing.glb"), "-q");
    return path("swing.glb");
};

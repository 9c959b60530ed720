// Materials and lights. All share a soft sky, a warm key light over the viewer's left shoulder, a cool fill light from
// the right and a rim light from behind.
// The lights follow the viewer, so a form is well lit from every side. Shaders write sRGB themselves.
import { DoubleSide, ShaderMaterial, Vector3, Color, type IUniform } from "three";

const ENCODE = `
vec3 encode(vec3 c) {
    c = clamp(c, 0.0, 1.0);
    return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}`;

const SURFACE_VERTEX = `
attribute float heat;
varying vec3 seen;
varying vec3 across;
varying vec2 place;
varying float warm;
void main() {
    vec4 point = modelViewMatrix * vec4(position, 1.0);
    seen = point.xyz;
    across = normalMatrix * normal;
    place = uv;
    warm = heat;
    gl_Position = projectionMatrix * point;
}`;

const SURFACE_FRAGMENT = `
uniform vec3 sky;
uniform vec3 clay;
uniform vec3 inside;
uniform float opacity;
uniform int mode;
uniform float heatScale;
uniform sampler2D skin;
uniform sampler2D heatMap;
varying vec3 seen;
varying vec3 across;
varying vec2 place;
varying float warm;
${ENCODE}
void main() {
    vec3 flat_ = normalize(cross(dFdx(seen), dFdy(seen)));
    vec3 normal = mode == 4 ? flat_ : normalize(across);
    vec3 eye = isOrthographic ? vec3(0.0, 0.0, 1.0) : normalize(-seen);
    // Share of the inside of the surface: 0 at an outline, where triangles turn away.
    float within = gl_FrontFacing || mode == 4 ? 0.0 : smoothstep(0.05, 0.3, -dot(normal, eye));
    if (within > 0.0) normal = -normal;
    if (mode == 2) {
        vec3 turned = (vec4(normal, 0.0) * viewMatrix).xyz;
        gl_FragColor = vec4(0.5 + 0.5 * turned, 1.0);
        gl_FragColor.rgb *= 1.0 - 0.45 * within;
        return;
    }
    vec3 base = mix(clay, inside, within);
    if (mode == 1) base = texture2D(skin, place).rgb * (1.0 - 0.55 * within);
    if (mode == 3) base = texture2D(heatMap, vec2((255.0 * clamp(warm * heatScale, 0.0, 1.0) + 0.5) / 256.0, 0.5)).rgb * (1.0 - 0.5 * within);
    if (mode == 5) base = mix(base, vec3(0.72, 0.13, 0.03), clamp(warm * heatScale, 0.0, 1.0));
    vec3 lamp = normalize(vec3(-0.55, 0.68, 0.55));
    float key = clamp((dot(normal, lamp) + 0.25) / 1.25, 0.0, 1.0);
    float around = 0.5 + 0.5 * dot(normal, sky);
    float fill = clamp(dot(normal, normalize(vec3(0.8, 0.1, 0.5))), 0.0, 1.0);
    float edge = 1.0 - clamp(dot(normal, eye), 0.0, 1.0);
    float rim = edge * edge * edge * clamp(dot(normal, normalize(vec3(0.6, 0.5, -0.6))) + 0.3, 0.0, 1.0);
    vec3 light = mix(vec3(0.24, 0.2, 0.18), vec3(0.36, 0.38, 0.41), around) + key * key * vec3(0.74, 0.71, 0.67)
        + fill * vec3(0.07, 0.08, 0.1);
    if (mode == 3) light = mix(vec3(0.9), light, 0.55);
    float shine = pow(clamp(dot(normal, normalize(lamp + eye)), 0.0, 1.0), 24.0);
    vec3 colour = base * light + rim * vec3(0.34, 0.35, 0.37) + 0.03 * shine;
    gl_FragColor = vec4(encode(colour), opacity);
}`;

/** Uniforms shared by all surfaces, set once per picture. */
export interface Looks {
    /** Up, in camera axes. */
    sky: IUniform<Vector3>;
    heatMap: IUniform<unknown>;
}

export type Mode = "shaded" | "texture" | "normals" | "heat" | "ghost" | "paint";
const MODES: Mode[] = ["shaded", "texture", "normals", "heat", "ghost", "paint"];

export const surfaceMaterial = (looks: Looks): ShaderMaterial =>
    new ShaderMaterial({
        vertexShader: SURFACE_VERTEX,
        fragmentShader: SURFACE_FRAGMENT,
        side: DoubleSide,
        uniforms: {
            sky: looks.sky,
            heatMap: looks.heatMap,
            clay: { value: new Color(0xd9b8a0) },
            inside: { value: new Color(0x6f7f9c) },
            opacity: { value: 1 },
            mode: { value: 0 },
            heatScale: { value: 1 },
            skin: { value: null },
        },
    });

export const setMode = (material: ShaderMaterial, mode: Mode): void => {
    material.uniforms["mode"]!.value = MODES.indexOf(mode);
};

/** The transparent driver. */
export const ghostMaterial = (looks: Looks): ShaderMaterial => {
    const material = surfaceMaterial(looks);
    material.transparent = true;
    material.uniforms["opacity"]!.value = 0.28;
    (material.uniforms["clay"]!.value as Color).set(0x6a8fc4);
    setMode(material, "ghost");
    return material;
};

// A coloured ghost, strongest at its outline. Only its front is drawn, after a pass that writes its depth alone.
export const onionMaterial = (): ShaderMaterial =>
    new ShaderMaterial({
        vertexShader: SURFACE_VERTEX,
        transparent: true,
        depthWrite: false,
        side: DoubleSide,
        uniforms: { colour: { value: new Color() } },
        fragmentShader: `
uniform vec3 colour;
varying vec3 seen;
varying vec3 across;
${ENCODE}
void main() {
    vec3 eye = isOrthographic ? vec3(0.0, 0.0, 1.0) : normalize(-seen);
    vec3 normal = normalize(across);
    float edge = 1.0 - abs(dot(normal, eye));
    float light = 0.75 + 0.35 * clamp(dot(normal, normalize(vec3(-0.55, 0.68, 0.55))), 0.0, 1.0);
    gl_FragColor = vec4(encode(colour * light), 0.2 + 0.5 * edge * edge);
}`,
    });
export const depthMaterial = (): ShaderMaterial =>
    new ShaderMaterial({ vertexShader: SURFACE_VERTEX, fragmentShader: "void main() { gl_FragColor = vec4(0.0); }", colorWrite: false,
        side: DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });

// Lines are drawn slightly in front of their surface.
export const wireMaterial = (): ShaderMaterial =>
    new ShaderMaterial({
        transparent: true,
        depthWrite: false,
        uniforms: { colour: { value: new Color(0x101418) }, opacity: { value: 0.42 } },
        vertexShader: `
void main() {
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    gl_Position.z -= 4e-4 * gl_Position.w;
}`,
        fragmentShader: `
uniform vec3 colour;
uniform float opacity;
${ENCODE}
void main() { gl_FragColor = vec4(encode(colour), opacity); }`,
    });

// Light above and darker below, behind everything.
export const backdropMaterial = (): ShaderMaterial =>
    new ShaderMaterial({
        depthTest: false,
        depthWrite: false,
        uniforms: { top: { value: new Color() }, bottom: { value: new Color() } },
        vertexShader: `
varying float high;
void main() {
    high = uv.y;
    gl_Position = vec4(position.xy, 0.0, 1.0);
}`,
        fragmentShader: `
uniform vec3 top;
uniform vec3 bottom;
varying float high;
${ENCODE}
void main() { gl_FragColor = vec4(mix(encode(bottom), encode(top), high), 1.0); }`,
    });

// Lines of cells and of ten cells, one pixel wide, that fade with distance from the form.
export const groundMaterial = (): ShaderMaterial =>
    new ShaderMaterial({
        transparent: true,
        depthWrite: false,
        side: DoubleSide,
        uniforms: { colour: { value: new Color() }, cell: { value: 1 }, reach: { value: 1 }, strength: { value: 1 } },
        vertexShader: `
varying vec2 place;
void main() {
    vec4 world = modelMatrix * vec4(position, 1.0);
    place = world.xz - modelMatrix[3].xz;
    gl_Position = projectionMatrix * viewMatrix * world;
}`,
        fragmentShader: `
uniform vec3 colour;
uniform float cell;
uniform float reach;
uniform float strength;
varying vec2 place;
${ENCODE}
float lines(float size) {
    vec2 at = place / size;
    vec2 wide = fwidth(at);
    vec2 off = abs(fract(at - 0.5) - 0.5) / max(wide, 1e-6);
    float density = clamp(2.0 * max(wide.x, wide.y), 0.0, 1.0);
    return (1.0 - min(min(off.x, off.y), 1.0)) * (1.0 - density);
}
void main() {
    float fade = clamp(1.0 - length(place) / reach, 0.0, 1.0);
    float line = max(0.45 * lines(cell), lines(10.0 * cell));
    gl_FragColor = vec4(encode(colour), strength * fade * fade * line);
}`,
    });

// Joints and bones: one plain light, and a colour each.
export const boneMaterial = (): ShaderMaterial =>
    new ShaderMaterial({
        vertexShader: `
varying vec3 seen;
varying vec3 paint;
void main() {
    vec4 point = modelViewMatrix * instanceMatrix * vec4(position, 1.0);
    seen = point.xyz;
    paint = instanceColor;
    gl_Position = projectionMatrix * point;
}`,
        fragmentShader: `
varying vec3 seen;
varying vec3 paint;
${ENCODE}
void main() {
    vec3 normal = normalize(cross(dFdx(seen), dFdy(seen)));
    float light = 0.55 + 0.5 * clamp(dot(normal, normalize(vec3(-0.4, 0.6, 0.7))), 0.0, 1.0);
    gl_FragColor = vec4(encode(paint * light), 1.0);
}`,
    });

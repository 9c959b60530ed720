// The shadow of a form on the ground. The form is drawn from below, straight onto the ground, as three numbers: what
// touches the ground, what is near it, and what is above it. Each is blurred more widely than the one before, which
// gives a dark line of contact inside a shadow that grows softer with height. Drawn again only after the form changed.
import {
    DoubleSide, Mesh, NoBlending, OrthographicCamera, PlaneGeometry, Scene, ShaderMaterial, Vector2, WebGLRenderTarget,
    type WebGLRenderer,
} from "three";
import type { Box } from "../core/form";

const SIZE = 320; // pixels
const camera = new OrthographicCamera(-1, 1, 1, -1, 0, 1); // the shaders use none

const captureMaterial = (): ShaderMaterial =>
    new ShaderMaterial({
        side: DoubleSide,
        blending: NoBlending,
        uniforms: { centre: { value: new Vector2() }, half_: { value: 1 }, ground: { value: 0 }, tall: { value: 1 } },
        vertexShader: `
uniform vec2 centre;
uniform float half_;
uniform float ground;
uniform float tall;
varying float height;
void main() {
    vec4 world = modelMatrix * vec4(position, 1.0);
    height = max((world.y - ground) / tall, 0.0);
    gl_Position = vec4((world.xz - centre) / half_, clamp(height - 0.99, -0.99, 0.99), 1.0);
}`,
        fragmentShader: `
varying float height;
void main() { gl_FragColor = vec4(exp(-24.0 * height), exp(-5.0 * height), exp(-0.9 * height), 1.0); }`,
    });

const blurMaterial = (): ShaderMaterial =>
    new ShaderMaterial({
        blending: NoBlending,
        depthTest: false,
        depthWrite: false,
        uniforms: { image: { value: null }, along: { value: new Vector2() } },
        vertexShader: `
varying vec2 place;
void main() {
    place = uv;
    gl_Position = vec4(position.xy, 0.0, 1.0);
}`,
        fragmentShader: `
uniform sampler2D image;
uniform vec2 along;
varying vec2 place;
void main() {
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int i = -10; i <= 10; i++) {
        float weight = exp(-0.03 * float(i * i));
        sum += weight * vec3(texture2D(image, place + 0.5 * float(i) * along).r,
                             texture2D(image, place + 1.6 * float(i) * along).g,
                             texture2D(image, place + 4.4 * float(i) * along).b);
        weights += weight;
    }
    gl_FragColor = vec4(sum / weights, 1.0);
}`,
    });

const planeMaterial = (): ShaderMaterial =>
    new ShaderMaterial({
        transparent: true,
        depthWrite: false,
        side: DoubleSide,
        uniforms: { image: { value: null }, strength: { value: 1 } },
        vertexShader: `
varying vec2 place;
void main() {
    place = position.xz + 0.5;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`,
        fragmentShader: `
uniform sampler2D image;
uniform float strength;
varying vec2 place;
void main() {
    vec3 dark = texture2D(image, place).rgb;
    vec3 lit = 1.0 - strength * vec3(0.42, 0.3, 0.3) * dark;
    gl_FragColor = vec4(0.03, 0.035, 0.055, 1.0 - lit.r * lit.g * lit.b);
}`,
    });

export class Shadow {
    readonly object = new Mesh(new PlaneGeometry(1, 1).rotateX(-Math.PI / 2), planeMaterial());
    readonly #capture = captureMaterial();
    readonly #blur = blurMaterial();
    readonly #pass = new Scene();
    readonly #first = new WebGLRenderTarget(SIZE, SIZE);
    readonly #second = new WebGLRenderTarget(SIZE, SIZE, { depthBuffer: false });
    #stale = true;

    constructor() {
        this.object.frustumCulled = false;
        this.object.renderOrder = -1;
        const screen = new Mesh(new PlaneGeometry(2, 2), this.#blur);
        screen.frustumCulled = false;
        this.#pass.add(screen);
        this.object.material.uniforms["image"]!.value = this.#first.texture;
    }

    /** The box of a form that has changed, and the height of the ground. */
    place(box: Box, ground: number, radius: number): void {
        const { centre, half_, tall, ground: at } = this.#capture.uniforms;
        const wide = Math.max(box[3]! - box[0]!, box[5]! - box[2]!, 0.2 * radius);
        (centre!.value as Vector2).set(0.5 * (box[0]! + box[3]!), 0.5 * (box[2]! + box[5]!));
        // Room for the blur: a quarter of the picture on each side.
        half_!.value = wide;
        tall!.value = 1.2 * radius;
        at!.value = ground;
        this.object.position.set(centre!.value.x, ground - 5e-4 * radius, centre!.value.y);
        this.object.scale.setScalar(2 * wide);
        this.#stale = true;
    }

    /** Draws the shadow of the scene's forms, if they have changed. */
    cast(renderer: WebGLRenderer, scene: Scene, others: readonly { visible: boolean }[]): void {
        if (!this.#stale) return;
        this.#stale = false;
        const hidden = [this.object, ...others];
        const before = hidden.map(({ visible }) => visible);
        for (const thing of hidden) thing.visible = false;
        renderer.setClearColor(0, 0);
        renderer.setRenderTarget(this.#first);
        renderer.clear();
        scene.overrideMaterial = this.#capture;
        renderer.render(scene, camera);
        scene.overrideMaterial = null;
        hidden.forEach((thing, i) => (thing.visible = before[i]!));
        for (const [from, to, x, y] of [[this.#first, this.#second, 1, 0], [this.#second, this.#first, 0, 1]] as const) {
            this.#blur.uniforms["image"]!.value = from.texture;
            (this.#blur.uniforms["along"]!.value as Vector2).set(x / SIZE, y / SIZE);
            renderer.setRenderTarget(to);
            renderer.render(this.#pass, camera);
        }
        renderer.setRenderTarget(null);
    }
}

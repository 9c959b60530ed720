// The materials of a rig, exactly as three.js makes them: its loader reads the binary glTF file that the rig carries as
// "looks". The surroundings that they reflect are a room, computed once; nothing is downloaded.
import {
    Color, DoubleSide, LoadingManager, MeshStandardMaterial, PMREMGenerator, TextureLoader, type Material, type Texture,
    type WebGLRenderer,
} from "three";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

/** The light of a room, for reflections. */
export const roomLight = (renderer: WebGLRenderer): Texture => {
    const generator = new PMREMGenerator(renderer);
    const room = new RoomEnvironment();
    const { texture } = generator.fromScene(room, 0.04);
    room.dispose();
    generator.dispose();
    return texture;
};

/** For faces without a material. */
const clay = (): MeshStandardMaterial =>
    new MeshStandardMaterial({ color: new Color(0xc9bdb0), roughness: 0.9, metalness: 0, side: DoubleSide });

const isStandard = (material: Material): material is MeshStandardMaterial => "normalScale" in material;

export class Materials {
    readonly #byName: Map<string, Material>;
    readonly #clay = clay();
    private constructor(materials: readonly Material[]) {
        this.#byName = new Map(materials.map((material) => [material.name, material]));
    }

    /** Reads a binary glTF file. */
    static async open(bytes: Uint8Array<ArrayBuffer>): Promise<Materials> {
        const manager = new LoadingManager();
        const loader = new GLTFLoader(manager);
        // Images as elements: the usual loader fetches them, which the policy of an exported page forbids.
        loader.register((parser) => {
            parser.textureLoader = new TextureLoader(manager);
            return { name: "EXEMPLAR_images" };
        });
        const { parser } = await loader.parseAsync(bytes.buffer, "");
        const materials = (await parser.getDependencies("material")) as Material[];
        for (const material of materials) {
            // Without tangents, three.js takes them from the picture, where v runs downwards.
            if (isStandard(material)) material.normalScale.y *= -1;
        }
        return new Materials(materials);
    }

    /** One material per name, and that for faces without one at the end. */
    list(names: readonly string[]): Material[] {
        return [...names.map((name) => this.#byName.get(name) ?? this.#clay), this.#clay];
    }
    /** The only material, for meshes that name none. */
    get only(): Material | null {
        return this.#byName.size === 1 ? [...this.#byName.values()][0]! : null;
    }

    /** Shows a rig's own texture instead of an image: of all materials, or of that name. */
    paint(name: string | null, texture: Texture): void {
        for (const [key, material] of this.#byName)
            if ((name === null || key === name) && "map" in material) {
                (material as MeshStandardMaterial).map = texture;
                material.needsUpdate = true;
            }
    }

    vertexColours(shown: boolean): void {
        for (const material of this.#byName.values()) material.vertexColors = shown;
    }

    dispose(): void {
        for (const material of [...this.#byName.values(), this.#clay]) {
            for (const value of Object.values(material) as unknown[])
                if (value && typeof value === "object" && "isTexture" in value) (value as Texture).dispose();
            material.dispose();
        }
    }
}

// Pointer and keyboard control of joints: show, select, turn. A label names the joint and its angle.
import { Quaternion, Vector3 } from "three";
import { h, setText } from "../core/dom";
import { anglesOf } from "../core/rotation";
import type { Grab } from "./pointer";
import { BALL, Skeleton, type Touched } from "./skeleton";
import { ballTurn, flatTurn, setJoint, Turn } from "./turning";
import type { View } from "./view";

const STEP = (5 * Math.PI) / 180;
const SLACK = 3; // pixels: less motion is a click

const degrees = (angle: number): string => `${(Math.round(10 * angle) / 10 || 0).toFixed(1).replace("-", "\u2212")}°`;

export class Joints {
    readonly skeleton: Skeleton;
    readonly label = h("div", { class: "joint-label", role: "status", hidden: true });

    constructor(readonly view: View) {
        const { app } = view;
        this.skeleton = new Skeleton(app);
        view.stand.overlay.add(this.skeleton.object);
        app.on("frame", () => this.say());
        app.commands.add(
            this.#step("previous-joint", "Select the previous joint", "[", -1),
            this.#step("next-joint", "Select the next joint", "]", 1),
            ...[0, 1, 2].flatMap((axis) => [this.#turn(axis, 1), this.#turn(axis, -1)]),
        );
    }

    get #rig() {
        return this.view.app.stage.rig;
    }

    #step(id: string, label: string, key: string, by: number) {
        return {
            id, label, group: "View" as const, keys: [key],
            enabled: () => this.#rig.joints.length > 0,
            run: () => {
                const count = this.#rig.joints.length;
                const { chosen } = this.skeleton;
                this.skeleton.chosen = chosen < 0 ? (by > 0 ? 0 : count - 1) : (chosen + by + count) % count;
                this.view.app.show({ skeleton: true });
                this.view.app.chooseJoint(this.#rig.joints[this.skeleton.chosen]!.name);
            },
        };
    }

    #turn(axis: number, sign: number) {
        const name = "XYZ"[axis]!;
        return {
            id: `turn-${name.toLowerCase()}${sign > 0 ? "" : "-back"}`,
            label: `Turn the joint ${sign > 0 ? "" : "back "}about its ${name.toLowerCase()} axis`,
            group: "View" as const,
            keys: [sign > 0 ? name : `Shift+${name}`],
            enabled: () => this.skeleton.isShown && this.skeleton.chosen >= 0,
            run: () => {
                const { chosen } = this.skeleton;
                const along = new Vector3().setComponent(axis, 1);
                const turn = new Quaternion().setFromAxisAngle(along, sign * STEP);
                this.view.app.pose((pose) => {
                    const rotation = new Quaternion().fromArray(pose.jointFromRest(chosen)).multiply(turn);
                    pose.turnJoint(chosen, rotation.toArray());
                });
            },
        };
    }

    #find(event: { clientX: number; clientY: number }): Touched | null {
        const { left, width } = this.view.picture({ clientX: -1 });
        if (this.view.app.tool !== "orbit" || event.clientX > left + width) return null;
        return this.skeleton.find(event.clientX, event.clientY, (point) => this.view.project(point));
    }

    hover(event: PointerEvent | null): void {
        const found = event && event.buttons === 0 ? this.#find(event) : null;
        const before = this.skeleton.hovered;
        if (found?.joint === before?.joint && found?.part === before?.part) return;
        this.skeleton.hovered = found;
        this.view.canvas.style.cursor = found ? "grab" : "";
        this.skeleton.mark();
        this.say();
        this.view.redraw();
    }

    grab(event: PointerEvent): Grab | null {
        const found = this.#find(event);
        if (!found) return null;
        this.skeleton.chosen = found.joint;
        this.view.app.chooseJoint(this.#rig.joints[found.joint]!.name);
        this.skeleton.mark();
        this.view.redraw();
        this.say();
        return this.view.app.display.unposed ? { move: () => undefined, end: () => undefined } : this.#drag(found, event);
    }

    #drag({ joint, part }: Touched, down: PointerEvent): Grab {
        const { app, eye, canvas } = this.view;
        const { x, y } = this.view.project(this.skeleton.place(joint));
        const from = (event: PointerEvent): [number, number] => [event.clientX - x, y - event.clientY];
        const turn = new Turn(app.stage.pose, joint);
        const start = from(down);
        const sight = eye.orthographic
            ? eye.back.clone()
            : eye.camera.position.clone().sub(this.skeleton.place(joint)).normalize();
        let moved = false;
        canvas.style.cursor = "grabbing";
        const move = (event: PointerEvent): void => {
            const to = from(event);
            moved ||= Math.hypot(to[0] - start[0], to[1] - start[1]) > SLACK;
            if (!moved) return;
            const by = part === "joint" ? ballTurn(start, to, BALL, eye) : flatTurn(start, to, sight);
            app.pose((pose) => setJoint(this.#rig, pose, joint, turn.by(by), event.shiftKey));
        };
        const end = (event: PointerEvent, cancelled: boolean): void => {
            canvas.style.cursor = "";
            if (cancelled && moved) app.pose((pose) => pose.turnJoint(joint, turn.start.toArray()));
            else move(event);
        };
        return { move, end };
    }

    /** Updates the label for the joint under the pointer, or the selected one. */
    say(): void {
        const { app } = this.view;
        const joint = this.skeleton.hovered?.joint ?? this.skeleton.chosen;
        const shown = this.skeleton.isShown && joint >= 0 && joint < this.#rig.joints.length;
        this.label.hidden = !shown;
        if (!shown) return;
        const [x, y, z] = anglesOf(app.stage.pose.jointFromRest(joint));
        const text = `${this.#rig.joints[joint]!.name}   x ${degrees(x)}   y ${degrees(y)}   z ${degrees(z)}`;
        setText(this.label, text);
    }
}

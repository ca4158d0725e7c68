/** Draws A2UI surfaces. Runs in a document of its own on the canvas; the code of agents is data here. */
import { html, render } from "lit";
import { createA2uiModel, parseMessage, type A2uiMessage } from "../../../src/protocol/a2ui/index.ts";
import { drawSurface, type Drawing } from "./a2ui-components.ts";
import type { ToFrame, UserAction } from "./frame-messages.ts";

interface Shared {
  OpenClaw?: { sendUserAction(action: UserAction): boolean };
  openclawA2UI?: { applyMessages(messages: readonly unknown[]): { ok: boolean; surfaces: string[] }; reset(): { ok: boolean }; getSurfaces(): string[] };
}

const shared = globalThis as unknown as Shared;
const model = createA2uiModel();
const drawing: Drawing = { model, changed: draw, act: (action) => void shared.OpenClaw?.sendUserAction(action), local: new Map() };
const place = document.createElement("main");
document.body.append(place);

function draw(): void {
  const surfaces = [...model.surfaces.values()].filter(({ root }) => root !== undefined);
  render(surfaces.length === 0 ? html`<p class="empty">Nothing to show yet</p>` : surfaces.map((surface) => drawSurface(surface, drawing)), place);
}

function apply(messages: readonly A2uiMessage[]): void {
  model.apply(messages);
  draw();
}

addEventListener("message", ({ source, data }: MessageEvent<ToFrame>) => {
  if (parent === window || source !== parent || data?.openclaw !== "a2ui") return;
  if (data.reset) model.reset();
  apply(data.messages as readonly A2uiMessage[]);
});

/** For apps, which evaluate scripts in their web views. */
shared.openclawA2UI = {
  applyMessages(messages) {
    apply(messages.flatMap(parseMessage));
    return { ok: true, surfaces: [...model.surfaces.keys()] };
  },
  reset() {
    model.reset();
    draw();
    return { ok: true };
  },
  getSurfaces: () => [...model.surfaces.keys()],
};
draw();

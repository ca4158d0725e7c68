import type { Frame, JSHandle } from "playwright-core";
import { createNames, createRoles } from "./describe.ts";
import type { PageElement, PageGlobals } from "./dom.ts";
import { createLines, createRefs, createWalk, type WalkOptions, type Walked } from "./walk.ts";

/** What runs inside of a document for us. It is reached through a handle: the page itself cannot find it. */
export interface PageReader {
  walk(options: WalkOptions): Walked;
  find(ref: number): PageElement | null;
  /** Resolves when the page has drawn what its scripts changed. */
  drawn(): Promise<void>;
  /** Shows numbers beside the elements that can be used; called again, removes them. */
  label(refs: readonly number[]): void;
}

/** Runs inside of the page: it may use nothing from this file. */
function createDrawn(): () => Promise<void> {
  const page = globalThis as unknown as PageGlobals;
  // A page in the background draws nothing.
  return () =>
    new Promise((resolve) => {
      setTimeout(resolve, 250);
      page.requestAnimationFrame(() => page.requestAnimationFrame(() => setTimeout(resolve, 0)));
    });
}

/** Runs inside of the page: it may use nothing from this file. */
function createLabel(find: (ref: number) => PageElement | null): (refs: readonly number[]) => void {
  const page = globalThis as unknown as PageGlobals;
  let shown: PageElement | undefined;
  return (refs) => {
    shown?.remove();
    shown = undefined;
    if (refs.length === 0) return;
    const layer = page.document.createElement("div");
    layer.style.cssText = "all:initial;position:fixed;inset:0;pointer-events:none;z-index:2147483647";
    for (const ref of refs) {
      const box = find(ref)?.getBoundingClientRect();
      if (!box || box.width === 0 || box.y > page.innerHeight || box.x > page.innerWidth || box.y + box.height < 0) continue;
      const frame = page.document.createElement("div");
      frame.style.cssText = `position:fixed;left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px;outline:2px solid #d00;font:bold 11px sans-serif;color:#fff`;
      const label = page.document.createElement("span");
      label.style.cssText = "position:absolute;left:0;top:0;background:#d00;padding:0 2px";
      label.append(`e${ref}`);
      frame.append(label);
      layer.append(frame);
    }
    page.document.documentElement.append(layer);
    shown = layer;
  };
}

const SCRIPT = `(() => {
  const roles = (${createRoles.toString()})();
  const names = (${createNames.toString()})(roles);
  const lines = (${createLines.toString()})(roles);
  const refs = (${createRefs.toString()})();
  const walk = (${createWalk.toString()})(roles, names, lines, refs);
  const drawn = (${createDrawn.toString()})();
  const label = (${createLabel.toString()})(refs.find);
  return { walk, find: refs.find, drawn, label };
})()`;

/** Puts the reader into a document. */
export async function installReader(frame: Pick<Frame, "evaluateHandle">): Promise<JSHandle<PageReader>> {
  return (await frame.evaluateHandle(SCRIPT)) as JSHandle<PageReader>;
}

/** Draws diagrams where the page cannot be held up: the page ends this thread when it takes too long. */
import { renderMermaidSVG } from "beautiful-mermaid";
import { cleanSvg, type CleanPicture } from "./clean-svg.ts";
import { prepare } from "./prepare.ts";
import { NotDrawn, type DiagramKind, type Refusal } from "./statements.ts";

/** What the thread answers. */
export type Answer = { readonly id: number } & (
  | (CleanPicture & { readonly kind: DiagramKind; readonly title: string; readonly left: readonly number[] })
  | { readonly why: Refusal; readonly detail: string }
);

// The layout takes a thread without a document for one of its own workers, and then exports nothing; and it writes `self`, which threads only read.
Object.defineProperties(globalThis, { document: { value: {} }, self: { value: globalThis, writable: true, configurable: true } });

function answer(id: number, source: string): Answer {
  try {
    const { kind, text, title = "", left } = prepare(source);
    const picture = cleanSvg(renderMermaidSVG(text, { padding: 20 }));
    return { id, ...picture, kind, title, left: left.map(({ line }) => line) };
  } catch (error) {
    return error instanceof NotDrawn ? { id, why: error.why, detail: error.detail } : { id, why: "broken", detail: "" };
  }
}

addEventListener("message", ({ data }: MessageEvent<{ readonly id: number; readonly source: string }>) => {
  postMessage(answer(data.id, data.source));
});
// Time that a diagram takes counts from here.
postMessage("ready");

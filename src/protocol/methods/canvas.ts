import { method } from "../method.ts";
import { amount, anything, closed, done, effect, filled, flag, map, maybe, text } from "../pieces.ts";
import { CanvasViewSchema } from "../canvas.ts";

/** The canvas in the page, beside a conversation. */
export const canvasMethods = {
  "canvas.attach": method({
    access: "operator.write",
    params: closed({ sessionKey: filled(), on: maybe(flag({ default: true })) }),
    result: done({
      sessionKey: filled(),
      path: text({ description: "Prefix of canvas addresses, with this connection's secret. Valid until the connection closes." }),
      view: CanvasViewSchema,
    }),
    effect: false,
    module: "nodes",
    summary: "Subscribes this connection to the canvas of a session: it gets `canvas.changed` and `canvas.request`.",
  }),
  "canvas.result": method({
    access: "operator.write",
    params: closed({ id: filled(), ok: flag(), payload: maybe(anything()), error: maybe(text()) }),
    result: done({ ignored: maybe(flag()) }),
    effect: false,
    module: "nodes",
    summary: "Returns the result of a `canvas.request`; a late one is ignored.",
  }),
  "canvas.action": method({
    access: "operator.write",
    params: effect({
      sessionKey: filled(),
      name: filled({ maxLength: 200 }),
      surfaceId: maybe(text({ maxLength: 200 })),
      componentId: maybe(text({ maxLength: 200 })),
      context: maybe(map(anything())),
    }),
    result: closed({ runId: filled() }),
    effect: true,
    module: "nodes",
    summary: "Reports a user action on the canvas: its agent gets a message about it.",
  }),
  "canvas.invoke": method({
    access: "operator.write",
    params: effect({ sessionKey: filled(), command: filled(), params: maybe(map(anything())), timeoutMs: maybe(amount({ default: 20_000 })) }),
    result: done({ payload: maybe(anything()) }),
    effect: true,
    module: "nodes",
    summary: "Runs a `canvas.*` command on the canvas of a session in the page.",
  }),
};

import type { Config } from "../../config/index.ts";
import type { Canvas } from "../../nodes/index.ts";
import type { HandlersOf } from "./handler.ts";
import { canonicalKey } from "./sessions/keys.ts";

export interface CanvasHandlersDeps {
  readonly canvas: Canvas;
  readonly config: Pick<Config, "current">;
  readonly isThere: (connId: string) => boolean;
}

/** The canvas beside a conversation in the page. */
export function canvasHandlers({ canvas, config, isThere }: CanvasHandlersDeps): HandlersOf<"canvas"> {
  const keyOf = (written: string): string => canonicalKey(written, config.current);
  return {
    async "canvas.attach"({ sessionKey: written, on = true }, { caller: { connId } }) {
      const sessionKey = keyOf(written);
      const surfaces = await canvas.surfaces();
      const view = await surfaces.attach(sessionKey, connId);
      // The connection may have ended while the code was loaded.
      if (!on || !isThere(connId)) surfaces.detach(sessionKey, connId);
      else canvas.seen();
      return { ok: true, sessionKey, path: canvas.address(connId, true), view };
    },
    "canvas.result": async (params, { caller: { connId } }) => ((await canvas.surfaces()).answer(params, connId) ? { ok: true } : { ok: true, ignored: true }),
    "canvas.action": (params, { caller: { connId } }) => canvas.act(params, keyOf(params.sessionKey), connId),
    async "canvas.invoke"({ sessionKey, command, params = {}, timeoutMs }, { signal }) {
      const payload = await (await canvas.surfaces()).invoke(keyOf(sessionKey), command, params, { signal, timeoutMs });
      return { ok: true, ...(payload === undefined ? {} : { payload }) };
    },
  };
}

import type { ServicePort } from "../../app/index.ts";
import { messageOf } from "../../base/errors.ts";
import { install } from "../commands/gateway/install.ts";
import type { Io } from "../io.ts";

/** Does what `openclaw gateway install` does; what that prints is the text. */
export async function installService(io: Io): ReturnType<ServicePort["install"]> {
  let text = "";
  const write = (part: string): void => void (text += part);
  try {
    const code = await install.run({ io: { ...io, out: write, err: write }, values: {}, positionals: [] });
    return { ok: (code ?? 0) === 0, text: text.trim() };
  } catch (error) {
    return { ok: false, text: `${text}${messageOf(error)}`.trim() };
  }
}

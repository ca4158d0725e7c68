import { programName, withProgram } from "../base/program-name.ts";
import type { Env } from "../config/index.ts";

/** Texts of a gateway for pages and chats, with every `openclaw …` command as its user can run it. No path of this machine gets into them. */
export function runnableTexts(env: Env): (text: string) => string {
  // A search along the PATH: only for texts that name a command.
  let found: string | undefined;
  return (text) => {
    if (!text.includes("openclaw ")) return text;
    found ??= programName({ from: import.meta.dirname, path: env["PATH"], profile: env["OPENCLAW_PROFILE"], cwd: undefined });
    return withProgram(text, found);
  };
}

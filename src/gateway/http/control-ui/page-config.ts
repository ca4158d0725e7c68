import { defaultAgentId, type OpenClawConfig } from "../../../config/index.ts";
import { agentList } from "../../methods/sessions/keys.ts";
import { sendJson } from "../reply.ts";
import type { Exchange } from "../route.ts";
import { basePathOf } from "./base-path.ts";

/** Emoji, letters, or a picture's address: paths of files are nobody's business before a login. */
const shown = (avatar: string | undefined): string | undefined =>
  avatar !== undefined && (/^(?:https?:|data:image\/)/i.test(avatar) || /^[^/\\.]{1,16}$/.test(avatar)) ? avatar : undefined;

interface PageFacts {
  readonly version: string;
  readonly runnable: (text: string) => string;
}

/** What the page shows before anybody has logged in. The names are the documented ones; `version` and `program`, what to type in a terminal, are ours. */
export function sendPageConfig({ response }: Exchange, config: OpenClawConfig, { version, runnable }: PageFacts): void {
  const assistantAgentId = defaultAgentId(config);
  const agent = agentList(config).find(({ id }) => id.toLowerCase() === assistantAgentId);
  const { name, avatar } = config.ui?.assistant ?? {};
  sendJson(response, 200, {
    basePath: basePathOf(config) ?? "/",
    assistantName: name ?? agent?.identity?.name ?? agent?.name ?? "OpenClaw",
    assistantAvatar: shown(avatar) ?? shown(agent?.identity?.avatar) ?? agent?.identity?.emoji ?? null,
    assistantAgentId,
    version,
    program: runnable("openclaw dashboard").replace(/ dashboard$/, ""),
  });
}

import type { BootstrapName } from "../bootstrap-names.ts";
import { AGENTS } from "./agents.ts";
import { BOOTSTRAP } from "./bootstrap.ts";
import { HEARTBEAT, IDENTITY, SOUL, TOOLS, USER } from "./character.ts";

/** First contents of a workspace's files. */
export const TEMPLATES: Readonly<Record<BootstrapName, string>> = {
  "AGENTS.md": AGENTS,
  "SOUL.md": SOUL,
  "TOOLS.md": TOOLS,
  "IDENTITY.md": IDENTITY,
  "USER.md": USER,
  "HEARTBEAT.md": HEARTBEAT,
  "BOOTSTRAP.md": BOOTSTRAP,
};

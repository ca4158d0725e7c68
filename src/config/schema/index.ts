import type { Static } from "typebox";
import type { JsonSchema } from "../json-schema.ts";
import { agents } from "./agents/agents.ts";
import { auth } from "./auth.ts";
import { browser } from "./browser.ts";
import { channels } from "./channels.ts";
import { commands } from "./commands.ts";
import { plugins, security, skills } from "./extensions.ts";
import { gateway } from "./gateway/gateway.ts";
import { hooks } from "./hooks.ts";
import { memory } from "./memory.ts";
import { messages } from "./messages/messages.ts";
import { models } from "./models.ts";
import { group, text } from "./pieces.ts";
import { bindings, broadcast } from "./routing.ts";
import {
  approvals,
  audio,
  canvasHost,
  cron,
  diagnostics,
  discovery,
  env,
  logging,
  media,
  meta,
  nodeHost,
  store,
  talk,
  ui,
  update,
  web,
  wizard,
} from "./runtime.ts";
import { session } from "./session.ts";
import { tools } from "./tools/tools.ts";
import { usage } from "./usage.ts";

const schema = group("Configuration of an OpenClaw gateway.", {
  $schema: text("Where an editor finds this schema."),
  meta,
  env,
  wizard,
  diagnostics,
  logging,
  update,
  browser,
  ui,
  auth,
  models,
  usage,
  nodeHost,
  agents,
  tools,
  bindings,
  broadcast,
  audio,
  media,
  messages,
  commands,
  approvals,
  session,
  cron,
  hooks,
  web,
  channels,
  discovery,
  canvasHost,
  talk,
  gateway,
  memory,
  skills,
  plugins,
  security,
  store,
});

/** The configuration file as plain JSON Schema (draft-07). The build freezes it, so nothing else is imported from here at run time. */
export const configSchema: JsonSchema = schema as unknown as JsonSchema;

/** A configuration that passed validation, before defaults. */
export type OpenClawConfig = Static<typeof schema>;

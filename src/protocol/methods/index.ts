/** All methods by name, merged from their areas. Loads the schema library: what runs reads `catalog.ts` and `schemas.ts` instead. */
import type { MethodSpec } from "../method.ts";
import { agentsMethods } from "./agents.ts";
import { approvalsMethods } from "./approvals.ts";
import { backupMethods } from "./backup.ts";
import { browserMethods } from "./browser.ts";
import { canvasMethods } from "./canvas.ts";
import { channelsMethods } from "./channels.ts";
import { agentMethods, chatMethods } from "./chat.ts";
import { configMethods } from "./config.ts";
import { cronMethods } from "./cron.ts";
import { devicesMethods } from "./devices.ts";
import { memoryMethods } from "./memory.ts";
import { messagesMethods } from "./messages.ts";
import { nodesMethods } from "./nodes.ts";
import { pairingMethods } from "./pairing.ts";
import { pluginsMethods } from "./plugins.ts";
import { promptsMethods } from "./prompts.ts";
import { securityMethods } from "./security.ts";
import { sessionsMethods } from "./sessions.ts";
import { configViewMethods, setupMethods } from "./setup.ts";
import { skillsMethods } from "./skills.ts";
import { subagentsMethods } from "./subagents.ts";
import { systemMethods } from "./system.ts";
import { talkMethods, ttsMethods } from "./talk.ts";
import { toolsMethods } from "./tools.ts";
import { updateMethods } from "./update.ts";
import { usageMethods } from "./usage.ts";
import { viewMethods } from "./view.ts";
import { whyMethods } from "./why.ts";
import { wizardMethods } from "./wizard.ts";

/** Methods by area, in the order of the documentation. */
export const AREAS = {
  system: systemMethods,
  update: updateMethods,
  backup: backupMethods,
  security: securityMethods,
  usage: usageMethods,
  config: configMethods,
  "config.view": configViewMethods,
  setup: setupMethods,
  wizard: wizardMethods,
  agents: agentsMethods,
  skills: skillsMethods,
  memory: memoryMethods,
  plugins: pluginsMethods,
  channels: channelsMethods,
  messages: messagesMethods,
  why: whyMethods,
  pairing: pairingMethods,
  cron: cronMethods,
  subagents: subagentsMethods,
  devices: devicesMethods,
  tools: toolsMethods,
  approvals: approvalsMethods,
  chat: chatMethods,
  agent: agentMethods,
  sessions: sessionsMethods,
  prompts: promptsMethods,
  view: viewMethods,
  nodes: nodesMethods,
  canvas: canvasMethods,
  talk: talkMethods,
  tts: ttsMethods,
  browser: browserMethods,
} as const;

type Areas = typeof AREAS;
type NamesOf<Area extends keyof Areas> = keyof Areas[Area];
/** Names that stand in two areas. */
type Colliding = { [Area in keyof Areas]: NamesOf<Area> & { [Other in keyof Areas]: Other extends Area ? never : NamesOf<Other> }[keyof Areas] }[keyof Areas];
type Merged<All> = (All extends unknown ? (all: All) => void : never) extends (all: infer Whole) => void ? Whole : never;
/** Does not compile when a name stands in two areas; the error says which. */
type Flat<All, Twice extends never> = { readonly [Name in Exclude<keyof All, Twice>]: All[Name] };

export type DeclaredMethods = Flat<Merged<Areas[keyof Areas]>, Colliding>;

export const DECLARED_METHODS = Object.assign({}, ...Object.values(AREAS)) as DeclaredMethods & Readonly<Record<keyof DeclaredMethods, MethodSpec>>;

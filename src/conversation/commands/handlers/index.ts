/** Who carries out which command, by its canonical name. */
import type { Handler } from "../handling.ts";
import { models } from "../models/list.ts";
import { allowlist } from "./allowlist.ts";
import { approve, bash, activation, send, restart } from "./administration.ts";
import { commands, help, whoami } from "./help.ts";
import { compact, stop, trace, usage } from "./session.ts";
import { config, debug } from "./config.ts";
import { context } from "./context.ts";
import { exportSession } from "./export-session.ts";
import { forget, remember } from "./memory.ts";
import { status } from "./status.ts";
import { tts } from "./tts.ts";
import { killOne, steerOne, subagents } from "./subagents.ts";

/** Without settings, resets and skills, which end in a turn or change it. */
export const HANDLERS: Readonly<Record<string, Handler>> = {
  help,
  commands,
  status,
  whoami,
  context,
  "export-session": exportSession,
  trace,
  stop,
  compact,
  usage,
  models,
  send,
  activation,
  config,
  debug,
  allowlist,
  approve,
  subagents,
  kill: killOne,
  steer: steerOne,
  remember,
  forget,
  restart,
  tts,
  bash,
};

export { calledSkill, runSkill, unknownSkill } from "./skill.ts";
export { reset } from "./session.ts";
export { applySettings, hintsOf, maySet, shortcut } from "./settings.ts";

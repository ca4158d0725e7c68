import type { Handler } from "../handling.ts";
import { readActivation, readSend } from "../parsing/levels.ts";

/** Whether answers of this session are sent. */
export const send: Handler = async ({ ports, call, key, args }) => {
  const policy = readSend(args);
  if (policy === undefined) return "Usage: /send on|off|inherit";
  await ports.session.patch(key, call.agentId, { sendPolicy: policy === "inherit" ? null : policy });
  return { allow: "Answers are sent.", deny: "Answers are no longer sent. /send on undoes it.", inherit: "Sending follows the configuration again." }[policy];
};

/** When the agent answers in a group. */
export const activation: Handler = async ({ ports, call, key, args }) => {
  if (!call.isGroup) return "/activation is for groups only.";
  const mode = readActivation(args);
  if (mode === undefined) return "Usage: /activation mention|always";
  await ports.session.patch(key, call.agentId, { groupActivation: mode, groupActivationNeedsSystemIntro: true });
  return mode === "always" ? "From now on every message of this group is answered." : "From now on only messages that mention the agent are answered.";
};

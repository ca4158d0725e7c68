import { AppError } from "../../../base/errors.ts";
import { notThere, wordsOf, type Handler, switchedOff } from "../handling.ts";
import { readDecision, readActivation, readSend } from "../parsing/levels.ts";

const USAGE = "Usage: /approve <id> allow-once|allow-always|deny";

/** Decides on something that waits. Id and decision in either order. */
export const approve: Handler = async ({ ports, call, args }) => {
  const [first = "", second = "", ...more] = wordsOf(args);
  const [id, word] = readDecision(second) !== undefined ? [first, second] : [second, first];
  const decision = readDecision(word);
  if (decision === undefined || id === "" || more.length > 0) return USAGE;
  if (!ports.approvals) return notThere("approve", "this gateway has no approvals");
  try {
    await ports.approvals.resolve(id, decision, call.senderId === undefined ? call.channel : `${call.channel}:${call.senderId}`);
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return `No pending approval with the id ${id.slice(0, 80)}.`;
    throw error;
  }
  return `Decided: ${decision} for ${id.slice(0, 80)}.`;
};

const HELP = ["`! <command>` or /bash <command> - run it on the host", "!poll [id] - show its output so far", "!stop [id] - stop it"].join("\n");
const FOREGROUND_MS = 2000;

/** A command on the host, without the model. Off unless the configuration says otherwise, and only for whom the gates of `tools.elevated` let through. */
export const bash: Handler = async ({ ports, call, args }) => {
  const { commands } = ports.config.current();
  if (commands?.bash !== true) return switchedOff("bash");
  const gate = ports.elevation(call);
  if (!gate.permitted) return ["/bash is not available here:", ...gate.reasons.map((reason) => `- ${reason}`)].join("\n");
  if (!ports.bash) return notThere("bash", "this gateway does not run commands for chats");
  const [, verb = "", id] = /^(poll|stop|help)(?:\s+(\S+))?$/i.exec(args) ?? [];
  switch (verb.toLowerCase()) {
    case "poll":
      return ports.bash.poll(call, id);
    case "stop":
      return ports.bash.stop(call, id);
    case "help":
      return HELP;
    default:
      return args === "" ? HELP : ports.bash.run(call, args, commands.bashForegroundMs ?? FOREGROUND_MS);
  }
};

/** Whether answers of this session are sent. */
export const send: Handler = async ({ ports, call, key, args }) => {
  const policy = readSend(args);
  if (policy === undefined) return "Usage: /send on|off|inherit";
  await ports.session.patch(key, call.agentId, { sendPolicy: policy === "inherit" ? null : policy });
  return { allow: "Replies are sent.", deny: "Replies are no longer sent. To undo this: /send on", inherit: "Sending follows the configuration again." }[
    policy
  ];
};

/** When the agent answers in a group. */
export const activation: Handler = async ({ ports, call, key, args }) => {
  if (!call.isGroup) return "/activation works in groups only.";
  const mode = readActivation(args);
  if (mode === undefined) return "Usage: /activation mention|always";
  await ports.session.patch(key, call.agentId, { groupActivation: mode, groupActivationNeedsSystemIntro: true });
  return mode === "always" ? "Every message in this group is now answered." : "Only messages that mention the agent are now answered.";
};

export const restart: Handler = async ({ ports, call }) => {
  if (ports.config.current().commands?.restart === false) return "/restart is switched off: commands.restart is false.";
  if (!ports.restart) return notThere("restart", "the gateway cannot restart itself here");
  const way = await ports.restart(`/restart by ${call.senderId === undefined ? call.channel : `${call.channel}:${call.senderId}`}`);
  return `Restarting ${way}.`;
};

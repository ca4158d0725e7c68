import type { PluginCommandResult, ReplyPayload } from "../../protocol/index.ts";
import type { CommandCall, CommandVerdict } from "./commands.ts";
import { answered, silent } from "./handling.ts";
import type { CommandPorts } from "./ports.ts";

/** Plugins' commands come before the gateway's own. Whether one needs an authorised sender is its own rule. Undefined when the text is none. */
export async function runPluginCommand(ports: CommandPorts, call: CommandCall, said: string): Promise<CommandVerdict | undefined> {
  const found = said.startsWith("/") ? ports.plugins?.match(said) : undefined;
  if (!found) return undefined;
  const { ctx, channel, accountId, agentId, senderId, authorized, owner } = call;
  const sessionKey = ctx.CommandTargetSessionKey ?? call.sessionKey;
  const sessionId = (await ports.session.read(sessionKey))?.sessionId;
  call.tookLong?.();
  if (call.messageKey !== undefined && (await ports.begun?.begin(call.messageKey)) === false) return interrupted(found.name);
  const context = {
    channel,
    channelId: channel,
    accountId,
    agentId,
    sessionKey,
    commandBody: said,
    isAuthorizedSender: authorized,
    senderIsOwner: owner,
    config: ports.config.current(),
    ...present({ senderId, sessionId, from: ctx.From, to: ctx.To, messageThreadId: ctx.MessageThreadId }),
  };
  const result = await found.run(context, call.signal);
  if (!result) return silent("cancelled", `/${found.name}: a plugin's command, stopped before its end`);
  const { continueAgent, suppressReply, ...reply } = result;
  const payloads: readonly ReplyPayload[] = suppressReply || isEmpty(reply) ? [] : [reply];
  const why = `/${found.name}: a plugin's command`;
  if (continueAgent) return { kind: "turn", text: said, asides: payloads, notes: [why] };
  return payloads.length === 0 ? silent("silent", why) : answered(payloads[0]!, why);
}

/** The process ended while the command ran: the command itself may be the reason. */
function interrupted(name: string): CommandVerdict {
  const text = `/${name} was interrupted when the gateway stopped. It may have done its work or not, and is not run again by itself: send it again to run it once more.`;
  return answered({ text, isError: true }, `/${name}: a plugin's command that was running when the gateway stopped`);
}

function isEmpty(reply: Omit<PluginCommandResult, "continueAgent" | "suppressReply">): boolean {
  return !Object.values(reply).some((value) => value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0));
}

function present<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: NonNullable<T[K]> };
}

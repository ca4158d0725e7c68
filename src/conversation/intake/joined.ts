import type { ChannelPlugin, FinalizedMsgContext, HostConfig } from "../../protocol/index.ts";
import type { Inbound } from "./inbound-record.ts";
import { messageContext } from "./message-context.ts";

/** Messages that are treated as one. */
export type Group = readonly [Inbound, ...Inbound[]];

/** Several messages as one: texts one below the other, the ids of the last, all ids beside. */
export function joined(group: Group): FinalizedMsgContext {
  const last = messageContext(group.at(-1)!);
  if (group.length === 1) return last;
  const contexts = group.map(messageContext);
  const text = (field: "Body" | "RawBody" | "BodyForAgent" | "BodyForCommands"): string =>
    contexts.flatMap((ctx) => (ctx[field] ? [ctx[field]] : [])).join("\n");
  const ids = contexts.flatMap(({ MessageSid }) => (MessageSid === undefined ? [] : [MessageSid]));
  return {
    ...last,
    Body: text("Body"),
    RawBody: text("RawBody"),
    CommandBody: text("BodyForCommands"),
    BodyForAgent: text("BodyForAgent"),
    BodyForCommands: text("BodyForCommands"),
    MessageSids: ids,
    MessageSidFirst: ids[0],
    MessageSidLast: ids.at(-1),
  };
}

const MAX_PATTERNS = 20;

/** What is said without the channel's own way to name us: `claw: /status` is a command. */
export function withoutMentions(ctx: FinalizedMsgContext, plugin: ChannelPlugin | undefined, cfg: HostConfig, agentId: string): FinalizedMsgContext {
  const { mentions } = plugin ?? {};
  const said = ctx.BodyForCommands ?? "";
  if (!mentions || said === "") return ctx;
  const asked = { ctx, cfg, agentId };
  if (mentions.stripMentions) return { ...ctx, BodyForCommands: mentions.stripMentions({ ...asked, text: said }).trim() };
  let left = said;
  for (const pattern of (mentions.stripPatterns?.(asked) ?? []).slice(0, MAX_PATTERNS)) {
    try {
      left = left.replace(new RegExp(pattern, "giu"), " ");
    } catch {
      // A pattern that is none takes nothing out.
    }
  }
  return left === said ? ctx : { ...ctx, BodyForCommands: left.trim() };
}

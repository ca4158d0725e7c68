import type { Handler } from "../handling.ts";

/** What an operator needs to let somebody in. */
export const whoami: Handler = ({ call }) => {
  const { ctx, channel, senderId, isGroup, accountId } = call;
  const lines: readonly (readonly [string, string | number | undefined])[] = [
    ["Channel", channel],
    ["Account", accountId === "default" ? undefined : accountId],
    ["User id", senderId],
    ["Username", ctx.SenderUsername && `@${ctx.SenderUsername.replace(/^@/, "")}`],
    ["Chat", isGroup ? ctx.From : undefined],
    ["Thread", ctx.MessageThreadId],
    ["AllowFrom", senderId],
  ];
  const known = lines.filter(([, value]) => value !== undefined && value !== "");
  return ["**Identity**", ...known.map(([name, value]) => `${name}: ${value}`)].join("\n");
};

/**
 * Names the keys of an account where a text names those of its channel: `channels.slack.botToken` becomes
 * `channels.slack.accounts.work.botToken`. Channels write their texts without knowing which account they are for.
 */
export function withAccountKeys(text: string, { channel, accountId }: { readonly channel: string; readonly accountId: string }): string {
  if (accountId === "default") return text;
  const prefix = `channels.${channel}.`;
  return text.replaceAll(prefix, (_match: string, at: number) =>
    text.startsWith("accounts.", at + prefix.length) ? prefix : `${prefix}accounts.${accountId}.`,
  );
}

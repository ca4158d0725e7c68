/** Sent to a stranger whose first message waits for approval. */
export function pairingReply({ channel, idLine, code }: { readonly channel: string; readonly idLine: string; readonly code: string }): string {
  return [
    "OpenClaw: you are not allowed to write here yet.",
    "",
    idLine,
    "",
    `Pairing code: ${code}`,
    "",
    "Ask the owner of this bot to approve it with:",
    `openclaw pairing approve ${channel} ${code}`,
  ].join("\n");
}

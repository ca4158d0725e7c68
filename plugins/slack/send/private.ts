/** Answers to commands and pressed buttons that only the person sees who gave them. */
import { fieldsOf, type Fields, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { Workspace } from "../workspace.ts";

const TIMEOUT_MS = 10_000;

/** Why a command is not answered here, and the setting that changes it. */
export function notAnswered({ account, commands }: Workspace, command: string): string {
  const { accountId, slash } = account;
  const section = accountId === "default" ? "channels.slack" : `channels.slack.accounts.${accountId}`;
  const name = command.replace(/^\//, "");
  if (name.toLowerCase() === slash.name.toLowerCase()) return `/${name} is turned off. To turn it on, set ${section}.slashCommand.enabled to true.`;
  return commands.size === 0
    ? `/${name} is turned off. To turn commands on, set ${section}.commands.native to true.`
    : `/${name} is not a command of this assistant.`;
}

/** Sends a text that belongs to a command or an interaction. Nothing where its payload names no chat. */
export async function answerPrivately({ api }: Workspace, payload: Fields, text: string): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const url = textOf(payload["response_url"]);
  if (url !== undefined) return api.post(url, { json: { response_type: "ephemeral", replace_original: false, text } }, "the answer to a command", signal);
  const channel = textOf(payload["channel_id"]) ?? textOf(fieldsOf(payload["channel"])?.["id"]);
  const user = textOf(payload["user_id"]) ?? textOf(fieldsOf(payload["user"])?.["id"]);
  if (channel !== undefined && user !== undefined) await api.call("chat.postEphemeral", { channel, user, text }, { signal, lane: channel });
}

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { ChannelRuleFinding } from "../../../doctor/index.ts";
import { messageOf } from "../../../base/errors.ts";
import type { ChannelExamination, ChannelPlugin, HostConfig } from "../../../protocol/index.ts";
import type { Io } from "../../io.ts";

const REACH_MS = 5000;

type Look = Pick<ChannelExamination, "hasProgram" | "reach">;

async function hasProgram(command: string, { env }: Io): Promise<boolean> {
  if (!/[/\\]/.test(command)) {
    const { findPrograms } = await import("../../../agent/index.ts");
    return (await findPrograms([command], env, process.platform)).has(command);
  }
  return access(command, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** An address of the user's own configuration; what it answers is not read. */
async function reach(url: string): Promise<{ status?: number; error?: string }> {
  try {
    const answer = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(REACH_MS) });
    await answer.body?.cancel();
    return { status: answer.status };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

async function ofPlugin({ id, config, status }: ChannelPlugin, cfg: HostConfig, look: Look): Promise<readonly ChannelRuleFinding[]> {
  const found = config.listAccountIds(cfg).map(async (accountId): Promise<ChannelRuleFinding[]> => {
    try {
      const account = config.resolveAccount(cfg, accountId);
      if (config.isEnabled?.(account, cfg) === false) return [];
      return ((await status?.examineAccount?.({ account, cfg, ...look })) ?? []).map((finding) => ({ channel: id, accountId, ...finding }));
    } catch (error) {
      return [{ channel: id, accountId, id: "failed", level: "error", message: `its checks failed: ${messageOf(error)}`, fix: "openclaw plugins doctor" }];
    }
  });
  return (await Promise.all(found)).flat();
}

/** Runs the rules of channels that are configured; nothing of a platform is asked. */
export async function examineChannels(io: Io, deep: boolean): Promise<readonly ChannelRuleFinding[]> {
  const { openChannels } = await import("../channels/source.ts");
  await using view = await openChannels(io);
  const look: Look = { hasProgram: (command) => hasProgram(command, io), ...(deep ? { reach } : {}) };
  return (await Promise.all(view.plugins.map((plugin) => ofPlugin(plugin, view.cfg(), look)))).flat();
}

import { lockHolder } from "../../../base/instance-lock.ts";
import { stateLockPath } from "../../../config/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { callGateway } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { DEFAULT_CHANNEL } from "../../../config/index.ts";
import { ACCOUNT_OPTION, CHANNEL_OPTION, channelId, openChannels } from "./source.ts";

/** By the gateway where one runs, since it has the connection; else by the plugin itself. */
async function signOut(io: Io, channel: string, accountId: string | undefined): Promise<MethodResult<"channels.logout">> {
  const { paths, snapshot } = loadFor(io);
  const asks = snapshot.config.gateway?.mode === "remote" || lockHolder(stateLockPath(paths.state)) !== undefined;
  if (asks) return callGateway(io, "channels.logout", { channel, ...(accountId === undefined ? {} : { accountId }) }, {});
  await using view = await openChannels(io, { channel, evenUnconfigured: true });
  return await view.channels.logout(view.find(channel).id, accountId);
}

export const logout = defineCommand({
  options: {
    channel: { ...CHANNEL_OPTION, help: `of this channel (default ${DEFAULT_CHANNEL})` },
    account: ACCOUNT_OPTION,
    json: JSON_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const result = await signOut(io, channelId(values.channel ?? DEFAULT_CHANNEL), values.account);
    if (values.json) return printJson(io, result);
    const { channel, accountId, cleared } = result;
    io.out(cleared ? `signed out of ${channel} account ${accountId}\n` : `${channel} account ${accountId} had no login to forget\n`);
  },
});

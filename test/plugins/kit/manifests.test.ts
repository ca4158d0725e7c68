/** The keys that our channels accept, name by name: a change here is a change for everybody's configuration. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { expandChannelConfigs } from "../../../src/plugins/inventory/channel-keys.ts";

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly additionalProperties: Schema;
  readonly $defs: Readonly<Record<string, Schema>>;
}

function schemaOf(channel: string): Schema {
  const manifest = JSON.parse(readFileSync(new URL(`../../../plugins/${channel}/openclaw.plugin.json`, import.meta.url), "utf8")) as {
    channelConfigs: unknown;
  };
  return (expandChannelConfigs(manifest.channelConfigs) as Record<string, { schema: Schema }>)[channel]!.schema;
}

const words = (text: string): string[] => text.trim().split(/\s+/).toSorted();

/** In every channel, unless it leaves one out. */
const COMMON = `enabled name capabilities markdown commands configWrites dmPolicy allowFrom groupPolicy groupAllowFrom groups historyLimit dmHistoryLimit dms
  textChunkLimit chunkMode blockStreaming blockStreamingCoalesce mediaMaxMb heartbeat responsePrefix`;
const GROUP = "requireMention enabled allowFrom skills systemPrompt tools toolsBySender";

test.each([
  {
    channel: "telegram",
    keys: `${COMMON} botToken tokenFile customCommands streamMode draftChunk replyToMode linkPreview timeoutSeconds retry network proxy apiRoot webhookUrl webhookSecret
      webhookPath webhookHost webhookPort actions reactionNotifications reactionLevel ackReaction`,
    besides: "accounts",
    group: `${GROUP} groupPolicy topics`,
  },
  {
    channel: "irc",
    keys: `${COMMON.replace("commands", "")} host port tls nick username realname password passwordFile sasl nickserv channels mentionPatterns flood
      dangerouslyAllowNameMatching`,
    besides: "accounts defaultAccount",
    group: GROUP,
  },
])("$channel takes these keys, in its section and in its accounts, and no others", ({ channel, keys, besides, group }) => {
  const schema = schemaOf(channel);
  expect(Object.keys(schema.properties).toSorted()).toEqual(words(`${keys} ${besides}`));
  const account = schema.properties["accounts"]!.additionalProperties;
  expect(Object.keys(account.properties).toSorted()).toEqual(words(keys));
  expect(Object.keys(schema.$defs["group"]!.properties).toSorted()).toEqual(words(group));
  for (const closed of [schema, account, schema.$defs["group"]!, schema.$defs["tools"]!]) expect(closed.additionalProperties).toBe(false);
});

import { expect, test } from "vitest";
import type { PluginDiagnostic } from "../record.ts";
import type { ChannelRegistration } from "./kinds.ts";
import { createLedger } from "./ledger.ts";
import { registerChannel } from "./parts.ts";
import { createTable } from "./table.ts";

function registered(plugin: object): readonly string[] {
  const messages: string[] = [];
  const ledger = createLedger({ pluginId: "p", source: "/p/index.ts", generation: 1, bundled: false }, (one: PluginDiagnostic) => messages.push(one.message));
  const scope = { bind: <F>(fn: F) => fn, bindTool: () => () => Promise.resolve() };
  const tell = (level: string, code: string, message: string): void => void messages.push(`${level} ${code}: ${message}`);
  registerChannel({ ledger, scope, tell, nextNumber: () => 1 }, createTable<ChannelRegistration>({ kind: "channel" }), { plugin });
  return messages;
}

test("a channel that brings members which nobody calls is named, with them", () => {
  const plugin = {
    id: "paper",
    heartbeat: { checkReady: () => ({}), resolveRecipients: () => ({}) },
    status: { logSelfId: () => {}, probeAccount: () => {} },
    commands: { skipWhenConfigEmpty: true },
  };
  expect(registered(plugin)).toEqual([
    "warn members-not-called: the channel paper has members that this version does not call: commands.skipWhenConfigEmpty, heartbeat.resolveRecipients, status.logSelfId",
  ]);
});

test("a channel without them is not", () => {
  expect(registered({ id: "paper", commands: { skipWhenConfigEmpty: false }, security: { resolveDmPolicy: () => null } })).toEqual([]);
});

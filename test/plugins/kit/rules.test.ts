import { expect, test } from "vitest";
import { createAccountReader, createChannelParts, type ChannelAccount, type ChannelPartsSpec } from "openclaw/plugin-sdk/channel-kit";
import { createDiscordPlugin } from "../../../plugins/discord/channel.ts";
import { createGoogleChatPlugin } from "../../../plugins/googlechat/channel.ts";
import { createSlackPlugin } from "../../../plugins/slack/channel.ts";
import type { ChannelPlugin } from "../../../src/protocol/index.ts";

const CREDENTIALS = [{ key: "token", label: "Token" }];
const accounts = createAccountReader<ChannelAccount>({ channel: "pager", credentials: CREDENTIALS, read: (account) => account, env: () => undefined });

function rulesOf(more: Partial<ChannelPartsSpec<ChannelAccount>> = {}) {
  const { status } = createChannelParts({
    channel: "pager",
    label: "Pager",
    credentials: CREDENTIALS,
    accounts,
    idLabel: "pagerId",
    normalizeEntry: (entry) => entry,
    isName: (entry) => !/^\d+$/.test(entry),
    nameAdvice: "Use numbers",
    ...more,
  });
  return async (pager: Record<string, unknown>, look: { programs?: string[]; reach?: (url: string) => Promise<{ status?: number; error?: string }> } = {}) => {
    const cfg = { channels: { pager } };
    const hasProgram = async (command: string) => look.programs?.includes(command) === true;
    const found = await status.examineAccount!({ account: accounts.read(cfg), cfg, hasProgram, reach: look.reach });
    return found.map(({ id, level, fix }) => [id, level, fix]);
  };
}

test("missing credentials, policies that let nobody in and names are reported, each with what to do", async () => {
  const rules = rulesOf();
  expect(await rules({ token: "t", allowFrom: ["5"] })).toEqual([]);
  expect(await rules({ allowFrom: ["5"] })).toEqual([["settings", "error", "openclaw channels add --channel pager"]]);
  expect(await rules({ token: "t", dmPolicy: "disabled", groupPolicy: "disabled" })).toEqual([
    ["nobody", "warn", "openclaw config set channels.pager.dmPolicy pairing"],
  ]);
  expect(await rules({ token: "t", dmPolicy: "allowlist", groups: { "1": {} } })).toEqual([
    ["direct", "warn", expect.stringContaining("channels.pager.allowFrom")],
    ["groups", "warn", expect.stringContaining("channels.pager.groupAllowFrom")],
  ]);
  expect(await rules({ token: "t", groups: { "1": { allowFrom: ["5"] } } })).toEqual([]);
  expect(await rulesOf({ groupsLetIn: true })({ token: "t", groups: { "1": {} } })).toEqual([]);
  expect(await rules({ token: "t", allowFrom: ["ada"] })).toEqual([["names", "warn", "Use numbers"]]);
});

test("names are found in every list of people that the channel declares", async () => {
  const spec: Partial<ChannelPartsSpec<ChannelAccount>> = { peopleLists: ["halls.*.users", "halls.*.corners.*.users"], nameAdvice: "Use numbers" };
  const halls = { "1": { users: ["7", "ada"], corners: { a: { users: ["*", "bob"] }, b: {} } }, "2": {} };
  expect(await rulesOf(spec)({ token: "t", halls })).toEqual([["names", "warn", "Use numbers"]]);
  expect(await rulesOf(spec)({ token: "t", halls: { "1": { users: ["7", 8] } } })).toEqual([]);
  expect(await rulesOf()({ token: "t", halls })).toEqual([]);
});

test.each([
  ["discord", createDiscordPlugin, { guilds: { "1": { users: ["ada"], channels: { "2": { users: ["bob", "3"] } } } } }],
  ["slack", createSlackPlugin, { channels: { C0123456789: { users: ["ada", "bob", "U0123456789"] } } }],
  ["googlechat", createGoogleChatPlugin, { groups: { "spaces/A": { users: ["ada", "bob", "users/3"] } } }],
])("doctor and status name the people whom %s lists by name in its groups", async (channel, create, section) => {
  using plugin = create() as unknown as ChannelPlugin & Disposable;
  const cfg = { channels: { [channel]: section } };
  const account = plugin.config.resolveAccount(cfg, "default");
  const found = await plugin.status!.examineAccount!({ account, cfg, hasProgram: async () => true });
  expect(found.filter(({ id }) => id === "names")).toMatchObject([{ message: expect.stringMatching(/match nobody: ada, bob$/) }]);
  const snapshot = await plugin.status!.buildAccountSnapshot!({ account, cfg });
  expect(plugin.status!.collectStatusIssues!([snapshot]).map(({ message }) => message)).toContainEqual(expect.stringMatching(/match nobody: ada, bob$/));
});

test("of two accounts with the same login the second is reported, unless one is off", async () => {
  const { status } = createChannelParts({
    channel: "pager",
    label: "Pager",
    credentials: CREDENTIALS,
    accounts,
    idLabel: "pagerId",
    normalizeEntry: (entry) => entry,
  });
  const twins = async (pager: Record<string, unknown>) => {
    const cfg = { channels: { pager: { allowFrom: ["5"], ...pager } } };
    const found = accounts
      .listAccountIds(cfg)
      .map(async (id) => status.examineAccount!({ account: accounts.read(cfg, id), cfg, hasProgram: async () => true }));
    return (await Promise.all(found)).flat().filter(({ id }) => id === "twin");
  };
  expect(await twins({ accounts: { home: { token: "a" }, work: { token: "b" } } })).toEqual([]);
  expect(await twins({ accounts: { home: { token: "a" }, work: { token: "a", enabled: false } } })).toEqual([]);
  expect(await twins({ accounts: { home: { token: "a" }, work: { token: "a" } } })).toEqual([
    {
      id: "twin",
      level: "warn",
      message: `the accounts "home" and "work" have the same Pager login: each message is answered twice, or one of them cannot connect`,
      fix: expect.stringContaining("openclaw config set channels.pager.accounts.work.enabled false") as string,
    },
  ]);
});

test("programs that are not there: an error where the account needs them, a note where it does not", async () => {
  const rules = rulesOf({
    programs: () => [
      { command: "pagerd", without: "nothing is sent", install: "install pagerd" },
      { command: "beeper", without: "it is silent", install: "install beeper", isOptional: true },
    ],
  });
  expect(await rules({ token: "t" }, { programs: ["pagerd", "beeper"] })).toEqual([]);
  expect(await rules({ token: "t" })).toEqual([
    ["program", "error", "install pagerd"],
    ["program", "info", "install beeper"],
  ]);
});

test("a webhook whose path is another one, or that nobody answers", async () => {
  const hooked = (url: string) => rulesOf({ webhook: () => ({ url, path: "/pager", setting: "channels.pager.url" }) });
  expect(await hooked("nowhere")({ token: "t" })).toMatchObject([["webhook", "error", expect.stringContaining("/pager")]]);
  expect(await hooked("https://x.example/other")({ token: "t" })).toMatchObject([["webhook", "warn", "Use the same path for both"]]);
  const rules = hooked("https://x.example/pager");
  expect(await rules({ token: "t" })).toEqual([]);
  for (const answer of [{ status: 404 }, { status: 502 }, { error: "refused" }])
    expect(await rules({ token: "t" }, { reach: async () => answer })).toMatchObject([["webhook", "warn", expect.stringContaining("gateway")]]);
  expect(await rules({ token: "t" }, { reach: async () => ({ status: 405 }) })).toEqual([]);
});

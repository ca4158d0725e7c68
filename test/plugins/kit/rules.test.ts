import { expect, test } from "vitest";
import { createAccountReader, createChannelParts, type ChannelAccount, type ChannelPartsSpec } from "openclaw/plugin-sdk/channel-kit";

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
  expect(await hooked("https://x.example/other")({ token: "t" })).toMatchObject([["webhook", "warn", "Let both be the same path"]]);
  const rules = hooked("https://x.example/pager");
  expect(await rules({ token: "t" })).toEqual([]);
  for (const answer of [{ status: 404 }, { status: 502 }, { error: "refused" }])
    expect(await rules({ token: "t" }, { reach: async () => answer })).toMatchObject([["webhook", "warn", expect.stringContaining("gateway")]]);
  expect(await rules({ token: "t" }, { reach: async () => ({ status: 405 }) })).toEqual([]);
});

/** Class 37: every command and button, by anyone who may write somewhere, and what it reaches. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { elevationRefusal, mayStillGrant, namedForElevated } from "../../src/tools/authority/caller-settings.ts";
import { ownersBy } from "../../src/channels/access/owners.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { COMMANDS } from "../../src/channels/index.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { createButtonSeal, withoutSeals } from "../../src/conversation/button-seal.ts";
import { setup } from "../../src/conversation/commands/commands.fixture.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { CommandPorts } from "../../src/conversation/index.ts";
import { METHODS, type ChannelInboundEvent, type SessionEntry } from "../../src/protocol/index.ts";
import { AUTHORITY, isSessionSandboxed } from "../../src/tools/index.ts";
import { isOwnerOnly } from "../../src/tools/policy/names.ts";
import { event, openPlace, type Place } from "../conversation/place.ts";

/** What an owner alone may do. Each text, if it is obeyed, leaves a line that fits. */
const POWERS: Readonly<Record<string, readonly (readonly [text: string, done: RegExp])[]>> = {
  exec: [
    ["/exec host=gateway security=full ask=off", /^patch .*"execSecurity":"full"/],
    ["/exec ask=off", /^patch .*"execAsk":"off"/],
    ["/exec host=node node=n1", /^patch .*"execNode":"n1"/],
  ],
  elevated: [["/elevated full", /^patch .*"elevatedLevel":"full"/]],
  tts: [
    ["/tts provider openai", /^speech \{"provider":"openai"\}/],
    ["/tts on", /^speech \{"auto":"always"\}/],
    ["/TTS OFF", /^speech \{"auto":"off"\}/],
    ["/tts limit 800", /^speech \{"maxLength":800\}/],
    ["/tts summary off", /^speech \{"summarize":false\}/],
  ],
  send: [["/send off", /^patch .*"sendPolicy":"deny"/]],
  config: [
    ["/config set tools.exec.security=full", /^edit /],
    ["/config unset tools.deny", /^edit /],
    ["/config show", /^shown/],
  ],
  debug: [["/debug set tools.exec.security=full", /^override /]],
  allowlist: [
    ["/allowlist add dm 666 channel=test", /^allowlist add/],
    ["/allowlist list channel=test", /^allowlist list/],
  ],
  restart: [["/restart", /^restart/]],
  bash: [
    ["/bash id", /^bash id/],
    ["! id", /^bash id/],
  ],
  approve: [
    ["/approve id1 allow-once", /^approve id1 allow-once/],
    ["/approve id1 allow-always", /^approve id1 allow-always/],
    ["/approve id1 deny", /^approve id1 deny/],
  ],
  remember: [["/remember the gate is open", /^remember the gate is open/]],
  forget: [["/forget the gate", /^forget the gate/]],
};

/** Commands that loosen nothing. One that is in neither list fails: add a new command here, with who may give it. */
const ORDINARY = new Set(
  [
    ["help", "commands", "status", "whoami", "context", "export-session", "trace", "stop", "new", "reset", "compact", "usage", "model", "models"],
    ["think", "verbose", "reasoning", "queue", "activation", "subagents", "kill", "steer", "skill"],
  ].flat(),
);

/** Who may write where: `closed` by a list or pairing, `open` for everybody. */
const CHANNELS = {
  test: {
    accounts: {
      closed: { dmPolicy: "pairing", groupPolicy: "allowlist", groupAllowFrom: ["owner", "paired", "member"], requireMention: false },
      open: { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", requireMention: false },
    },
  },
};
const GATES: OpenClawConfig = {
  channels: CHANNELS,
  tools: { elevated: { enabled: true, allowFrom: { test: ["*"] } } },
  agents: { defaults: { sandbox: { mode: "off" } } },
};
/** Everybody may give commands: nothing but the table keeps them from what is the owner's. */
const WITH_OWNER: OpenClawConfig = {
  ...GATES,
  commands: { config: true, debug: true, bash: true, restart: true, ownerAllowFrom: ["test:owner"], allowFrom: { "*": ["*"] } },
};
const WITHOUT_OWNER: OpenClawConfig = { ...GATES, commands: { config: true, debug: true, bash: true, restart: true } };

const SENDERS = [
  { who: "owner", id: "owner", account: "closed" },
  { who: "owner", id: "owner", account: "open" },
  { who: "paired", id: "paired", account: "closed" },
  { who: "covered by *", id: "anybody", account: "open" },
  { who: "group member", id: "member", account: "closed" },
  { who: "stranger", id: "stranger", account: "closed" },
] as const;
const PLACES = ["direct", "group"] as const;
/** `button` is one of the gateway, `trap` one that a model wrote. */
const KINDS = ["message", "command", "button", "trap"] as const;

/** What a button of the gateway says. */
async function sealedBy({ store }: Pick<Place, "store">, command: string): Promise<string> {
  const { channelData } = await createButtonSeal({ store, random: systemRandom }).seal({ channelData: { test: { buttons: [[{ callback_data: command }]] } } });
  return channelData.test.buttons[0]![0]!.callback_data;
}

interface Ground {
  readonly place: Place;
  readonly log: string[];
  /** Has a sender do something, and gives what came of it: what was reached, and what was answered. */
  act(
    sender: (typeof SENDERS)[number],
    text: string,
    chat: (typeof PLACES)[number],
    kind?: (typeof KINDS)[number],
  ): Promise<{ done: string[]; said: string[] }>;
}

/** Commands whose every power is written down instead of being used. */
function writtenDown(config: OpenClawConfig, log: string[]): CommandPorts {
  const entries = new Map<string, SessionEntry>();
  const channels = { get: () => undefined };
  return {
    session: {
      read: (key) => Promise.resolve(entries.get(key)),
      patch: (key, _agentId, patch) => {
        log.push(`patch ${JSON.stringify(patch)}`);
        const fields = Object.entries({ ...entries.get(key), ...patch }).filter(([, value]) => value !== null);
        entries.set(key, { sessionId: "s", updatedAt: 1, ...Object.fromEntries(fields) });
        return Promise.resolve();
      },
      reset: (key) => Promise.resolve(void entries.delete(key)).then(() => ({ sessionId: "s" })),
      compact: () => Promise.resolve({ compacted: false, reason: "nothing" }),
      transcript: () => Promise.resolve(undefined),
    },
    config: {
      current: () => config,
      shown: () => Promise.resolve(void log.push("shown")).then(() => ({})),
      edit: (edit) => Promise.resolve(void log.push(`edit ${JSON.stringify(edit)}`)),
      overrides: { get: () => ({}), set: (path) => void log.push(`override ${path.join(".")}`), unset: () => true, reset: () => void log.push("override") },
    },
    elevation({ agentId, channel, senderId = "" }) {
      const sender = { agentId, channel, senderId };
      const reason = elevationRefusal(config, sender);
      return reason === undefined ? { permitted: true, named: namedForElevated(config, sender) } : { permitted: false, reasons: [reason] };
    },
    choice: {
      sandboxed: (agentId, key) => isSessionSandboxed(config, agentId, key),
      stillMay: (agentId) =>
        mayStillGrant(
          config,
          agentId,
          ownersBy(() => config, channels),
        ),
    },
    memory: {
      shown: new Map(),
      remember: (_agentId, text) => Promise.resolve(void log.push(`remember ${text.trim()}`)).then(() => ({ path: "memory/today.md", line: 1 })),
      forget: (_agentId, { text }) =>
        Promise.resolve(void log.push(`forget ${text}`)).then(
          () => ({ items: [], copies: 0, plan: "p", removed: false, match: "phrase", truncated: false, outOfReach: [] }) as never,
        ),
    },
    voice: () =>
      Promise.resolve({
        status: () => Promise.resolve({ auto: "off", maxLength: 1500, summarize: true, order: ["local"], prefsPath: "", speakers: [] }),
        change: (preferences: object) => void log.push(`speech ${JSON.stringify(preferences)}`),
      } as never),
    restart: (reason) => (log.push(`restart ${reason}`), "now"),
    approvals: { resolve: (id, decision) => Promise.resolve(void log.push(`approve ${id} ${decision}`)) },
    bash: {
      run: (_call, command) => Promise.resolve(void log.push(`bash ${command}`)).then(() => "ran"),
      poll: () => Promise.resolve(""),
      stop: () => Promise.resolve(""),
    },
    allowlist: {
      channels: () => ["test"],
      list: () => Promise.resolve(void log.push("allowlist list")).then(() => ({ dm: [], group: [], store: [] })),
      change: (_place, { action, entry }) => Promise.resolve(void log.push(`allowlist ${action} ${entry}`)).then(() => ({ changed: ["config"], known: [] })),
    },
  } as Partial<CommandPorts> as CommandPorts;
}

/** Nothing that came in waits, and nothing that shall go out. */
async function settled({ store, quiet }: Place): Promise<void> {
  const isOpen = async (): Promise<boolean> => {
    const [inbox, { pending, attempting }] = await Promise.all([store.read("inbox.open", { limit: 1 }), store.read("outbox.counts", {})]);
    return inbox.length > 0 || pending + attempting > 0;
  };
  while (await isOpen()) await new Promise(setImmediate);
  await quiet();
}

async function openGround(config: OpenClawConfig): Promise<Ground> {
  const log: string[] = [];
  const { commands } = setup({ config, ports: writtenDown(config, log) });
  let ahead = 0;
  // A minute passes between two messages: how much one sender may write is not what is tried here.
  const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  const place = await openPlace(config, { commands, clock });
  for (const senderId of ["owner", "paired"]) await place.pairing.allow({ channel: "test", accountId: "closed", senderId });
  await place.allowLists.load();
  return {
    place,
    log,
    async act({ id, account }, text, chat, kind = "message") {
      const to = chat === "direct" ? id : "g1";
      const over: Partial<ChannelInboundEvent> = {
        kind: kind === "trap" ? "button" : kind,
        to,
        sender: { id },
        chat: { type: chat, id: to },
        mention: { mentioned: true, canDetect: true },
      };
      ahead += 60_000;
      const [logged, sent] = [log.length, place.sent.length];
      const said = kind === "button" ? await sealedBy(place, text) : text;
      await place.conversation.inbound("test", account).accept(event(said, over));
      await settled(place);
      return { done: log.slice(logged), said: place.sent.slice(sent).map((message) => message.text) };
    },
  };
}

test("37: every command is either the owner's or loosens nothing, and stands in the table of authority", () => {
  const known = COMMANDS.map(({ names: [name] }) => name);
  expect(known.filter((name) => !(name in POWERS) && !ORDINARY.has(name))).toEqual([]);
  expect(known.filter((name) => name in POWERS && ORDINARY.has(name))).toEqual([]);
  expect(Object.keys(AUTHORITY.command).toSorted()).toEqual(known.toSorted());
  expect(Object.keys(POWERS).filter((name) => AUTHORITY.command[name as keyof typeof AUTHORITY.command] === "talk")).toEqual([]);
});

test("37: methods that loosen execution declare the scope that the table asks for", () => {
  const declared = Object.keys(AUTHORITY.method).map((name) => [name, METHODS[name as keyof typeof METHODS].access]);
  expect(Object.fromEntries(declared)).toEqual({
    "sessions.patch": "operator.admin",
    "config.set": "operator.admin",
    "config.patch": "operator.admin",
    "config.apply": "operator.admin",
    "config.restore": "operator.admin",
    "exec.approvals.set": "operator.admin",
    "exec.approvals.node.set": "operator.admin",
    "exec.approvals.forget": "operator.admin",
    "exec.approvals.restore": "operator.admin",
    "exec.approval.resolve": "operator.approvals",
    // What makes a sender an owner is asked for separately: `owner` of the call.
    "channels.pairing.approve": "operator.pairing",
    "channels.pairing.owner": "operator.admin",
  });
  const writing = Object.keys(METHODS).filter((name) => /^(?:config|exec\.approvals)\./.test(name) && METHODS[name as keyof typeof METHODS].effect);
  expect(writing.filter((name) => !(name in AUTHORITY.method))).toEqual([]);
});

test("37: tools that loosen execution are declared as the table asks", () => {
  for (const [name, need] of Object.entries(AUTHORITY.tool)) expect([name, need, isOwnerOnly({ name })]).toEqual([name, "owner", true]);
});

describe("37: where there is an owner and everybody may give commands", () => {
  let ground: Ground;
  beforeAll(async () => void (ground = await openGround(WITH_OWNER)));
  afterAll(() => ground.place[Symbol.asyncDispose]());

  const cells = SENDERS.flatMap((sender) => PLACES.flatMap((chat) => KINDS.map((kind) => [sender.who, sender.account, chat, kind, sender] as const)));
  test.each(cells)("%s (%s), %s, as a %s", async (who, _account, chat, kind, sender) => {
    for (const [name, tries] of Object.entries(POWERS)) {
      for (const [text, pattern] of tries) {
        const { done } = await ground.act(sender, text, chat, kind);
        const reached = done.some((line) => pattern.test(line));
        // Only commands have buttons of the gateway.
        const obeyed = who === "owner" && kind !== "trap" && (kind !== "button" || text.startsWith("/"));
        expect([name, text, reached]).toEqual([name, text, obeyed]);
        if (!obeyed) expect([text, done]).toEqual([text, []]);
      }
    }
  });

  test("anyone who may talk may narrow, and only an owner widens again", async () => {
    const [owner, , paired] = SENDERS;
    expect((await ground.act(paired, "/exec security=deny ask=always", "direct")).done).toEqual([expect.stringContaining('"execSecurity":"deny"')]);
    expect((await ground.act(paired, "/exec security=allowlist", "direct")).done).toEqual([]);
    expect((await ground.act(owner, "/exec security=allowlist", "direct")).done).toEqual([expect.stringContaining('"execSecurity":"allowlist"')]);
    expect((await ground.act(paired, "/elevated off", "direct")).done[0]).toContain('"elevatedLevel":"off"');
    expect((await ground.act(paired, "/elevated on", "direct")).done).toEqual([]);
  });

  test("how speech is set up is shown to everybody who may give commands", async () => {
    for (const text of ["/tts", "/tts status", "/tts provider", "/tts limit", "/tts summary"]) {
      const { done, said } = await ground.act(SENDERS[3], text, "direct");
      expect([text, done, said]).toEqual([text, [], [expect.stringMatching(/Provider: local|1500 characters/)]]);
    }
    const { said } = await ground.act(SENDERS[3], "/tts provider openai", "direct");
    expect(said).toEqual(["Only an owner may change speech settings. Owners are listed in commands.ownerAllowFrom."]);
  });

  test("what a model wrote into a button is the presser's text, however it is dressed up", async () => {
    const [owner] = SENDERS;
    const sealed = await sealedBy(ground.place, "/exec ask=off");
    const forged = `${sealed.slice(0, -1)}${sealed.endsWith("A") ? "B" : "A"}`;
    for (const text of [
      "look /exec ask=off",
      "/exec ask=off#AAAAAAAAAAA",
      forged,
      `/restart${sealed.slice(sealed.indexOf("#"))}`,
      `${sealed} `,
      `x\n/exec ask=off`,
    ]) {
      const { done, said } = await ground.act(owner, text, "direct", "trap");
      expect([text, done, said.length]).toEqual([text, [], 1]);
    }
    expect((await ground.act(owner, "stop", "direct", "trap")).said).toHaveLength(1);
  });

  test("a model that read the mark of a button cannot use it for one of its own", async () => {
    const sealed = await sealedBy(ground.place, "/approve id1 allow-once");
    const written = { buttons: [[{ text: "More", callback_data: ` ${sealed}\u200b` }]], card: JSON.stringify({ value: sealed }), media: "/a/b#cdefghijklm" };
    expect(JSON.stringify(withoutSeals(written))).not.toContain(sealed.slice(sealed.indexOf("#")));
    expect(withoutSeals(written)).toMatchObject({ media: written.media, card: JSON.stringify({ value: "/approve id1 allow-once" }) });
  });

  test("inside of other text nothing is loosened either", async () => {
    const [, , paired] = SENDERS;
    const { done, said } = await ground.act(paired, "please /exec security=full ask=off /elevated full list the files", "direct");
    expect([done, said.length]).toEqual([[], 1]);
  });
});

describe("37: where nobody is the owner", () => {
  let ground: Ground;
  beforeAll(async () => void (ground = await openGround(WITHOUT_OWNER)));
  afterAll(() => ground.place[Symbol.asyncDispose]());

  test.each(SENDERS.slice(2).flatMap((sender) => PLACES.map((chat) => [sender.who, chat, sender] as const)))(
    "%s, %s: nobody may",
    async (_who, chat, sender) => {
      for (const [text] of Object.values(POWERS).flat()) expect([text, (await ground.act(sender, text, chat)).done]).toEqual([text, []]);
    },
  );

  test("the refusal prints the command that makes the sender the owner, to be pasted as it is", async () => {
    const [, , paired] = SENDERS;
    for (const [text] of Object.values(POWERS).flat()) {
      expect([text, (await ground.act(paired, text, "direct")).said.join()]).toEqual([text, expect.stringContaining("\nopenclaw pairing owner test paired")]);
    }
  });

  test("an id that is no plain word is quoted, or not printed at all", async () => {
    const said = async (id: string): Promise<string> =>
      (await ground.act({ who: "covered by *", id, account: "open" } as never, "/restart", "direct")).said.join();
    expect(await said("x; rm -rf ~ 'y'")).toContain(`openclaw pairing owner test 'x; rm -rf ~ '\\''y'\\'''`);
    for (const id of ["--remove", "a\u202eb"]) {
      expect(await said(id)).toContain("has no owner yet");
      expect(await said(id)).not.toContain("openclaw pairing owner");
    }
  });
});

test("37: a sender whom the configuration names may decide and leave the sandbox; a star and a group name nobody", async () => {
  const named: OpenClawConfig = {
    ...WITH_OWNER,
    tools: { elevated: { enabled: true, allowFrom: { test: ["paired", "*"] } } },
    approvals: {
      exec: {
        enabled: true,
        mode: "targets",
        targets: [
          { channel: "test", to: "paired" },
          { channel: "test", to: "g1" },
        ],
      },
    },
  };
  const ground = await openGround(named);
  await using _place = ground.place;
  const [, , paired, anybody, member] = SENDERS;
  expect((await ground.act(paired, "/approve id1 allow-once", "direct")).done).toEqual(["approve id1 allow-once"]);
  expect((await ground.act(paired, "/elevated full", "direct")).done).toHaveLength(1);
  expect((await ground.act(paired, "/bash id", "direct")).done).toEqual(["bash id"]);
  expect((await ground.act(paired, "/exec ask=off", "direct")).done).toEqual([]);
  expect((await ground.act(paired, "/approve id1 allow-once", "group")).done).toEqual([]);
  for (const sender of [anybody, member]) {
    for (const text of ["/approve id1 allow-once", "/elevated full", "/bash id"]) {
      expect([text, (await ground.act(sender, text, "group")).done]).toEqual([text, []]);
    }
  }
});

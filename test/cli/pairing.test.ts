import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createPairing, type PairedSender, type Pairing } from "../../src/channels/index.ts";
import { pairing as command } from "../../src/cli/commands/groups.ts";
import { channelPairingHandlers } from "../../src/gateway/methods/channels-pairing.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { startGateway } from "../gateway/start.ts";
import { CONNECT, openClient } from "../harness/gateway-client.ts";
import { runCommand } from "../harness/command-line.ts";

let home: string;
let state: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "pairing-cli-"));
  state = join(home, "state");
  writeFileSync(join(home, "openclaw.json"), '{ channels: { telegram: { botToken: "1:x" } } }');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const make = (store: Store): Pairing => createPairing({ store, clock: systemClock, random: systemRandom, ids: createIds(systemRandom) });

const place = () => ({ env: { HOME: home, OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: join(home, "openclaw.json") }, cwd: home });

function run(...args: string[]) {
  return runCommand<{ channel: string | null; requests: Record<string, unknown>[]; notified?: boolean }>("pairing", command, args, place());
}

/** A sender who waits in the state folder. */
async function waiting(senderId = "7", accountId = "default"): Promise<string> {
  await using store = await openStore({ stateDir: state, clock: systemClock });
  const meta = { name: "An\u001b[31mna" };
  return (await make(store).request({ channel: "telegram", accountId, senderId, meta })).code;
}

async function allowed(accountId = "default"): Promise<readonly string[]> {
  await using store = await openStore({ stateDir: state, clock: systemClock });
  return make(store).allowed("telegram", accountId);
}

describe("while no gateway runs", () => {
  test("who waits is listed for people and machines", async () => {
    const code = await waiting();
    const shown = await run("list", "telegram");
    expect(shown.out).toContain(code);
    expect(shown.out).not.toContain("\u001b");
    const { channel, requests } = (await run("list", "telegram", "--json")).json();
    expect(channel).toBe("telegram");
    expect(requests).toMatchObject([{ id: "7", code, channel: "telegram", accountId: "default", createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string }]);
    expect((await run("list", "telegram", "--account", "work", "--json")).json().requests).toEqual([]);
    expect((await run("list", "irc")).out).toBe("No pending requests\n");
    expect((await run("list", "--json")).json()).toMatchObject({ channel: null, requests: [{ id: "7" }] });
  });

  test("who may write is listed with who says so, and who was let in can be removed", async () => {
    writeFileSync(join(home, "openclaw.json"), '{ channels: { telegram: { botToken: "1:x", allowFrom: ["*", 11] } } }');
    const code = await waiting();
    await run("approve", "telegram", code);
    const shown = await run("allowed", "telegram");
    expect(shown.out).toMatch(/7\s+pairing/);
    expect(shown.out).toMatch(/everybody\s+channels\.telegram\.allowFrom/);
    const { senders } = (await run("allowed", "--json")).json() as unknown as { senders: readonly object[] };
    expect(senders).toMatchObject([
      { id: "7", source: "pairing" },
      { id: "*", source: "config" },
      { id: "11", path: "channels.telegram.allowFrom" },
    ]);
    const gone = await run("revoke", "telegram", "7");
    expect(gone).toMatchObject({ code: 0, out: 'Revoked "7" on telegram, account default\n' });
    expect(gone.err).toContain("channels.telegram.allowFrom in the configuration still allows this sender");
    expect(await allowed()).toEqual([]);
    expect((await run("revoke", "telegram", "7")).code).toBe(1);
    expect((await run("revoke", "telegram")).err).toContain("expected a channel and a sender id");
  });

  test("a code is approved once, as people type it", async () => {
    const code = await waiting();
    expect(await run("approve", "telegram", ` ${code.toLowerCase()} `)).toMatchObject({ code: 0, out: 'Approved "7" on telegram, account default\n' });
    expect(await allowed()).toEqual(["7"]);
    const again = await run("approve", "telegram", code);
    expect(again.code).not.toBe(0);
    expect(again.err).toContain("no pending request on telegram");
  });

  test("a code alone finds its channel; an account that does not fit finds nothing", async () => {
    const code = await waiting("7", "work");
    expect((await run("approve", code, "--account", "default")).code).not.toBe(0);
    expect((await run("approve", code, "--account", "work")).code).toBe(0);
    expect(await allowed("work")).toEqual(["7"]);
    expect(await allowed("default")).toEqual([]);
  });

  test("nobody can be notified", async () => {
    const code = await waiting();
    const done = await run("approve", "--channel", "telegram", code, "--notify", "--json");
    expect(done.json().notified).toBe(false);
    expect(done.err).toContain("The sender was not notified");
  });

  test("the first who is let in is offered to be the owner: by a flag, or by the command that is printed", async () => {
    const owners = () => (run("owner", "--json") as Promise<{ json(): unknown }>).then(({ json }) => json());
    const hinted = await run("approve", "telegram", await waiting());
    expect(hinted.err).toContain("This gateway has no owner. To make telegram:7 the owner, run:\n  openclaw pairing owner telegram 7\n");
    expect(await owners()).toEqual({ owners: [] });
    expect((await run("owner")).out).toContain("No owner");
    expect((await run("approve", "telegram", await waiting("8"), "--owner")).out).toBe('Approved "8" on telegram, account default, as an owner\n');
    expect(await owners()).toEqual({ owners: [{ path: "commands.ownerAllowFrom", entries: ["telegram:8"] }] });
    expect((await run("approve", "telegram", await waiting("9"))).err).toBe("");
    expect((await run("owner", "Telegram", "7")).out).toBe("commands.ownerAllowFrom: telegram:8, telegram:7\n");
    expect((await run("owner", "telegram", "7")).out).toBe("commands.ownerAllowFrom: telegram:8, telegram:7\n");
    expect((await run("owner", "telegram", "8", "--remove")).out).toBe("commands.ownerAllowFrom: telegram:7\n");
    expect((await run("owner", "telegram", "7", "--remove")).out).toContain("No owner");
    for (const args of [["telegram"], ["telegram", "*"], ["--remove"], ["a", "b", "c"]]) expect((await run("owner", ...args)).code).not.toBe(0);
  });

  test("on a terminal the role is asked for; no leaves everything as it was", async () => {
    const asked: string[] = [];
    const answer = (yes: boolean) => ({ interactive: true, confirm: (question: string) => Promise.resolve(asked.push(question) > 0 && yes) });
    const no = await runCommand("pairing", command, ["approve", "telegram", await waiting()], { ...place(), ...answer(false) });
    expect(no.err).toContain("openclaw pairing owner telegram 7");
    const yes = await runCommand("pairing", command, ["approve", "telegram", await waiting("8")], { ...place(), ...answer(true) });
    expect(yes.out).toContain("telegram:8 is now the owner");
    await runCommand("pairing", command, ["approve", "telegram", await waiting("9")], { ...place(), ...answer(true) });
    expect(asked).toEqual(["Make telegram:7 the owner?", "Make telegram:8 the owner?"]);
    expect((await run("owner")).out).toBe("commands.ownerAllowFrom: telegram:8\n");
  });

  test("an owner by another list is reported when the first is named", async () => {
    writeFileSync(join(home, "openclaw.json"), '{ channels: { telegram: { botToken: "1:x", allowFrom: [11, "*"] } } }');
    expect((await run("owner")).out).toBe("channels.telegram.allowFrom: 11\n");
    const named = await run("owner", "telegram", "7");
    expect(named.err).toContain("channels.telegram.allowFrom were owners");
  });

  test("who is turned away is not in", async () => {
    const code = await waiting();
    expect((await run("reject", "telegram", code)).out).toBe('Rejected "7" on telegram, account default\n');
    expect(await allowed()).toEqual([]);
    expect((await run("list")).out).toBe("No pending requests\n");
  });

  test("lists of an earlier system are there", async () => {
    mkdirSync(join(state, "credentials"), { recursive: true });
    writeFileSync(join(state, "credentials", "telegram-allowFrom.json"), JSON.stringify({ version: 1, allowFrom: ["5"] }));
    expect((await run("list")).out).toBe("No pending requests\n");
    expect(await allowed()).toEqual(["5"]);
  });

  test("a folder without state is not made, and says what to do", async () => {
    const answer = await run("list");
    expect(answer.code).not.toBe(0);
    expect(answer.err).toContain("start the gateway first");
  });

  test.each([[["approve"]], [["approve", "telegram", "A", "B"]], [["list", "a", "b"]]])("%j says what was expected", async (args) => {
    mkdirSync(state);
    const answer = await run(...args);
    expect(answer.code).not.toBe(0);
    expect(answer.err).toContain("expected");
  });
});

describe("over a gateway", () => {
  async function start(notify?: (sender: PairedSender) => Promise<boolean>) {
    let own: Pairing | undefined;
    const port: Pick<Pairing, "list" | "approve" | "reject"> = {
      list: (filter) => own!.list(filter),
      approve: (...args) => own!.approve(...args),
      reject: (...args) => own!.reject(...args),
    };
    const started = await startGateway({ handlers: () => channelPairingHandlers({ pairing: port, ...(notify ? { notify } : {}) }) });
    own = make(started.store);
    const flags = ["--url", started.gateway.url.replace(/^http/, "ws"), "--token", "t"];
    return { started, own, flags, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
  }

  test("it is listed, approved and notified there", async () => {
    const notified: PairedSender[] = [];
    await using gateway = await start(async (sender) => notified.push(sender) > 0);
    const { code } = await gateway.own.request({ channel: "telegram", accountId: "work", senderId: "7", meta: { name: "Anna" } });
    expect((await run("list", "telegram", "--json", ...gateway.flags)).json().requests).toMatchObject([
      { id: "7", code, accountId: "work", meta: { name: "Anna" } },
    ]);
    expect((await run("approve", code, "--notify", "--json", ...gateway.flags)).json()).toMatchObject({ senderId: "7", accountId: "work", notified: true });
    expect(notified).toMatchObject([{ channel: "telegram", accountId: "work", senderId: "7" }]);
    expect(await gateway.own.allowed("telegram", "work")).toEqual(["7"]);
    expect((await run("approve", "telegram", code, ...gateway.flags)).code).not.toBe(0);
  });

  test("it is turned away there", async () => {
    await using gateway = await start();
    const { code } = await gateway.own.request({ channel: "telegram", accountId: "work", senderId: "7" });
    expect((await run("reject", "telegram", code, ...gateway.flags)).code).toBe(0);
    expect(await gateway.own.list()).toEqual([]);
  });

  test("it needs the scope for pairing", async () => {
    await using gateway = await start();
    await using client = await openClient(gateway.started.gateway.url);
    await client.connect({ ...CONNECT, scopes: ["operator.read", "operator.write"] });
    for (const [method, params] of [
      ["channels.pairing.list", {}],
      ["channels.pairing.approve", { channel: "telegram", code: "ABCD2345" }],
      ["channels.pairing.reject", { channel: "telegram", code: "ABCD2345" }],
      ["channels.pairing.allowed", {}],
      ["channels.pairing.revoke", { channel: "telegram", senderId: "7" }],
    ] as const) {
      expect((await client.request(method, params)).error?.message).toContain("missing scope: operator.pairing");
    }
  });
});

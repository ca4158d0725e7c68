import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startPerson, type Heard, type Person } from "../../test/fakes/irc/person.ts";
import { startRelay, type Relay } from "../../test/fakes/irc/relay.ts";
import { startNgircd, type Ngircd, type NgircdOptions } from "../../test/fakes/ngircd.ts";
import { needNgircd } from "../../test/harness/privileges.ts";
import { runAccount, type RunningAccount, type RunOptions } from "./testing.ts";

let stack: AsyncDisposableStack;
beforeEach((context) => {
  needNgircd(context);
  stack = new AsyncDisposableStack();
});
afterEach(() => stack?.disposeAsync());

const server = async (options?: NgircdOptions): Promise<Ngircd> => stack.use(await startNgircd(options));
const person = async ({ port, ca }: Pick<Ngircd, "port" | "ca">, nick: string, password?: string): Promise<Person> =>
  stack.use(await startPerson({ port, nick, ca, ...(password === undefined ? {} : { password }) }));

/** The account `claw`, on the server. */
function account({ host, port, ca }: Ngircd, config: Record<string, unknown> = {}, options: Partial<RunOptions> = {}): RunningAccount {
  return stack.use(
    runAccount({ config: { host, port, tls: ca !== undefined, nick: "claw", flood: { burst: 100, intervalMs: 1 }, ...config }, ca, ...options }),
  );
}
const isConnected = (irc: RunningAccount): Promise<void> => irc.shows(({ connected }) => connected === true);

const relay = async (to: number): Promise<Relay> => stack.use(await startRelay(to));

describe("messages", () => {
  test("a private message comes in, and an answer goes out", async () => {
    const irc = await server();
    const claw = account(irc);
    await isConnected(claw);
    const ada = await person(irc, "Ada");
    ada.say("claw", "good \u0002morning\u0002 \u000304,12claw\u000f");
    const event = await claw.event(() => true);
    expect(event).toMatchObject({
      kind: "message",
      text: "good morning claw",
      to: "Ada",
      chat: { type: "direct", id: "ada" },
      sender: { id: "ada!~ada@127.0.0.1", otherIds: ["ada@127.0.0.1"], name: "Ada", username: "Ada" },
    });
    expect(event.mention).toBeUndefined();
    expect(await claw.send(event.to, "good morning")).toMatchObject({ channel: "irc", chatId: "Ada" });
    await ada.settled();
    expect(ada.texts("claw")).toEqual(["good morning"]);
  });

  test("in a channel the bot is named by its nick as a word, and answers there", async () => {
    const irc = await server();
    const claw = account(irc, { channels: ["#Help"], mentionPatterns: ["\\bbot\\b", "("], groups: { "#help": { systemPrompt: "Be brief.", skills: ["a"] } } });
    await claw.isIn("#Help");
    const ada = await person(irc, "ada");
    await ada.join("#help");
    const texts = ["claw: one", "two, Claw?", "three clawed", "four claw_", "five bot"];
    for (const text of texts) ada.say("#help", text);
    await claw.event(({ text }) => text === "five bot");
    expect(claw.events.map(({ text, mention }) => [text, mention?.mentioned])).toEqual([
      ["claw: one", true],
      ["two, Claw?", true],
      ["three clawed", false],
      ["four claw_", false],
      ["five bot", true],
    ]);
    expect(claw.events[0]).toMatchObject({
      chat: { type: "group", id: "#help", channelName: "#Help" },
      to: "#Help",
      groupSystemPrompt: "Be brief.",
      skillFilter: ["a"],
      mention: { botUsername: "claw" },
    });
    await claw.send("#help", "here");
    await ada.settled();
    expect(ada.texts("claw", "#help")).toEqual(["here"]);
  });

  test("the same text twice is two messages; an action is reported; what is no message is not", async () => {
    const irc = await server();
    const claw = account(irc);
    await isConnected(claw);
    const ada = await person(irc, "ada");
    ada.say("claw", "yes");
    ada.say("claw", "yes");
    ada.write("NOTICE claw :do not answer");
    ada.say("claw", "\u0001ACTION waves\u0001");
    ada.say("claw", "\u0001VERSION\u0001");
    ada.say("claw", "\u0001DCC SEND x 1 2 3\u0001");
    ada.say("claw", "\u0002\u000f");
    ada.say("claw", "end");
    await claw.event(({ text }) => text === "end");
    expect(claw.events.map(({ text }) => text)).toEqual(["yes", "yes", "* ada waves", "end"]);
    expect(new Set(claw.events.map(({ id }) => id)).size).toBe(4);
    const notice = await ada.hears(({ command, from }) => command === "NOTICE" && from.startsWith("claw!"), "the version");
    expect(notice.params).toEqual(["ada", "\u0001VERSION OpenClaw\u0001"]);
  });

  test("what the host does not take now is offered again, in order", async () => {
    const irc = await server();
    let refusals = 3;
    const claw = account(
      irc,
      {},
      { accept: async () => (refusals-- > 0 ? Promise.reject(Object.assign(new Error("full"), { code: "OVERLOADED" })) : undefined) },
    );
    await isConnected(claw);
    const ada = await person(irc, "ada");
    for (const text of ["1", "2", "3"]) ada.say("claw", text);
    await claw.event(({ text }) => text === "3");
    expect(claw.events.map(({ text }) => text)).toEqual(["1", "2", "3"]);
  });
});

describe("sending", () => {
  test("a long text comes whole and in order, and no line is cut by the server", async () => {
    const irc = await server();
    const claw = account(irc, { nick: "claw-with-a-very-long-nickname", username: "clawclaw", channels: ["#a-channel-with-a-rather-long-name-as-well"] });
    await claw.isIn("#a-channel-with-a-rather-long-name-as-well");
    const ada = await person(irc, "ada");
    await ada.join("#a-channel-with-a-rather-long-name-as-well");
    const words = Array.from({ length: 400 }, (_, n) => `слово${n}🎉`);
    const pieces = claw.channel.outbound!.chunker!(words.join(" "), 350);
    for (const piece of pieces) await claw.send("#a-channel-with-a-rather-long-name-as-well", piece);
    await ada.settled();
    const lines = ada.heard.filter(({ command }) => command === "PRIVMSG");
    expect(lines.flatMap(({ params }) => params[1]!.split(" "))).toEqual(words);
    for (const { raw } of lines) expect(Buffer.byteLength(raw) + 2).toBeLessThanOrEqual(512);
    for (const { params } of lines) expect(Buffer.byteLength(params[1]!)).toBeLessThanOrEqual(350);
  });

  test("nothing in a text or a target becomes a command", async () => {
    const irc = await server();
    const claw = account(irc, { channels: ["#x"] });
    await claw.isIn("#x");
    const ada = await person(irc, "ada");
    await ada.join("#x");
    await claw.send("ada", "one\r\nQUIT :bye\n\0PART #x\u0001VERSION\u0001\u2028JOIN #y");
    await ada.settled();
    expect(ada.texts("claw")).toEqual(["one", "QUIT :bye", "PART #xVERSION", "JOIN #y"]);
    for (const to of ["ada\r\nQUIT", "ada,#x", "ada :hello", "", "*", ":x"]) {
      await expect(claw.send(to, "hello"), to).rejects.toMatchObject({ delivery: { state: "failed" }, code: "INVALID_INPUT" });
    }
    await claw.send("ada", "still here");
    await ada.settled();
    expect(ada.heard.some(({ command, from }) => command === "PART" && from.startsWith("claw!"))).toBe(false);
    await ada.settled();
    expect(ada.texts("claw").at(-1)).toBe("still here");
  });

  test("a message that the server refuses has failed", async () => {
    const irc = await server();
    const claw = account(irc, { channels: ["#x"] });
    await claw.isIn("#x");
    const ada = await person(irc, "ada");
    await ada.join("#shut");
    ada.write("MODE #shut +n");
    await ada.hears(({ command, params }) => command === "MODE" && params.join(" ") === "#shut +n", "the mode");
    await expect(claw.send("nobody", "hello")).rejects.toMatchObject({ code: "IRC_401", delivery: { state: "failed" } });
    await expect(claw.send("#nowhere", "hello")).rejects.toMatchObject({ delivery: { state: "failed" } });
    await expect(claw.send("#shut", "hello")).rejects.toMatchObject({ code: "IRC_404", delivery: { state: "failed" } });
    await claw.send("ada", "fine");
    await ada.settled();
    expect(ada.texts("claw")).toEqual(["fine"]);
  });

  test("without a connection it is tried later; when one breaks before the server has it, nobody knows", async () => {
    const irc = await server();
    const gate = await relay(irc.port);
    const claw = account({ ...irc, port: gate.port });
    await expect(claw.send("ada", "too early")).rejects.toMatchObject({ delivery: { state: "retry" } });
    await isConnected(claw);
    gate.freeze();
    const sending = claw.send("ada", "into the dark");
    setImmediate(() => gate.cut());
    await expect(sending).rejects.toMatchObject({ delivery: { state: "unknown" } });
  });

  test("lines go out no faster than is allowed", async () => {
    const irc = await server();
    const claw = account(irc, { flood: { burst: 3, intervalMs: 40_000 } });
    await isConnected(claw);
    const ada = await person(irc, "ada");
    const before = claw.delays.length;
    for (const n of [1, 2, 3]) await claw.send("ada", String(n));
    expect(claw.delays.slice(before).filter((ms) => ms <= 40_000)).toEqual([]);
    await claw.send("ada", "4");
    const pauses = claw.delays.slice(before).filter((ms) => ms <= 40_000);
    expect(pauses).toHaveLength(1);
    expect(pauses[0]).toBeGreaterThan(30_000);
    await ada.settled();
    expect(ada.texts("claw")).toEqual(["1", "2", "3", "4"]);
  });
});

describe("the connection", () => {
  test("a nick that is taken gets a tail, and is got back when it is free", async () => {
    const irc = await server();
    const other = await person(irc, "claw");
    await other.join("#x");
    const claw = account(irc, { channels: ["#x"] });
    await claw.isIn("#x");
    expect(claw.status.bot).toEqual({ nick: "claw_" });
    const ada = await person(irc, "ada");
    await ada.join("#x");
    ada.say("#x", "claw_: hello");
    ada.say("#x", "claw: hello");
    await claw.event(({ text }) => text === "claw: hello");
    expect(claw.events.map(({ mention }) => mention?.mentioned)).toEqual([true, true]);
    other.write("QUIT");
    await ada.hears(({ command, from, params }) => command === "NICK" && from.startsWith("claw_!") && params[0] === "claw", "the nick");
    await claw.send("ada", "it is me");
    await ada.settled();
    expect(ada.texts("claw")).toEqual(["it is me"]);
  });

  test("also where the server takes short names only", async () => {
    const irc = await server({ maxNickLength: 9 });
    for (const nick of ["lobsters1", "lobsters_"]) await person(irc, nick);
    const claw = account(irc, { nick: "lobsters1" });
    await isConnected(claw);
    expect(claw.status.bot).toEqual({ nick: "lobster_1" });
  });

  test("after a kick it comes back", async () => {
    const irc = await server();
    const ada = await person(irc, "ada");
    await ada.join("#x");
    const claw = account(irc, { channels: ["#x"] });
    await claw.isIn("#x");
    const joins = (): Heard[] => ada.heard.filter(({ command, from }) => command === "JOIN" && from.startsWith("claw!"));
    ada.write("KICK #x claw :enough");
    await expect.poll(() => joins().length).toBe(2);
    await claw.isIn("#x");
    expect(claw.delays).toContain(5000);
    expect(claw.logs.join("\n")).toContain("ada kicked the bot (enough)");
    ada.say("#x", "claw: welcome back");
    await claw.event(({ text }) => text.includes("welcome back"));
  });

  test("a channel that does not let it in is reported, and tried again", async () => {
    const irc = await server();
    const ada = await person(irc, "ada");
    await ada.join("#x");
    ada.write("MODE #x +k secret");
    await ada.hears(({ command, params }) => command === "MODE" && params[1] === "+k", "the key");
    const claw = account(
      irc,
      { channels: ["#x", "#free"] },
      {
        waiting: {
          now: () => Date.now(),
          random: () => 0.5,
          sleep: (_ms, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
        },
      },
    );
    await claw.isIn("#free");
    await claw.shows(({ application }) => JSON.stringify(application).includes("(475)"));
    const issues = claw.channel.status!.collectStatusIssues!([claw.status]);
    expect(issues).toMatchObject([{ channel: "irc", kind: "permissions", message: expect.stringContaining("not in #x") as string }]);
    ada.write("MODE #x -k secret");
    ada.write("INVITE claw #x");
    await claw.isIn("#x", "#free");
  });

  test("a server that goes away and comes back is found again", async () => {
    const irc = await server();
    const claw = account(irc, { channels: ["#x"] });
    await claw.isIn("#x");
    const gone = claw.shows(({ connected }) => connected === false);
    await irc.stop();
    await gone;
    expect(claw.status.running).toBe(true);
    await claw.shows(({ reconnectAttempts }) => (reconnectAttempts ?? 0) >= 3);
    expect(claw.status.lastError).toMatch(/127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    await irc.start();
    await isConnected(claw);
    await claw.isIn("#x");
    const ada = await person(irc, "ada");
    ada.say("claw", "still there?");
    await claw.event(({ text }) => text === "still there?");
    // The pauses grow; the others are time-outs of channels and of sending.
    expect(claw.delays.filter((ms) => ms < 60_000).slice(0, 3)).toEqual([1960, 3920, 7840]);
  });

  test("a connection that went silent is given up", async () => {
    const irc = await server();
    const gate = await relay(irc.port);
    const times = { connectMs: 5000, registerMs: 5000, pingIntervalMs: 50, pingTimeoutMs: 400, quitMs: 500 };
    const claw = account({ ...irc, port: gate.port }, {}, { times });
    await isConnected(claw);
    gate.freeze();
    await claw.shows(({ lastDisconnect }) => JSON.stringify(lastDisconnect ?? "").includes("silent for 0.4 s"));
    await isConnected(claw);
  });

  test("a wrong password ends the account with the reason, without another attempt", async () => {
    const irc = await server({ password: "right-password" });
    const claw = account(irc, { password: "wrong-password" });
    expect(await claw.ended).toMatchObject({ permanent: true, code: "UNAUTHORIZED", message: expect.stringContaining("channels.irc.password") as string });
    expect(claw.status).toMatchObject({ running: false, connected: false });
    expect(JSON.stringify([claw.status, claw.logs])).not.toContain("wrong-password");
    expect(claw.delays).toEqual([]);
    const good = account(irc, { password: "right-password" });
    await isConnected(good);
  });

  test("a nick that no server takes ends the account with the reason", async () => {
    const irc = await server();
    const claw = account(irc, { nick: "9claw" });
    expect(await claw.ended).toMatchObject({ permanent: true, message: expect.stringContaining("channels.irc.nick") as string });
  });

  test("stopping says goodbye and leaves nothing open", async () => {
    const irc = await server();
    const gate = await relay(irc.port);
    const ada = await person(irc, "ada");
    await ada.join("#x");
    const claw = account({ ...irc, port: gate.port }, { channels: ["#x"] });
    await claw.isIn("#x");
    expect(gate.open()).toBe(1);
    expect(await claw.stop()).toBe("stopped");
    await expect.poll(() => gate.open()).toBe(0);
    const quit = await ada.hears(({ command, from }) => command === "QUIT" && from.startsWith("claw!"), "the goodbye");
    expect(quit.params[0]).toContain("Goodbye");
    expect(claw.status).toMatchObject({ running: false, connected: false });
    await expect(claw.send("ada", "ghost")).rejects.toMatchObject({ delivery: { state: "retry" } });
  });

  test("stopping ends an attempt and a pause, too", async () => {
    const irc = await server();
    await irc.stop();
    const claw = account(
      irc,
      {},
      {
        waiting: {
          now: () => Date.now(),
          random: () => 0.5,
          sleep: (_ms, signal) => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true }))),
        },
      },
    );
    await claw.shows(({ reconnectAttempts }) => reconnectAttempts === 1);
    expect(await claw.stop()).toBe("stopped");
    await irc.start();
    const early = account(irc);
    expect(await early.stop()).toBe("stopped");
  });

  test("TLS: a certificate that is trusted is needed", async () => {
    const irc = await server({ tls: true });
    const claw = account(irc);
    await isConnected(claw);
    expect(claw.status.baseUrl).toBe(`ircs://localhost:${irc.port}`);
    const ada = await person(irc, "ada");
    ada.say("claw", "secret");
    expect((await claw.event(() => true)).text).toBe("secret");
    const wary = account({ ...irc, ca: undefined }, { tls: true, nick: "wary" });
    await wary.shows(({ lastError }) => /certificate/i.test(lastError ?? ""));
    expect(wary.status.connected).toBe(false);
  });
});

describe("probe", () => {
  test("says whether the server takes us, without a second connection beside the first", async () => {
    const irc = await server();
    const ada = await person(irc, "ada");
    await ada.join("#x");
    const claw = account(irc, { channels: ["#x"] });
    await claw.isIn("#x");
    const { status, config } = claw.channel;
    const at = (keys: object) => config.resolveAccount({ channels: { irc: { host: irc.host, port: irc.port, tls: false, nick: "claw", ...keys } } }, "default");
    expect(await status!.probeAccount!({ account: at({}), timeoutMs: 5000, cfg: {} })).toMatchObject({ ok: true, error: null, nick: "claw" });
    await claw.stop();
    expect(await status!.probeAccount!({ account: at({}), timeoutMs: 5000, cfg: {} })).toMatchObject({ ok: true, nick: "claw" });
    expect(await status!.probeAccount!({ account: at({ nick: "9x" }), timeoutMs: 5000, cfg: {} })).toMatchObject({
      ok: false,
      error: expect.stringContaining("nick") as string,
    });
    await irc.stop();
    expect(await status!.probeAccount!({ account: at({}), timeoutMs: 5000, cfg: {} })).toMatchObject({
      ok: false,
      error: expect.stringContaining("ECONNREFUSED") as string,
    });
  });
});

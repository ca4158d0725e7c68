import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startIrcServer, type IrcServer, type IrcServerOptions } from "../../test/fakes/irc/server.ts";
import { runAccount, type RunningAccount, type RunOptions } from "./testing.ts";

let stack: AsyncDisposableStack;
beforeEach(() => void (stack = new AsyncDisposableStack()));
afterEach(() => stack.disposeAsync());

const server = async (options?: IrcServerOptions): Promise<IrcServer> => stack.use(await startIrcServer(options));
function account({ port }: IrcServer, config: Record<string, unknown> = {}, options: Partial<RunOptions> = {}): RunningAccount {
  return stack.use(runAccount({ config: { host: "127.0.0.1", port, tls: false, nick: "claw", ...config }, ...options }));
}
const isConnected = (irc: RunningAccount): Promise<void> => irc.shows(({ connected }) => connected === true);

describe("SASL", () => {
  const CAPS = "multi-prefix sasl=PLAIN,EXTERNAL account-tag message-tags server-time";

  test("signs in before the welcome", async () => {
    const irc = await server({ caps: CAPS, accounts: { services: "s3cret pass" } });
    const claw = account(irc, { sasl: { account: "services", password: "s3cret pass" }, nickserv: { password: "other" } });
    await isConnected(claw);
    const connection = await irc.welcome();
    expect(connection.account).toBe("services");
    expect(connection.lines.some(({ command, params }) => command === "PRIVMSG" && params[0] === "NickServ")).toBe(false);
  });

  test.each([299, 300, 301, 600])("with a password of %i characters", async (length) => {
    const password = "p".repeat(length - "claw".length * 2 - 2);
    const irc = await server({ caps: CAPS, accounts: { claw: password } });
    const claw = account(irc, { sasl: { password } });
    await isConnected(claw);
    expect((await irc.welcome()).account).toBe("claw");
  });

  test("a wrong password ends the account with the reason, and is not shown", async () => {
    const irc = await server({ caps: CAPS, accounts: { claw: "right" } });
    const claw = account(irc, { sasl: { password: "wrong-one" } });
    expect(await claw.ended).toMatchObject({ permanent: true, code: "UNAUTHORIZED", message: expect.stringContaining("channels.irc.sasl") as string });
    expect(JSON.stringify([claw.status, claw.logs])).not.toContain("wrong-one");
    expect(irc.connections).toHaveLength(1);
  });

  test.each([
    ["offers other things", "multi-prefix"],
    ["knows no capabilities", undefined],
    ["has other ways only", "sasl=EXTERNAL"],
  ])("a server that %s is refused", async (_what, caps) => {
    const irc = await server({ ...(caps === undefined ? {} : { caps }), accounts: { claw: "right" } });
    const claw = account(irc, { sasl: { password: "right" } });
    expect(await claw.ended).toMatchObject({ permanent: true, message: expect.stringContaining("SASL") as string });
    expect(irc.connections[0]!.lines.some(({ raw }) => raw.includes(Buffer.from("\0claw\0right").toString("base64")))).toBe(false);
  });

  test("the server's password is not tried there", async () => {
    const irc = await server({ caps: CAPS, accounts: {} });
    const claw = account(irc, { password: "for-the-server" });
    await isConnected(claw);
    const { lines } = await irc.welcome();
    expect(lines.some(({ command, params }) => command === "PASS" && params[0] === "for-the-server")).toBe(true);
    expect(lines.some(({ command }) => command === "AUTHENTICATE")).toBe(false);
  });
});

describe("NickServ", () => {
  test("is sent the password, then channels are joined", async () => {
    const irc = await server({ registered: { claw: "pw" } });
    const claw = account(irc, { nickserv: { password: "pw" }, channels: ["#a", "#b key"] });
    await claw.isIn("#a", "#b");
    const { lines, account: who } = await irc.welcome();
    expect(who).toBe("claw");
    const after = lines.filter(({ command }) => command === "PRIVMSG" || command === "JOIN").map(({ raw }) => raw);
    expect(after).toEqual(["PRIVMSG NickServ :IDENTIFY pw", "JOIN #a", "JOIN #b key"]);
    expect(claw.logs.join("\n")).toContain("NickServ: You are now identified.");
  });

  test("gets a taken nick back", async () => {
    const irc = await server({ registered: { claw: "pw" }, taken: ["claw"] });
    const claw = account(irc, { nickserv: { password: "pw" } });
    await isConnected(claw);
    const connection = await irc.welcome();
    await connection.gets(({ raw }) => raw === "PRIVMSG NickServ :IDENTIFY pw", "the proof");
    expect(connection.lines.filter(({ command }) => command === "NICK" || command === "PRIVMSG").map(({ raw }) => raw)).toEqual([
      "NICK claw",
      "NICK claw_",
      "PRIVMSG NickServ :GHOST claw pw",
      "NICK claw",
      "PRIVMSG NickServ :IDENTIFY pw",
    ]);
    expect(connection.nick).toBe("claw");
  });

  test("registers once, then proves", async () => {
    const irc = await server();
    const claw = account(irc, { nickserv: { service: "NickServ", password: "pw", register: true, registerEmail: "a@b.invalid" } });
    await isConnected(claw);
    const first = await irc.welcome();
    await first.gets(({ raw }) => raw === "PRIVMSG NickServ :REGISTER pw a@b.invalid");
    first.drop();
    const second = await irc.welcome(1);
    await second.gets(({ raw }) => raw === "PRIVMSG NickServ :IDENTIFY pw");
  });
});

describe("what servers say", () => {
  const FROM = ":ada!~ada@example.invalid";

  test("a PING before the welcome is answered", async () => {
    const irc = await server({ pingsFirst: true });
    await isConnected(account(irc));
  });

  test("accounts, ids, times and bots are read from tags", async () => {
    const irc = await server({ caps: "message-tags account-tag server-time" });
    const claw = account(irc);
    const connection = await irc.welcome();
    const at = new Date(Date.now() - 1000).toISOString();
    connection.send(`@account=AdaL;msgid=abc-1;time=${at} ${FROM} PRIVMSG claw :known`);
    connection.send(`@time=${at} ${FROM} PRIVMSG claw :same`);
    connection.send(`@bot;msgid=abc-2 :robot!r@h PRIVMSG claw :beep`);
    connection.send(`@account=* ${FROM} PRIVMSG claw :unknown`);
    await claw.event(({ text }) => text === "unknown");
    expect(claw.events[0]).toMatchObject({
      id: "abc-1",
      at: Date.parse(at),
      sender: { id: "account:adal", otherIds: ["ada!~ada@example.invalid", "ada@example.invalid"] },
    });
    expect(claw.events[2]!.sender.isBot).toBe(true);
    expect(claw.events[3]!.sender.id).toBe("ada!~ada@example.invalid");
    // Played again by a bouncer after a break: the same message. An old one is not for us any more.
    connection.drop();
    const next = await irc.welcome(1);
    next.send(`@time=${at} ${FROM} PRIVMSG claw :same`);
    next.send(`@time=2020-01-01T00:00:00.000Z ${FROM} PRIVMSG claw :years ago`);
    next.send(`${FROM} PRIVMSG claw :end`);
    await claw.event(({ text }) => text === "end");
    const same = claw.events.filter(({ text }) => text === "same").map(({ id }) => id.replace(/-\d$/, ""));
    expect(same).toHaveLength(2);
    expect(claw.events.some(({ text }) => text === "years ago")).toBe(false);
  });

  test("names count as ids only where the configuration trusts them", async () => {
    const irc = await server();
    const claw = account(irc, { dangerouslyAllowNameMatching: true });
    (await irc.welcome()).send(`${FROM} PRIVMSG claw :hello`);
    const { sender } = await claw.event(() => true);
    expect(sender).toMatchObject({ id: "ada!~ada@example.invalid", otherIds: ["ada@example.invalid", "ada", "ada!~ada"] });
  });

  test("our own words, words to others, and words of servers start nothing", async () => {
    const irc = await server({ supports: "STATUSMSG=@+" });
    const claw = account(irc, { channels: ["#x"] });
    const connection = await irc.welcome();
    await claw.isIn("#x");
    connection.send(":CLAW!~u@host.invalid PRIVMSG #x :my own echo");
    connection.send(":irc.fake.invalid PRIVMSG claw :from a server");
    connection.send(`${FROM} PRIVMSG $$*.invalid :to everybody`);
    connection.send(`${FROM} NOTICE claw :a notice`);
    connection.send(`${FROM} PRIVMSG @#x :claw: for operators`);
    connection.send(`${FROM} PRIVMSG claw :end`);
    await claw.event(({ text }) => text === "end");
    expect(claw.events.map(({ text, to, chat }) => [text, to, chat.id])).toEqual([
      ["claw: for operators", "@#x", "#x"],
      ["end", "ada", "ada"],
    ]);
  });

  test("lines that make no sense do no harm", async () => {
    const irc = await server({ caps: "message-tags batch" });
    const claw = account(irc);
    const connection = await irc.welcome();
    const lines = [
      "",
      ":",
      "@",
      "@ :",
      "PRIVMSG",
      ":x",
      ":x PRIVMSG",
      ":ada!a@h PRIVMSG claw",
      "NOTICE",
      "CAP",
      "CAP * NEW",
      "BATCH",
      "BATCH +",
      "001",
      "005 claw =",
      "353",
      "366",
      "KICK",
      "JOIN",
      "PONG",
      "MODE",
      "352 a b",
      "900",
      "PING",
    ];
    for (const line of lines) connection.send(line);
    connection.sendBytes(Buffer.from(":ada!a@h PRIVMSG claw :caf\xe9\r\n", "latin1"));
    connection.sendBytes(Buffer.from(`${FROM} PRIVMSG cl`));
    connection.sendBytes(Buffer.from("aw :en"));
    connection.sendBytes(Buffer.from("d\n"));
    await claw.event(({ text }) => text === "end");
    expect(claw.events.map(({ text }) => text)).toEqual(["café", "end"]);
    expect(claw.status.connected).toBe(true);
  });

  test("a line without an end ends the connection, not the memory", async () => {
    const irc = await server();
    const claw = account(irc);
    (await irc.welcome()).sendBytes(Buffer.alloc(64 * 1024, "x"));
    await claw.shows(({ lastDisconnect }) => JSON.stringify(lastDisconnect ?? "").includes("more than 16384 bytes"));
    await irc.welcome(1);
  });

  test("the reason of an end is reported", async () => {
    const irc = await server();
    const claw = account(irc);
    const connection = await irc.welcome();
    connection.send("ERROR :Closing Link: claw (Excess Flood)");
    connection.drop();
    await claw.shows(({ lastDisconnect }) => JSON.stringify(lastDisconnect ?? "").includes("Excess Flood"));
    await irc.welcome(1);
  });

  test("questions to our program are answered by notices, and not too many", async () => {
    const irc = await server();
    account(irc);
    const connection = await irc.welcome();
    const ask = (text: string): void => connection.send(`${FROM} PRIVMSG claw :\u0001${text}\u0001`);
    for (const text of ["PING 123 456", "CLIENTINFO", "TIME", "VERSION", "VERSION", "FINGER"]) ask(text);
    connection.send("PING :fence");
    await connection.gets(({ command, params }) => command === "PONG" && params[0] === "fence", "the fence");
    const notices = connection.lines.filter(({ command }) => command === "NOTICE").map(({ params }) => params);
    expect(notices).toHaveLength(3);
    expect(notices[0]).toEqual(["ada", "\u0001PING 123 456\u0001"]);
    expect(connection.lines.some(({ command, params }) => command === "PRIVMSG" && params[0] === "ada")).toBe(false);
  });

  test("a pause that the server wants is reported to the host; a refusal is final", async () => {
    const irc = await server({
      refuses: {
        ada: "439 :Target change too fast. Please wait 60 seconds.",
        "#x": "404 :Cannot send to channel",
        bob: "486 :You must log in to message this user",
      },
    });
    const claw = account(irc);
    await isConnected(claw);
    await expect(claw.send("ada", "hello")).rejects.toMatchObject({ delivery: { state: "retry", retryAfterMs: 60_000 } });
    for (const to of ["#x", "bob"]) await expect(claw.send(to, "hello")).rejects.toMatchObject({ delivery: { state: "failed" } });
    await claw.send("eve", "hello");
  });

  test("a message of several lines that breaks off is not sent again from its beginning", async () => {
    const irc = await server({ breaksAt: "PRIVMSG ada :two" });
    const claw = account(irc);
    await isConnected(claw);
    await expect(claw.send("ada", "one\ntwo\nthree")).rejects.toMatchObject({ delivery: { state: "unknown" } });
    expect(irc.connections[0]!.lines.filter(({ command }) => command === "PRIVMSG").map(({ params }) => params[1])).toEqual(["one", "two"]);
  });
});

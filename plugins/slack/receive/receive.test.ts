import { afterEach, describe, expect, test } from "vitest";
import { type LabOptions, type SlackLab, startLab } from "../testing.ts";

let lab: Awaited<ReturnType<typeof startLab>>;
const open = async (options: LabOptions = {}, accept?: Parameters<SlackLab["start"]>[0]) => {
  lab = await startLab(options);
  await lab.start(accept);
  return lab;
};
afterEach(() => lab[Symbol.asyncDispose]());

describe("an envelope", () => {
  test("is acknowledged when it is stored, not before", async () => {
    const gate = Promise.withResolvers<void>();
    await open({}, () => gate.promise);
    const { events } = lab.slack.people.say("hello", { by: lab.ada, channel: lab.slack.world.direct(lab.ada.id).id });
    await lab.until(() => events[0]!.attempts > 1);
    expect(events[0]!.isAcked).toBe(false);
    gate.resolve();
    await lab.until(() => events[0]!.isAcked);
  });

  test("that the host does not take is offered again, and then acknowledged", async () => {
    let refused = 0;
    await open({}, async () => {
      if ((refused += 1) < 3) throw new Error("busy");
    });
    const { events } = lab.slack.people.say("hello", { by: lab.ada, channel: lab.slack.world.direct(lab.ada.id).id });
    await lab.until(() => events[0]!.isAcked);
    expect(refused).toBeGreaterThanOrEqual(3);
  });

  test("for another app or workspace, and one without sense, is acknowledged and dropped", async () => {
    await open();
    const { people, world } = lab.slack;
    const message = { type: "message", ts: "1700000000.000100", user: lab.ada.id, text: "x", channel: lab.chatId, channel_type: "channel" };
    const sent = [
      people.event(message, { api_app_id: "A0OTHER00" }),
      people.event(message, { team_id: "T0OTHER00", authorizations: [] }),
      people.event({ type: "message", text: "no channel", user: lab.ada.id }),
      people.event({ ...message, ts: 17 }),
    ];
    await lab.until(() => sent.every(({ isAcked }) => isAcked));
    expect(lab.events).toEqual([]);
    expect(world.messages(lab.chatId)).toEqual([]);
  });
});

test("an envelope of a kind that is not known is acknowledged and dropped", async () => {
  await open();
  const sent = lab.slack.delivery.deliver("future_kind", { type: "future" });
  await lab.until(() => sent.isAcked);
  expect(lab.events).toEqual([]);
});

describe("a connection", () => {
  test.each(["warning", "refresh_requested"])("that is to be renewed (%s) is followed by another before it ends, and nothing is lost", async (reason) => {
    await open();
    const { slack, ada } = lab;
    slack.delivery.disconnect(reason);
    await lab.until(() => slack.calls().filter((call) => call === "apps.connections.open").length === 2);
    await lab.until(() => slack.delivery.open === 1);
    slack.people.say("after", { by: ada, channel: slack.world.direct(ada.id).id });
    await lab.event(({ text }) => text === "after");
    await lab.until(() => slack.server.sockets.length === 1);
    expect(lab.status).toMatchObject({ connected: true });
    expect(lab.logs.join("\n")).not.toMatch(/next attempt/);
  });

  test("that breaks is made again", async () => {
    await open();
    for (const socket of lab.slack.server.sockets) socket.reset();
    await lab.until(() => lab.slack.calls().filter((call) => call === "apps.connections.open").length >= 2 && lab.slack.delivery.open === 1);
  });

  test("garbage over the socket is dropped, and it goes on", async () => {
    await open();
    for (const socket of lab.slack.server.sockets) socket.send("{broken");
    lab.slack.people.say("after", { by: lab.ada, channel: lab.slack.world.direct(lab.ada.id).id });
    await lab.event(({ text }) => text === "after");
  });

  test("ends for good where Socket Mode is switched off", async () => {
    await open();
    lab.slack.switchSocketModeOff();
    expect(await lab.ended).toMatchObject({ permanent: true, message: expect.stringContaining("Socket Mode was turned off") as unknown });
  });

  test.each(["not_authed", "invalid_auth", "account_inactive", "user_removed_from_team", "team_disabled", "token_revoked"])(
    "%s at the start ends the account, after one question",
    async (error) => {
      lab = await startLab();
      lab.slack.refuseTokens(error);
      await lab.start();
      expect(await lab.ended).toMatchObject({ permanent: true, status: 401, reason: error });
      expect(lab.slack.calls()).toEqual(["auth.test"]);
      expect(JSON.stringify([lab.status, lab.logs, String(await lab.ended)])).not.toContain(lab.slack.botToken);
    },
  );

  test.each([
    ["the app was removed", { type: "app_uninstalled" }],
    ["its token was revoked", { type: "tokens_revoked", tokens: { bot: ["self"] } }],
  ])("ends for good when %s", async (_, event) => {
    await open();
    const tokens = { bot: [lab.slack.world.bot.id] };
    lab.slack.people.event(event.type === "tokens_revoked" ? { ...event, tokens } : event);
    expect(await lab.ended).toMatchObject({ permanent: true });
  });

  test("ends for good when a message that is sent finds the token revoked", async () => {
    await open();
    lab.slack.refuseTokens("token_revoked");
    const sent = lab.channel.outbound!.sendText!({ cfg: lab.cfg, to: `user:${lab.ada.id}`, text: "hi" });
    await expect(sent).rejects.toMatchObject({ delivery: { state: "failed" } });
    expect(await lab.ended).toMatchObject({ permanent: true, reason: "token_revoked" });
  });
});

describe("after a stop", () => {
  test("what was written meanwhile is read from the history, also in threads, once and marked as a back-log", async () => {
    const stored = new Map<string, unknown>();
    await open({ stored });
    const { people, world, delivery } = lab.slack;
    const direct = world.direct(lab.ada.id).id;
    people.say("one", { by: lab.ada, channel: direct });
    const root = people.say("root", { by: lab.ada, channel: lab.chatId }).ts;
    people.say("in thread", { by: lab.ada, channel: lab.chatId, thread: root });
    await lab.until(() => lab.events.length === 3);
    await lab.stop();
    people.say("missed", { by: lab.ada, channel: direct });
    people.say("missed in thread", { by: lab.ada, channel: lab.chatId, thread: root });
    delivery.giveUp();
    const before = lab;
    // The next process, in the same workspace.
    const next = await startLab({ stored, apiRoot: before.slack.apiRoot, config: { botToken: before.slack.botToken, appToken: before.slack.appToken } });
    await next.start();
    await next.until(() => next.events.length === 2);
    expect(next.events.map(({ text, backlog }) => `${text}: ${backlog}`).sort()).toEqual(["missed in thread: true", "missed: true"]);
    await next[Symbol.asyncDispose]();
  });
});

test("a conversation that has another id keeps its settings", async () => {
  await open();
  const to = lab.slack.people.moved(lab.chatId);
  await lab.until(() => lab.changes.length === 1);
  const draft = {
    channels: { slack: { channels: { [lab.chatId]: { users: ["U1"] } }, accounts: { work: { channels: { [lab.chatId]: { requireMention: false } } } } } },
  };
  lab.changes[0]!(draft);
  expect(draft.channels.slack).toEqual({ channels: { [to]: { users: ["U1"] } }, accounts: { work: { channels: { [to]: { requireMention: false } } } } });
});

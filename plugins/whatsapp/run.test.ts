import { createCipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Curve, proto, WA_CERT_DETAILS } from "baileys";
import { expect, test } from "vitest";
import { textOf } from "../../test/fakes/whatsapp/mail.ts";
import { openLab, type Lab } from "./testing.ts";

const PATIENCE = { timeout: 15_000, interval: 10 };
async function isUp(lab: Lab): Promise<void> {
  await expect.poll(() => lab.status.connected, PATIENCE).toBe(true);
}
async function came(lab: Lab, count: number): Promise<void> {
  await expect.poll(() => lab.events.length, PATIENCE).toBe(count);
}
const receipts = (lab: Lab, type: string): number => lab.whatsapp.stanzas.filter(({ tag, attrs }) => tag === "receipt" && attrs["type"] === type).length;

test("a message by hidden id and one by number come from the same person, in order", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  const { whatsapp, bob } = lab;
  for (const text of ["one", "two", "three"]) await whatsapp.deliver({ from: bob, message: { conversation: text }, byNumber: text === "two" });
  await came(lab, 3);
  expect(lab.events.map(({ text }) => text)).toEqual(["one", "two", "three"]);
  for (const event of lab.events)
    expect(event).toMatchObject({
      kind: "message",
      chat: { type: "direct", id: "+491701234567" },
      to: "+491701234567",
      sender: { id: "+491701234567", otherIds: [bob.lid], name: "Bob" },
    });
  await expect.poll(() => receipts(lab, "read"), PATIENCE).toBe(3);
});

test("a message is acknowledged only after the host has stored it, and comes again when the process ends before", async () => {
  await using lab = await openLab();
  const { whatsapp, bob } = lab;
  const first = lab.start();
  await isUp(lab);
  const stuck = Promise.withResolvers<never>();
  stuck.promise.catch(() => {});
  const offered = Promise.withResolvers<void>();
  lab.answer(() => {
    offered.resolve();
    return stuck.promise;
  });
  await whatsapp.deliver({ from: bob, message: { conversation: "do not lose me" } });
  await offered.promise;
  await lab.send(bob.pn, "what is sent does not wait for it");
  expect(receipts(lab, "inactive"), "no receipt before it is stored").toBe(0);
  stuck.reject(new Error("the process ends"));
  await first.stop();
  expect(whatsapp.pending).toHaveLength(1);
  lab.answer(async () => ({ outcome: "accepted", duplicate: false }));
  lab.start();
  await came(lab, 1);
  expect(lab.events[0]).toMatchObject({ text: "do not lose me", backlog: true });
  await expect.poll(() => whatsapp.pending.length, PATIENCE).toBe(0);
});

test("messages that waited on the server come before one that is written while they are taken", async () => {
  await using lab = await openLab();
  const { whatsapp, bob } = lab;
  for (const text of ["one", "two", "three"]) await whatsapp.deliver({ from: bob, message: { conversation: text } });
  const held = Promise.withResolvers<void>();
  const offered = Promise.withResolvers<void>();
  lab.answer(async () => {
    offered.resolve();
    await held.promise;
    return { outcome: "accepted", duplicate: false };
  });
  lab.start();
  await isUp(lab);
  await offered.promise;
  await whatsapp.deliver({ from: bob, message: { conversation: "four" } });
  await lab.send(bob.pn, "its receipt comes behind the fourth message");
  held.resolve();
  await came(lab, 4);
  expect(lab.events.map(({ text, backlog }) => [text, backlog])).toEqual([
    ["one", true],
    ["two", true],
    ["three", true],
    ["four", undefined],
  ]);
});

test("a message that the host turned away gets no read receipt", async () => {
  await using lab = await openLab();
  lab.answer(async ({ text }) => (text === "no" ? { outcome: "refused", why: "not on the list" } : { outcome: "accepted", duplicate: false }));
  lab.start();
  await isUp(lab);
  await lab.whatsapp.deliver({ from: lab.bob, message: { conversation: "no" } });
  await lab.whatsapp.deliver({ from: lab.bob, message: { conversation: "yes" } });
  await came(lab, 2);
  await expect.poll(() => receipts(lab, "read"), PATIENCE).toBe(1);
});

test("sendReadReceipts false sends none, without a restart", async () => {
  await using lab = await openLab({ channel: { sendReadReceipts: false } });
  lab.start();
  await isUp(lab);
  await lab.whatsapp.deliver({ from: lab.bob, message: { conversation: "hello" } });
  await came(lab, 1);
  await lab.send(lab.bob.pn, "hi");
  expect(receipts(lab, "read")).toBe(0);
});

test("what the owner writes to themselves is answered when their number is on the list, what they write to others is not", async () => {
  await using lab = await openLab({ channel: { allowFrom: ["+15550001000"] } });
  lab.start();
  await isUp(lab);
  const { whatsapp, bob } = lab;
  await whatsapp.deliver({ from: whatsapp.me, to: bob, message: { conversation: "to bob" } });
  await whatsapp.deliver({ from: whatsapp.me, to: whatsapp.me, message: { conversation: "note to self" } });
  await came(lab, 1);
  expect(lab.events[0]).toMatchObject({ text: "note to self", sender: { id: "+15550001000" }, to: "+15550001000" });
  await lab.send("+15550001000", "noted");
  expect(receipts(lab, "read"), "no receipt in the chat with oneself").toBe(0);
  expect(lab.events).toHaveLength(1);
});

test("without selfChatMode the owner's own messages are left alone", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  const { whatsapp, bob } = lab;
  await whatsapp.deliver({ from: whatsapp.me, to: whatsapp.me, message: { conversation: "note to self" } });
  await whatsapp.deliver({ from: bob, message: { conversation: "hello" } });
  await came(lab, 1);
  expect(lab.events[0]!.text).toBe("hello");
});

test("in a group a mention, an answer to us and a mention of others are kept apart", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  const { whatsapp, bob } = lab;
  const group = whatsapp.world.group("Workshop", [whatsapp.me, bob]);
  const say = (text: string, contextInfo: object) => whatsapp.deliver({ from: bob, group, message: { extendedTextMessage: { text, contextInfo } } });
  await say("you", { mentionedJid: [whatsapp.me.lid] });
  await say("answer", { stanzaId: "X", participant: whatsapp.me.lid, quotedMessage: { conversation: "before" } });
  await say("them", { mentionedJid: [bob.lid] });
  await came(lab, 3);
  expect(lab.events.map(({ mention }) => [mention?.mentioned, mention?.implicit, mention?.others])).toEqual([
    [true, false, false],
    [false, true, false],
    [false, false, true],
  ]);
  expect(lab.events[1]).toMatchObject({ chat: { type: "group", id: group.id, title: "Workshop" }, replyTo: { id: "X", body: "before", sender: "you" } });
  expect(lab.events[1]!.context?.["GroupMembers"]).toContain(lab.bob.number);
});

test("the same nonce is the same message: a repeat is seen once", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  const { whatsapp, bob } = lab;
  whatsapp.loseReceipt();
  await expect(lab.send(`+${bob.number}`, "hello", { nonce: "n1" })).rejects.toMatchObject({ delivery: { state: "unknown" } });
  await expect.poll(() => lab.status.reconnectAttempts, PATIENCE).toBe(0);
  await isUp(lab);
  await expect.poll(() => lab.send(`+${bob.number}`, "hello", { nonce: "n1" }).catch(() => ""), PATIENCE).toMatch(/^3EB0[\dA-F]{18}$/);
  expect(whatsapp.world.seen.map(({ message, copies }) => [textOf(message), copies])).toEqual([["hello", 2]]);
});

test.each([
  ["404", "failed"],
  ["463", "failed"],
  ["503", "retry"],
  ["429", "retry"],
])("an acknowledgement with error %s leaves the message %s", async (error, state) => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  lab.whatsapp.refuse(error);
  await expect(lab.send(`+${lab.bob.number}`, "hello")).rejects.toMatchObject({ delivery: { state } });
});

test("polls, reactions, answers and voice notes go out as such", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  const { whatsapp, bob, channel, cfg, folder } = lab;
  const id = await whatsapp.deliver({ from: bob, message: { conversation: "hello" } });
  await came(lab, 1);
  const to = `+${bob.number}`;
  await lab.send(to, "hi", { replyToId: id });
  await channel.reactions!.set({ cfg, accountId: "default", to, messageId: id, emoji: "👀" });
  await channel.outbound!.sendPoll!({ cfg, accountId: "default", to, poll: { question: "When?", options: ["Now", "Later"] } });
  const voice = join(folder, "voice.ogg");
  writeFileSync(voice, Buffer.concat([Buffer.from("OggS"), Buffer.alloc(60), Buffer.from("OpusHead"), Buffer.alloc(100)]));
  await channel.outbound!.sendMedia!({ cfg, accountId: "default", to, text: "", mediaUrl: voice, mediaLocalRoots: [folder], audioAsVoice: true });
  const [reply, reaction, poll, note] = whatsapp.world.seen.map(({ message }) => message);
  expect(reply!.extendedTextMessage).toMatchObject({ text: "hi", contextInfo: { stanzaId: id } });
  expect(reaction!.reactionMessage).toMatchObject({ text: "👀", key: { id } });
  expect((poll!.pollCreationMessageV3 ?? poll!.pollCreationMessage)!.options!.map(({ optionName }) => optionName)).toEqual(["Now", "Later"]);
  expect(note!.audioMessage).toMatchObject({ ptt: true });
  expect(whatsapp.media.get("Audio", note!.audioMessage!).subarray(0, 4).toString()).toBe("OggS");
});

test("pictures go out as an album with the text under the first, the same for every attempt; the text of a recording follows it", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  const { whatsapp, bob, channel, cfg, folder } = lab;
  const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");
  const mediaUrls = ["a.png", "b.png"].map((name) => join(folder, name));
  for (const path of mediaUrls) writeFileSync(path, png);
  const context = { cfg, accountId: "default", to: `+${bob.number}`, mediaLocalRoots: [folder] };
  const album = { ...context, text: "both", mediaUrl: mediaUrls[0]!, mediaUrls, nonce: "n1" };
  const { messageId } = await channel.outbound!.sendMedia!(album);
  await channel.outbound!.sendMedia!(album);
  const [parent, first, second] = whatsapp.world.seen.map(({ id, message, copies }) => ({ id, message, copies }));
  expect(parent!.message.albumMessage).toMatchObject({ expectedImageCount: 2, expectedVideoCount: 0 });
  expect([first!.id, first!.message.imageMessage!.caption, second!.message.imageMessage!.caption || ""]).toEqual([messageId, "both", ""]);
  for (const { message } of [first!, second!]) expect(message.messageContextInfo!.messageAssociation!.parentMessageKey!.id).toBe(parent!.id);
  expect(whatsapp.world.seen.map(({ copies }) => copies)).toEqual([2, 2, 2]);
  const song = join(folder, "song.mp3");
  writeFileSync(song, Buffer.concat([Buffer.from("ID3"), Buffer.alloc(100)]));
  await channel.outbound!.sendMedia!({ ...context, text: "listen", mediaUrl: song, nonce: "n2" });
  expect(whatsapp.world.seen.slice(3).map(({ message }) => (message.audioMessage ? "audio" : textOf(message)))).toEqual(["audio", "listen"]);
});

test("a phone that lost its session asks again, and gets the message that was sent", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  const { whatsapp, bob } = lab;
  const id = await lab.send(`+${bob.number}`, "hello");
  const before = whatsapp.stanzas.length;
  whatsapp.push({
    tag: "receipt",
    attrs: { from: bob.lid, id, type: "retry", t: "1700000000" },
    content: [{ tag: "retry", attrs: { count: "1", id, t: "1700000000", v: "1" } }],
  });
  await expect.poll(() => whatsapp.stanzas.slice(before).some(({ tag, attrs }) => tag === "message" && attrs["id"] === id), PATIENCE).toBe(true);
});

test.each([
  [403, "FORBIDDEN"],
  [411, "MULTI_DEVICE_MISMATCH"],
  [440, "CONNECTION_REPLACED"],
])("an end with code %d ends the account, with the credentials kept", async (code, reason) => {
  await using lab = await openLab();
  const { ended } = lab.start();
  await isUp(lab);
  lab.whatsapp.kick(code);
  expect(await ended).toMatchObject({ permanent: true, code: reason });
  expect(existsSync(join(lab.authDir, "creds.json"))).toBe(true);
  expect(lab.whatsapp.connections).toBe(0);
});

test("a device that is removed on the phone ends the account and clears its credentials", async () => {
  await using lab = await openLab();
  const { ended } = lab.start();
  await isUp(lab);
  writeFileSync(join(lab.authDir, "notes.txt"), "mine");
  lab.whatsapp.unlink();
  expect(await ended).toMatchObject({ permanent: true, code: "LOGGED_OUT" });
  expect([existsSync(join(lab.authDir, "creds.json")), readFileSync(join(lab.authDir, "notes.txt"), "utf8")]).toEqual([false, "mine"]);
  expect(lab.status.linked).toBe(false);
});

test.each([515, 503, 500])("an end with code %d is followed by a new connection", async (code) => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  lab.status.connected = false;
  lab.whatsapp.kick(code);
  await isUp(lab);
  expect(lab.whatsapp.conflicts).toBe(0);
});

test("a server that cannot be reached is given up after maxAttempts, with what to do", async () => {
  await using lab = await openLab({ web: { reconnect: { initialMs: 1, maxMs: 2, maxAttempts: 2 } } });
  await lab.whatsapp.down();
  const { ended } = lab.start();
  expect(await ended).toMatchObject({ code: "UNAVAILABLE", message: expect.stringMatching(/2 attempts.*channels start/) as string });
});

test("two uses of one folder exclude each other", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  expect(await lab.start().ended).toMatchObject({ code: "LOCKED" });
  expect(lab.whatsapp.connections).toBe(1);
});

test("a server whose certificate has another root is not believed, and gets no credentials", async () => {
  await using lab = await openLab({ web: { reconnect: { initialMs: 1, maxMs: 2, maxAttempts: 2 } } });
  Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(Curve.generateKeyPair().public) });
  expect(await lab.start().ended).toMatchObject({ permanent: true });
  expect(lab.log.join("\n")).toContain("certificate");
  expect([lab.whatsapp.hellos, lab.whatsapp.stanzas]).toEqual([0, []]);
});

test("a login that another phone signed is refused", async () => {
  await using lab = await openLab({ linked: false });
  const { logins, accounts } = lab.channel;
  const account = accounts.read(lab.cfg, "default");
  const shown = Promise.withResolvers<string>();
  await logins.start(account, { onQr: shown.resolve });
  lab.whatsapp.scan(await shown.promise, lab.bob.phone);
  expect(await logins.wait(account)).toMatchObject({ connected: false, message: expect.stringContaining("signature") as string });
  expect(existsSync(join(lab.authDir, "creds.json"))).toBe(false);
});

test("nothing secret is logged", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  await lab.whatsapp.deliver({ from: lab.bob, message: { conversation: "hush" } });
  await came(lab, 1);
  const creds = JSON.parse(readFileSync(join(lab.authDir, "creds.json"), "utf8")) as { advSecretKey: string };
  const text = lab.log.join("\n") + JSON.stringify(lab.status);
  for (const secret of ["hush", creds.advSecretKey, "privKey"]) expect(text).not.toContain(secret);
});

/** A vote as a phone makes it. */
function voteFor(options: readonly string[], poll: { readonly id: string; readonly secret: Uint8Array; readonly creator: string; readonly voter: string }) {
  const hmac = (key: Uint8Array, data: Uint8Array): Buffer => createHmac("sha256", key).update(data).digest();
  const signed = Buffer.concat([...[poll.id, poll.creator, poll.voter, "Poll Vote"].map((text) => Buffer.from(text)), Buffer.from([1])]);
  const key = hmac(hmac(new Uint8Array(32), poll.secret), signed);
  const encIv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, encIv).setAAD(Buffer.from(`${poll.id}\0${poll.voter}`));
  const selectedOptions = options.map((option) => createHash("sha256").update(option).digest());
  const text = proto.Message.PollVoteMessage.encode({ selectedOptions }).finish();
  return { encPayload: Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]), encIv };
}

test("votes in a poll of ours are notices with the options by name; a forged one is nothing", async () => {
  await using lab = await openLab();
  lab.start();
  await isUp(lab);
  const { whatsapp, bob, channel } = lab;
  const { messageId: id } = await channel.outbound!.sendPoll!({ cfg: lab.cfg, to: bob.pn, poll: { question: "Tea?", options: ["yes", "no"] } });
  await expect.poll(() => whatsapp.world.seen.length, PATIENCE).toBeGreaterThan(0);
  const { message } = whatsapp.world.seen.at(-1)!;
  const poll = { id, secret: message.messageContextInfo!.messageSecret!, creator: whatsapp.me.pn, voter: bob.pn };
  const send = (vote: proto.Message.IPollEncValue) =>
    whatsapp.deliver({ from: bob, message: { pollUpdateMessage: { pollCreationMessageKey: { id, remoteJid: whatsapp.me.pn, fromMe: false }, vote } } });
  await send(voteFor(["no"], { ...poll, secret: randomBytes(32) }));
  await send(voteFor(["yes"], poll));
  await send(voteFor([], { ...poll, voter: bob.lid }));
  await came(lab, 2);
  expect(lab.events.map(({ kind, text }) => [kind, text])).toEqual([
    ["notice", 'WhatsApp: Bob voted "yes" in the poll "Tea?"'],
    ["notice", 'WhatsApp: Bob withdrew the vote in the poll "Tea?"'],
  ]);
});

import { type BinaryNode, encodeWAMessage, proto, unpadRandomMax16 } from "baileys";
import { expect, test } from "vitest";
import { createDevice, type Encrypted, type FakeDevice } from "../../../test/fakes/whatsapp/device.ts";
import { loadLibrary, quietLogger } from "./library.ts";
import { createLane, createStoring } from "./storing.ts";

/** A repository with keys in memory, and the keys of a phone as the server hands them out. */
async function setUp() {
  const library = await loadLibrary();
  const stored = new Map<string, unknown>();
  const logger = quietLogger();
  const keys = library.addTransactionCapability(
    {
      get: async (type, ids) => Object.fromEntries(ids.flatMap((id) => (stored.has(`${type} ${id}`) ? [[id, stored.get(`${type} ${id}`)]] : []))) as never,
      async set(data) {
        for (const [type, entries] of Object.entries(data))
          for (const [id, value] of Object.entries(entries)) stored.set(`${type} ${id}`, structuredClone(value));
      },
    },
    logger,
    { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
  );
  const storing = createStoring({ library, lane: createLane(), store: async () => {} });
  const creds = library.initAuthCreds();
  const repository = storing.makeSignalRepository({ creds, keys }, logger, async () => undefined);
  const publicKey = (key: Uint8Array): Uint8Array => library.generateSignalPubKey(key);
  async function sessionWith(phone: FakeDevice) {
    const { registrationId, identity, signed, once } = await phone.bundle();
    return {
      registrationId,
      identityKey: publicKey(identity),
      signedPreKey: { keyId: signed.id, publicKey: publicKey(signed.value), signature: signed.signature },
      preKey: { keyId: once!.id, publicKey: publicKey(once!.value) },
    };
  }
  return { stored, keys, storing, repository, sessionWith };
}

const JID = "491701234567@s.whatsapp.net";
const ME = "15550001000:11@s.whatsapp.net";

test("a session that is used for the first time is stored before the transaction of the message that it is for ends", async () => {
  const { stored, keys, repository, sessionWith } = await setUp();
  const session = await sessionWith(createDevice());
  const states: unknown[] = [];
  await keys.transaction(async () => {
    await repository.injectE2ESession({ jid: JID, session });
    for (const text of ["one", "two"]) {
      expect(await repository.validateSession(JID)).toEqual({ exists: true });
      expect((await repository.encryptMessage({ jid: JID, data: Buffer.from(text) })).type).toBe("pkmsg");
      states.push(JSON.stringify(stored.get("session 491701234567.0")));
    }
  }, "own");
  expect(states[0]).toBeDefined();
  expect(states[1], "each message moves it on").not.toBe(states[0]);
});

test("keys that come while a message is sent make no second session with the same phone; those of another phone, or of a repeat, do", async () => {
  const { stored, storing, repository, sessionWith } = await setUp();
  const phone = createDevice();
  const state = (): string => JSON.stringify(stored.get("session 491701234567.0"));
  await storing.sending(async () => repository.injectE2ESession({ jid: JID, session: await sessionWith(phone) }));
  const first = state();
  expect(first).toContain("_sessions");
  await storing.sending(async () => repository.injectE2ESession({ jid: JID, session: await sessionWith(phone) }));
  expect(state(), "the same phone").toBe(first);
  await storing.sending(async () => repository.injectE2ESession({ jid: JID, session: await sessionWith(createDevice()) }));
  const second = state();
  expect(second, "another phone").not.toBe(first);
  await repository.injectE2ESession({ jid: JID, session: await sessionWith(phone) });
  expect(state(), "a repeat").not.toBe(second);
});

test("a message of an older session leaves the newer one as it was", async () => {
  const { repository, sessionWith } = await setUp();
  const phone = createDevice();
  const read = async (sealed: Encrypted): Promise<string> => {
    const plain = await repository.decryptMessage({ jid: JID, type: sealed.type, ciphertext: sealed.ciphertext });
    return proto.Message.decode(unpadRandomMax16(plain)).conversation ?? "";
  };
  const write = async (text: string): Promise<void> => {
    const { type, ciphertext } = await repository.encryptMessage({ jid: JID, data: encodeWAMessage({ conversation: text }) });
    const node: BinaryNode = { tag: "enc", attrs: { v: "2", type }, content: ciphertext };
    expect((await phone.decrypt(ME, node)).conversation).toBe(text);
  };
  const say = (conversation: string): Promise<Encrypted> => phone.encrypt(ME, { conversation }, () => Promise.reject(new Error("there is a session")) as never);
  await repository.injectE2ESession({ jid: JID, session: await sessionWith(phone) });
  await write("first session");
  expect(await read(await say("one"))).toBe("one");
  await write("still the first");
  const late = await say("late");
  await repository.injectE2ESession({ jid: JID, session: await sessionWith(phone) });
  await write("second session");
  const next = await say("next");
  expect(await read(late), "of the first session").toBe("late");
  expect(await read(next), "of the second session").toBe("next");
  await write("the second goes on");
});

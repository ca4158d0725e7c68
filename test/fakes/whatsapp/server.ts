/** WhatsApp as a linked device sees it: a WebSocket with Noise, Signal sessions, and a host for files. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { BufferJSON, Curve, getBinaryNodeChild, initAuthCreds, proto, type BinaryNode } from "baileys";
import { WebSocketServer } from "ws";
import { type Connection, openConnection } from "./connection.ts";
import type { FakeDevice } from "./device.ts";
import { type Letter, newId, stanzaFor, takeMessage } from "./mail.ts";
import { type MediaHost, startMediaHost } from "./media.ts";
import { createNoiseRoot } from "./noise.ts";
import { type Applicant, enterCode, greetApplicant, scan } from "./pairing.ts";
import { createWorld, jidOf, type LinkedDevice, lidOf, type Person, type World } from "./world.ts";

const PRELOAD = fileURLToPath(new URL("./preload.mjs", import.meta.url));
const AUTH = "media-auth-of-a-test";
const PRE_KEYS = 40;

export interface FakeWhatsApp extends AsyncDisposable {
  readonly url: string;
  /** For the environment of a process that is to talk to this server. */
  readonly env: Readonly<Record<string, string>>;
  /** The root in hexadecimal digits, for a process that sets it by itself. */
  readonly rootKey: string;
  readonly world: World;
  /** The person whose account is linked. */
  readonly me: Person;
  readonly media: MediaHost;
  /** Everything that clients sent, decrypted. */
  readonly stanzas: readonly BinaryNode[];
  readonly connections: number;
  /** How often a client finished its handshake: from then on it tells who it is. */
  readonly hellos: number;
  /** How often a device came while it was connected already. */
  readonly conflicts: number;
  /** A device that is linked already, as the files of its credentials folder. */
  linkedFiles(): Readonly<Record<string, string>>;
  /** Brings a message to the linked devices; later, where none is connected. */
  deliver(letter: Omit<Letter, "id"> & { readonly id?: string }): Promise<string>;
  /** They were written in this order, and arrive the last first. */
  deliverLastFirst(letters: readonly Omit<Letter, "id">[]): Promise<void>;
  /** The very bytes again. */
  replay(id: string): void;
  /** Sends any stanza to the devices that are connected. */
  push(stanza: BinaryNode): void;
  /** With another signer: a server that lies about whose phone agreed. */
  scan(text: string, signer?: FakeDevice): void;
  enterCode(code: string): void;
  /** Ends the connections with an error of the stream: 515, 401, 403, 411, 440, 500, 503. */
  kick(code: number): void;
  /** The device is removed on the phone. */
  unlink(): void;
  /** Breaks all connections. */
  drop(): void;
  down(): Promise<void>;
  up(): Promise<void>;
  /** The next message is taken, and the connection breaks before it is acknowledged. */
  loseReceipt(): void;
  /** The next message is neither taken nor acknowledged. */
  ignoreNext(): void;
  /** What clients send is taken so much later. */
  slow(ms: number): void;
  /** The next messages are refused with this error. */
  refuse(error: string | undefined): void;
  /** Nothing is answered any more. */
  hang(isHanging: boolean): void;
  /** Stanzas that linked devices have not acknowledged. */
  readonly pending: readonly BinaryNode[];
}

function streamError(code: number): BinaryNode {
  if (code === 440) return { tag: "stream:error", attrs: {}, content: [{ tag: "conflict", attrs: { type: "replaced" } }] };
  if (code === 401) return { tag: "stream:error", attrs: { code: "401" }, content: [{ tag: "conflict", attrs: { type: "device_removed" } }] };
  return { tag: "stream:error", attrs: { code: String(code) } };
}

/** Credentials as a client keeps them after it was linked. */
function makeLinked(owner: Person, number: number): { readonly device: LinkedDevice; readonly files: Record<string, string> } {
  const creds = initAuthCreds();
  const pairs = Array.from({ length: PRE_KEYS }, (_, at) => ({ id: at + 1, pair: Curve.generateKeyPair() }));
  const { signedIdentityKey, signedPreKey } = creds;
  const device: LinkedDevice = {
    owner,
    number,
    noiseKey: Buffer.from(creds.noiseKey.public),
    identity: signedIdentityKey.public,
    registrationId: creds.registrationId,
    signed: { id: signedPreKey.keyId, value: signedPreKey.keyPair.public, signature: signedPreKey.signature },
    preKeys: pairs.map(({ id, pair }) => ({ id, value: pair.public })),
    pending: [],
  };
  const phone = owner.phone.creds.signedIdentityKey;
  const details = proto.ADVDeviceIdentity.encode({ rawId: 7, timestamp: 1_700_000_000, keyIndex: number }).finish();
  const account = {
    details,
    accountSignatureKey: phone.public,
    accountSignature: Curve.sign(phone.private, Buffer.concat([Buffer.from([6, 0]), details, signedIdentityKey.public])),
    deviceSignature: Curve.sign(signedIdentityKey.private, Buffer.concat([Buffer.from([6, 1]), details, signedIdentityKey.public, phone.public])),
  };
  const stored = {
    ...creds,
    me: { id: jidOf(device), name: "Molty", lid: lidOf(device) },
    account,
    registered: true,
    platform: "android",
    nextPreKeyId: PRE_KEYS + 1,
    firstUnuploadedPreKeyId: PRE_KEYS + 1,
    accountSyncCounter: 1,
  };
  const text = (value: unknown): string => JSON.stringify(value, BufferJSON.replacer);
  return { device, files: { "creds.json": text(stored), ...Object.fromEntries(pairs.map(({ id, pair }) => [`pre-key-${id}.json`, text(pair)])) } };
}

export async function startWhatsApp(): Promise<FakeWhatsApp> {
  const world = createWorld();
  const root = createNoiseRoot();
  const media = await startMediaHost(AUTH);
  const me = world.person({ number: "15550001000", name: "Molty" });
  const live = new Set<Connection>();
  const stanzas: BinaryNode[] = [];
  const sent = new Map<string, BinaryNode>();
  let applicants: Applicant[] = [];
  let server: Server | undefined;
  let port = 0;
  /** Numbers are not given twice: phones know devices by them. */
  let lastDevice = 9;
  let conflicts = 0;
  let hellos = 0;
  let isLosing = false;
  let isIgnoring = false;
  let delayMs = 0;
  let isHanging = false;
  let refusal: string | undefined;

  const online = (device: LinkedDevice): Connection | undefined => [...live].find((one) => one.device === device && one.isOnline);

  /** A device that was removed knows it at once, or at its next login. */
  function remove(device: LinkedDevice): void {
    world.devices.splice(world.devices.indexOf(device), 1);
    online(device)?.end(streamError(401));
  }

  async function takeFromClient(connection: Connection, stanza: BinaryNode): Promise<void> {
    const { id = "", to = "" } = stanza.attrs;
    if (isIgnoring) {
      isIgnoring = false;
      return;
    }
    const error = refusal ?? (await takeMessage(world, connection, stanza));
    if (isLosing && error === undefined) {
      isLosing = false;
      return connection.reset();
    }
    const t = String(Math.floor(Date.now() / 1000));
    connection.send({ tag: "ack", attrs: { class: "message", id, from: to, t, ...(error === undefined ? {} : { error }) } });
    if (error === undefined && !to.endsWith("@g.us")) connection.send({ tag: "receipt", attrs: { from: to, id, t } });
  }

  function takeOther(connection: Connection, stanza: BinaryNode): void {
    const { device } = connection;
    const id = stanza.attrs["id"];
    if (device && (stanza.tag === "receipt" || (stanza.tag === "ack" && stanza.attrs["class"] === "message")) && stanza.attrs["type"] !== "read")
      device.pending = device.pending.filter(({ attrs }) => attrs["id"] !== id);
    const applicant = applicants.find((one) => one.connection === connection);
    if (!applicant || stanza.tag !== "iq") return;
    const reg = getBinaryNodeChild(stanza, "link_code_companion_reg");
    if (reg) {
      connection.send({ tag: "iq", attrs: { id: id!, from: "s.whatsapp.net", type: "result" } });
      if (reg.attrs["stage"] === "companion_hello") applicant.hello = stanza;
      else applicant.finish?.(getBinaryNodeChild(reg, "link_code_pairing_wrapped_key_bundle")!.content as Buffer);
    } else if (id === "pair-2" && applicant.device && getBinaryNodeChild(stanza, "pair-device-sign")) {
      world.devices.push(applicant.device);
      connection.end(streamError(515));
    }
  }

  async function compose(device: LinkedDevice, letter: Letter): Promise<BinaryNode> {
    const stanza = await stanzaFor(device, letter);
    sent.set(letter.id, stanza);
    device.pending.push(stanza);
    return stanza;
  }

  async function open(): Promise<void> {
    const sockets = new WebSocketServer({ noServer: true });
    server = createServer((_request, response) => response.writeHead(404).end());
    server.on("upgrade", (request, raw, head) =>
      sockets.handleUpgrade(request, raw, head, (socket) => {
        socket.on("error", () => undefined);
        const connection = openConnection(socket, {
          root,
          world,
          mediaHost: media.host,
          isHanging: () => isHanging,
          delayMs: () => delayMs,
          events: {
            greeted: () => (hellos += 1),
            registering: (one, payload, noiseKey) => void applicants.push(greetApplicant(one, noiseKey, payload)),
            online(one) {
              for (const other of live) {
                if (other === one || other.device !== one.device) continue;
                conflicts += 1;
                other.end(streamError(440));
              }
            },
            async message(one, stanza) {
              stanzas.push(stanza);
              await takeFromClient(one, stanza);
            },
            other(one, stanza) {
              stanzas.push(stanza);
              takeOther(one, stanza);
            },
            loggedOut: remove,
            closed(one) {
              live.delete(one);
              applicants = applicants.filter((applicant) => applicant.connection !== one);
            },
          },
        });
        live.add(connection);
      }),
    );
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }

  async function close(): Promise<void> {
    const closing = server;
    server = undefined;
    if (!closing) return;
    const closed = once(closing, "close");
    closing.close();
    for (const one of live) one.reset();
    closing.closeAllConnections();
    await closed;
  }

  await open();
  const rootKey = Buffer.from(root.keys.public).toString("hex");
  const url = `ws://127.0.0.1:${port}/ws/chat`;
  return {
    url,
    rootKey,
    env: {
      OPENCLAW_TEST_WHATSAPP_URL: url,
      OPENCLAW_TEST_WHATSAPP_ROOT: rootKey,
      NODE_OPTIONS: `--import=${PRELOAD}`,
      NODE_EXTRA_CA_CERTS: media.certPath,
    },
    world,
    me,
    media,
    stanzas,
    get hellos() {
      return hellos;
    },
    get connections() {
      return live.size;
    },
    get conflicts() {
      return conflicts;
    },
    get pending() {
      return world.devices.flatMap(({ pending }) => pending);
    },
    linkedFiles() {
      const { device, files } = makeLinked(me, (lastDevice += 1));
      world.devices.push(device);
      return files;
    },
    async deliver(letter) {
      const whole: Letter = { ...letter, id: letter.id ?? newId() };
      for (const device of world.devices) {
        const stanza = await compose(device, whole);
        online(device)?.send(stanza);
      }
      return whole.id;
    },
    async deliverLastFirst(letters) {
      for (const device of world.devices) {
        const stanzasOf: BinaryNode[] = [];
        for (const letter of letters) stanzasOf.push(await compose(device, { ...letter, id: newId() }));
        for (const stanza of stanzasOf.toReversed()) online(device)?.send(stanza);
      }
    },
    replay(id) {
      for (const one of live) one.send(sent.get(id)!);
    },
    push(stanza) {
      for (const one of live) one.send(stanza);
    },
    scan: (text, signer) => scan(world, me, applicants, text, signer),
    enterCode: (code) => enterCode(world, me, applicants, code),
    kick(code) {
      for (const one of live) one.end(streamError(code));
    },
    unlink() {
      for (const device of world.devices.slice()) remove(device);
    },
    drop() {
      for (const one of live) one.reset();
    },
    down: close,
    up: open,
    loseReceipt() {
      isLosing = true;
    },
    ignoreNext() {
      isIgnoring = true;
    },
    slow(ms) {
      delayMs = ms;
    },
    refuse(error) {
      refusal = error;
    },
    hang(next) {
      isHanging = next;
    },
    async [Symbol.asyncDispose]() {
      await close();
      await media[Symbol.asyncDispose]();
    },
  };
}

/** The server's side of WhatsApp's Noise XX handshake, and the encrypted frames after it. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { Curve, proto, type KeyPair } from "baileys";

const MODE = Buffer.from("Noise_XX_25519_AESGCM_SHA256\0\0\0\0");
/** `WA`, protocol 6, dictionary 3. */
const HEADER = Buffer.from([87, 65, 6, 3]);
/** What a client with routing information sends before the header: `ED`, a version, three bytes of length. */
const ROUTING_HEAD = 7;
const TAG_BYTES = 16;

/** The root that the fake's certificates are signed with. A test preload makes clients trust it. */
export interface NoiseRoot {
  readonly keys: KeyPair;
  readonly intermediate: KeyPair;
  readonly server: KeyPair;
  readonly chain: Uint8Array;
}

export function createNoiseRoot(): NoiseRoot {
  const [keys, intermediate, server] = [Curve.generateKeyPair(), Curve.generateKeyPair(), Curve.generateKeyPair()];
  const details = (key: Uint8Array, serial: number, issuerSerial: number): Uint8Array =>
    proto.CertChain.NoiseCertificate.Details.encode({ serial, issuerSerial, key }).finish();
  const middle = details(intermediate.public, 1, 0);
  const leaf = details(server.public, 2, 1);
  const chain = proto.CertChain.encode({
    intermediate: { details: middle, signature: Curve.sign(keys.private, middle) },
    leaf: { details: leaf, signature: Curve.sign(intermediate.private, leaf) },
  }).finish();
  return { keys, intermediate, server, chain };
}

function nonce(counter: number): Buffer {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(counter, 8);
  return iv;
}

function seal(key: Uint8Array, counter: number, plain: Uint8Array, bound: Uint8Array): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonce(counter)).setAAD(bound);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function unseal(key: Uint8Array, counter: number, sealed: Uint8Array, bound: Uint8Array): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce(counter)).setAAD(bound);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES)), decipher.final()]);
}

/** The running hash and key of a handshake. */
class Handshake {
  #hash: Buffer = MODE;
  #salt: Buffer = MODE;
  #key: Buffer = MODE;
  #counter = 0;

  bind(data: Uint8Array): void {
    this.#hash = createHash("sha256").update(this.#hash).update(data).digest();
  }

  #derive(secret: Uint8Array): readonly [Buffer, Buffer] {
    const bytes = Buffer.from(hkdfSync("sha256", secret, this.#salt, "", 64));
    return [bytes.subarray(0, 32), bytes.subarray(32)];
  }

  mix(secret: Uint8Array): void {
    [this.#salt, this.#key] = this.#derive(secret);
    this.#counter = 0;
  }

  seal(plain: Uint8Array): Buffer {
    const sealed = seal(this.#key, this.#counter++, plain, this.#hash);
    this.bind(sealed);
    return sealed;
  }

  unseal(sealed: Uint8Array): Buffer {
    const plain = unseal(this.#key, this.#counter++, sealed, this.#hash);
    this.bind(sealed);
    return plain;
  }

  /** The client writes with the first key and reads with the second. */
  split(): readonly [Buffer, Buffer] {
    return this.#derive(new Uint8Array(0));
  }
}

export interface ClientHello {
  readonly noiseKey: Buffer;
  readonly payload: proto.ClientPayload;
}

export interface NoiseServer {
  /** Bytes as they came from the socket. */
  read(data: Buffer): void;
  /** Frames a plain message, encrypted once the handshake is over. */
  write(data: Uint8Array): void;
}

export interface NoiseServerOptions {
  readonly root: NoiseRoot;
  send(bytes: Buffer): void;
  hello(hello: ClientHello): void;
  /** A decrypted frame. */
  frame(data: Buffer): void;
}

const NOTHING = Buffer.alloc(0);

export function createNoiseServer({ root, send, hello, frame }: NoiseServerOptions): NoiseServer {
  const handshake = new Handshake();
  const ephemeral = Curve.generateKeyPair();
  let state: "intro" | "hello" | "finish" | "open" = "intro";
  let buffered: Buffer = NOTHING;
  let keys = { read: NOTHING as Buffer, write: NOTHING as Buffer };
  let counters = { read: 0, write: 0 };

  function put(data: Uint8Array): void {
    const head = Buffer.alloc(3);
    head.writeUIntBE(data.length, 0, 3);
    send(Buffer.concat([head, data]));
  }

  function answerHello(data: Buffer): void {
    const { clientHello } = proto.HandshakeMessage.decode(data);
    const client = clientHello?.ephemeral;
    if (client?.length !== 32) throw new Error("clientHello without an ephemeral key");
    handshake.bind(HEADER);
    handshake.bind(client);
    handshake.bind(ephemeral.public);
    handshake.mix(Curve.sharedKey(ephemeral.private, client));
    const sealedStatic = handshake.seal(root.server.public);
    handshake.mix(Curve.sharedKey(root.server.private, client));
    const payload = handshake.seal(root.chain);
    put(proto.HandshakeMessage.encode({ serverHello: { ephemeral: ephemeral.public, static: sealedStatic, payload } }).finish());
    state = "finish";
  }

  function finish(data: Buffer): void {
    const { clientFinish } = proto.HandshakeMessage.decode(data);
    if (!clientFinish?.static || !clientFinish.payload) throw new Error("clientFinish without its parts");
    const noiseKey = handshake.unseal(clientFinish.static);
    handshake.mix(Curve.sharedKey(ephemeral.private, noiseKey));
    const payload = proto.ClientPayload.decode(handshake.unseal(clientFinish.payload));
    const [read, write] = handshake.split();
    keys = { read, write };
    state = "open";
    hello({ noiseKey, payload });
  }

  function intro(): boolean {
    const skip = buffered.subarray(0, 2).toString("latin1") === "ED" ? ROUTING_HEAD + buffered.readUIntBE(4, 3) : 0;
    if (buffered.length < skip + HEADER.length) return false;
    if (!buffered.subarray(skip, skip + HEADER.length).equals(HEADER)) throw new Error("not a WhatsApp client: the header is wrong");
    buffered = buffered.subarray(skip + HEADER.length);
    state = "hello";
    return true;
  }

  return {
    read(data) {
      buffered = Buffer.concat([buffered, data]);
      if (state === "intro" && !intro()) return;
      while (buffered.length >= 3 && buffered.length >= 3 + buffered.readUIntBE(0, 3)) {
        const size = buffered.readUIntBE(0, 3);
        const body = buffered.subarray(3, 3 + size);
        buffered = buffered.subarray(3 + size);
        if (state === "hello") answerHello(body);
        else if (state === "finish") finish(body);
        else frame(unseal(keys.read, counters.read++, body, NOTHING));
      }
    },
    write(data) {
      put(seal(keys.write, counters.write++, data, NOTHING));
    },
  };
}

/** The host that keeps encrypted files, over HTTPS, and the encryption that both sides use. */
import { spawnSync } from "node:child_process";
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OPENSSL = "openssl";

export type MediaKind = "Image" | "Video" | "Audio" | "Document";

/** What a message says of its file. */
export interface MediaFacts {
  readonly url: string;
  readonly directPath: string;
  readonly mediaKey: Buffer;
  readonly fileEncSha256: Buffer;
  readonly fileSha256: Buffer;
  readonly fileLength: number;
}

export interface MediaHost extends AsyncDisposable {
  /** `127.0.0.1:port`. */
  readonly host: string;
  /** A certificate that clients have to trust. */
  readonly certPath: string;
  /** Requests so far: method and path. */
  readonly asked: readonly string[];
  put(kind: MediaKind, data: Buffer): MediaFacts;
  get(kind: MediaKind, facts: { readonly directPath?: string | null; readonly mediaKey?: Uint8Array | null }): Buffer;
  /** Uploads fail until it is lifted. */
  refuse(isRefusing: boolean): void;
}

const sha256 = (data: Uint8Array): Buffer => createHash("sha256").update(data).digest();

function keysOf(mediaKey: Uint8Array, kind: MediaKind): { readonly iv: Buffer; readonly cipher: Buffer; readonly mac: Buffer } {
  const bytes = Buffer.from(hkdfSync("sha256", mediaKey, Buffer.alloc(0), `WhatsApp ${kind} Keys`, 112));
  return { iv: bytes.subarray(0, 16), cipher: bytes.subarray(16, 48), mac: bytes.subarray(48, 80) };
}

let certificate: { readonly key: Buffer; readonly cert: Buffer; readonly certPath: string } | undefined;

/** One for the whole process: making one takes longer than a test should. */
function certificateOf(): NonNullable<typeof certificate> {
  if (certificate) return certificate;
  const folder = mkdtempSync(join(tmpdir(), "openclaw-wa-cert-"));
  const [keyPath, certPath] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyPath];
  const made = spawnSync(OPENSSL, ["req", "-x509", ...key, "-out", certPath, "-days", "2", ...subject], { encoding: "utf8" });
  if (made.status !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`);
  certificate = { key: readFileSync(keyPath), cert: readFileSync(certPath), certPath };
  return certificate;
}

export async function startMediaHost(auth: string): Promise<MediaHost> {
  const files = new Map<string, Buffer>();
  const asked: string[] = [];
  let isRefusing = false;
  const { key, cert, certPath } = certificateOf();
  const server = createServer({ key, cert }, (request, response) => {
    void (async () => {
      const url = new URL(request.url ?? "/", "https://media");
      asked.push(`${request.method} ${url.pathname}`);
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (request.method !== "POST") {
        const file = files.get(url.pathname);
        response.writeHead(file ? 200 : 404).end(file ?? "");
        return;
      }
      const body = Buffer.concat(chunks);
      const name = /^\/mms\/\w+\/([\w-]+={0,2})$/.exec(decodeURIComponent(url.pathname))?.[1];
      const isRight = name !== undefined && url.searchParams.get("auth") === auth && sha256(body).toString("base64url") === name.replaceAll("=", "");
      if (isRefusing || !isRight) {
        response.writeHead(isRefusing ? 503 : 401).end("{}");
        return;
      }
      const directPath = `/v/t62/${name}`;
      files.set(directPath, body);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ url: `https://${host}${directPath}`, direct_path: directPath }));
    })().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    certPath,
    asked,
    put(kind, data) {
      const mediaKey = randomBytes(32);
      const { iv, cipher, mac } = keysOf(mediaKey, kind);
      const coder = createCipheriv("aes-256-cbc", cipher, iv);
      const sealed = Buffer.concat([coder.update(data), coder.final()]);
      const file = Buffer.concat([sealed, createHmac("sha256", mac).update(iv).update(sealed).digest().subarray(0, 10)]);
      const directPath = `/v/t62/${randomBytes(12).toString("hex")}`;
      files.set(directPath, file);
      return { url: `https://${host}${directPath}`, directPath, mediaKey, fileEncSha256: sha256(file), fileSha256: sha256(data), fileLength: data.length };
    },
    get(kind, { directPath, mediaKey }) {
      const file = files.get(directPath ?? "");
      if (!file || !mediaKey) throw new Error(`no file ${directPath}`);
      const { iv, cipher, mac } = keysOf(mediaKey, kind);
      const [sealed, tag] = [file.subarray(0, -10), file.subarray(-10)];
      if (!createHmac("sha256", mac).update(iv).update(sealed).digest().subarray(0, 10).equals(tag)) throw new Error("the file was changed on its way");
      const decoder = createDecipheriv("aes-256-cbc", cipher, iv);
      return Buffer.concat([decoder.update(sealed), decoder.final()]);
    },
    refuse(next) {
      isRefusing = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

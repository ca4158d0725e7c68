import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError, fileError, messageOf } from "../base/errors.ts";
import { ensureFolder } from "../base/files.ts";

export interface TlsSettings {
  readonly enabled?: boolean | undefined;
  readonly autoGenerate?: boolean | undefined;
  readonly certPath?: string | undefined;
  readonly keyPath?: string | undefined;
  readonly caPath?: string | undefined;
}

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  /** SHA-256 of the certificate, as `gateway.remote.tlsFingerprint` takes it. */
  readonly fingerprint: string;
}

export interface CertificateDeps {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names and addresses that a generated certificate is good for. */
  readonly names: readonly string[];
}

const VALID_DAYS = 3650;
const GENERATE_MS = 30_000;

function read(path: string, what: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fileError(path, `could not read the ${what} of gateway.tls`, error);
  }
}

/** A self-signed certificate, made by openssl: the key never leaves this machine, and clients pin its fingerprint. */
async function generate(certPath: string, keyPath: string, { names, env }: CertificateDeps): Promise<void> {
  const { run } = await import("../base/spawn.ts");
  const { chmodSync } = await import("node:fs");
  ensureFolder(dirname(certPath));
  ensureFolder(dirname(keyPath));
  const alternatives = names.map((name) => (/^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`)).join(",");
  const subject = ["-subj", "/CN=openclaw-gateway", "-addext", `subjectAltName=${alternatives}`];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyPath];
  const args = ["req", "-x509", ...key, "-out", certPath, "-days", String(VALID_DAYS), "-sha256", ...subject];
  const advice = "install openssl, or set your own files in gateway.tls.certPath and gateway.tls.keyPath";
  try {
    const { code, stderr } = await run("openssl", { args, env, timeoutMs: GENERATE_MS, maxOutputBytes: 65_536 });
    if (code !== 0) throw new AppError("UNAVAILABLE", stderr.trim());
    chmodSync(keyPath, 0o600);
  } catch (error) {
    throw new AppError("UNAVAILABLE", `could not create a certificate for gateway.tls: ${messageOf(error)}; ${advice}`, { cause: error });
  }
}

/** The certificate to serve with, made when there is none and that is allowed. */
export async function loadCertificate(tls: TlsSettings, deps: CertificateDeps): Promise<Certificate> {
  const certPath = tls.certPath ?? join(deps.stateDir, "gateway", "tls", "gateway-cert.pem");
  const keyPath = tls.keyPath ?? join(deps.stateDir, "gateway", "tls", "gateway-key.pem");
  if (!existsSync(certPath) && !existsSync(keyPath) && tls.autoGenerate !== false) await generate(certPath, keyPath, deps);
  const cert = read(certPath, "certificate");
  const key = read(keyPath, "key");
  const { X509Certificate } = await import("node:crypto");
  try {
    const fingerprint = new X509Certificate(cert).fingerprint256;
    return { cert, key, ...(tls.caPath ? { ca: read(tls.caPath, "authorities") } : {}), fingerprint };
  } catch (error) {
    throw new AppError("CONFIG_INVALID", `${certPath} is not a certificate in PEM form; check gateway.tls.certPath`, { cause: error });
  }
}

/** The Chrome extension as a folder that Chrome loads, with the port and the secret that it connects with. */
import { chmodSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import { browserExtensionFolder } from "../../base/program-folders.ts";
import { derivedPorts, type OpenClawConfig } from "../../config/index.ts";
import { relaySecret } from "./secret.ts";
import { addressPort } from "./address.ts";

export interface InstallDeps {
  readonly stateDir: string;
  readonly ids: Pick<Ids, "hex">;
  /** The port that the gateway listens on. */
  readonly gatewayPort: number;
  readonly config: OpenClawConfig;
  readonly profile: string;
}

export interface InstalledExtension {
  readonly path: string;
  readonly port: number;
  readonly secret: string;
}

export const extensionPath = (stateDir: string): string => join(stateDir, "browser", "chrome-extension");

/** Writes the extension; one that is there is replaced, its secret stays. Only the user of the gateway can read it. */
export function installExtension({ stateDir, ids, gatewayPort, config, profile }: InstallDeps): InstalledExtension {
  const source = browserExtensionFolder();
  if (source === undefined) throw new AppError("NOT_FOUND", "the extension is missing in this installation: install OpenClaw again");
  const port = addressPort(config.browser?.profiles?.[profile]?.cdpUrl) ?? derivedPorts(gatewayPort).extensionRelay;
  const path = extensionPath(stateDir);
  const secret = relaySecret(stateDir, ids);
  ensureFolder(path);
  chmodSync(path, 0o700);
  const write = (name: string, content: string | Uint8Array): void => {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeAtomic(file, content, { mode: 0o600, temporary: `${file}.${ids.hex(6)}.tmp` });
  };
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) write(join(entry.parentPath, entry.name).slice(source.length + 1), readFileSync(join(entry.parentPath, entry.name)));
  }
  write("connection.json", `${JSON.stringify({ port, secret })}\n`);
  return { path, port, secret };
}

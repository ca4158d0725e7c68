/** The folder of an account's credentials, in the format that other programs with the same library use. */
import { copyFile, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AuthenticationCreds, AuthenticationState, SignalDataSet, SignalKeyStore } from "baileys";
import { hopeless, type KitLog, messageOf } from "openclaw/plugin-sdk/channel-kit";
import type { Library } from "../session/library.ts";

const CREDS = "creds.json";
const BACKUP = "creds.json.bak";
/** What a folder of credentials may contain besides `creds.json`; nothing else is ever removed. */
const KEY_FILE =
  /^(?:pre-key|session|sender-key|sender-key-memory|app-state-sync-key|app-state-sync-version|lid-mapping|device-list|tctoken|identity-key)-.+\.json$/;

export interface CredentialFiles {
  readonly state: AuthenticationState;
  /** The credentials as they were at the start, damaged ones replaced by the copy. */
  saveCreds(): Promise<void>;
  /** Nothing more is written; resolves when everything is on the disk. What the library still does in the background must not meet a new login. */
  close(): Promise<void>;
}

const fileName = (name: string): string => name.replaceAll("/", "__").replaceAll(":", "-");

/** Whether a device was linked here. */
export const isLinked = (folder: string): boolean => existsSync(join(folder, CREDS)) || existsSync(join(folder, BACKUP));

/** One write after the other for each file, each in one step. */
export function createWriter(folder: string): { write(name: string, text: string | undefined): Promise<void>; idle(): Promise<void> } {
  const queues = new Map<string, Promise<void>>();
  let count = 0;

  async function replace(name: string, text: string | undefined): Promise<void> {
    const path = join(folder, name);
    if (text === undefined) return rm(path, { force: true });
    const temporary = `${path}.${process.pid}-${(count += 1)}.tmp`;
    try {
      const file = await open(temporary, "w", 0o600);
      try {
        await file.writeFile(text);
        await file.datasync();
      } finally {
        await file.close();
      }
      if (name === CREDS) await keepCopy(folder);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  return {
    write(name, text) {
      const before = queues.get(name) ?? Promise.resolve();
      const mine = before.catch(() => {}).then(() => replace(name, text));
      const settled = mine.catch(() => {}).finally(() => queues.get(name) === settled && queues.delete(name));
      queues.set(name, settled);
      return mine;
    },
    async idle() {
      while (queues.size > 0) await Promise.all(queues.values());
    },
  };
}

/** What stands there is good, or there would be no connection: it is the copy from now on. */
async function keepCopy(folder: string): Promise<void> {
  const path = join(folder, CREDS);
  if (!isWhole(await readText(path))) return;
  const temporary = join(folder, `${BACKUP}.${process.pid}.tmp`);
  await copyFile(path, temporary);
  await rename(temporary, join(folder, BACKUP));
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw hopeless(`the WhatsApp credentials in ${path} cannot be read (${messageOf(error)}); check the owner of the file`, "FILE_UNREADABLE");
  }
}

/** Credentials are an object with the keys of this device. */
function isWhole(text: string | undefined): text is string {
  try {
    const value = JSON.parse(text ?? "") as { noiseKey?: unknown; signedIdentityKey?: unknown };
    return typeof value === "object" && value !== null && value.noiseKey !== undefined && value.signedIdentityKey !== undefined;
  } catch {
    return false;
  }
}

async function loadCreds(folder: string, log: KitLog): Promise<string | undefined> {
  const text = await readText(join(folder, CREDS));
  if (isWhole(text)) return text;
  const copy = await readText(join(folder, BACKUP));
  if (isWhole(copy)) {
    log.warn(`${join(folder, CREDS)} is ${text === undefined ? "missing" : "damaged"}; using its backup`);
    if (text !== undefined) await rename(join(folder, CREDS), join(folder, `${CREDS}.damaged`));
    await copyFile(join(folder, BACKUP), join(folder, CREDS));
    return copy;
  }
  if (text === undefined) return undefined;
  throw hopeless(
    `the WhatsApp credentials in ${folder} are damaged and have no readable backup; link again: openclaw channels login --channel whatsapp`,
    "AUTH_DAMAGED",
  );
}

/** Opens a folder; undefined where no device was linked. */
export async function openCredentials(folder: string, library: Library, log: KitLog): Promise<CredentialFiles | undefined> {
  const { BufferJSON, proto } = library;
  const text = await loadCreds(folder, log);
  if (text === undefined) return undefined;
  const creds = JSON.parse(text, BufferJSON.reviver) as AuthenticationCreds;
  const writer = createWriter(folder);
  let isClosed = false;
  const write = async (name: string, value: string | undefined): Promise<void> => {
    if (!isClosed) await writer.write(name, value);
  };
  const stringify = (value: unknown): string => JSON.stringify(value, BufferJSON.replacer);

  async function read(type: string, id: string): Promise<unknown> {
    const name = fileName(`${type}-${id}.json`);
    const found = await readText(join(folder, name));
    if (found === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(found, BufferJSON.reviver);
      return type === "app-state-sync-key" && value ? proto.Message.AppStateSyncKeyData.fromObject(value) : value;
    } catch {
      // A session that cannot be read is made again with the next message.
      log.warn(`${join(folder, name)} is damaged and not used`);
      return undefined;
    }
  }

  const keys: SignalKeyStore = {
    async get(type, ids) {
      const found = await Promise.all(ids.map(async (id) => [id, await read(type, id)] as const));
      return Object.fromEntries(found.filter(([, value]) => value !== undefined && value !== null)) as never;
    },
    async set(data: SignalDataSet) {
      const changes = Object.entries(data).flatMap(([type, entries]) =>
        Object.entries(entries ?? {}).map(([id, value]) => ({ name: fileName(`${type}-${id}.json`), text: value ? stringify(value) : undefined })),
      );
      // A key that was used up goes when the session that was made with it is on the disk: killed in between, the session can be made again.
      await Promise.all(changes.filter(({ text }) => text !== undefined).map(({ name, text }) => write(name, text)));
      await Promise.all(changes.filter(({ text }) => text === undefined).map(({ name }) => write(name, undefined)));
    },
  };
  return {
    state: { creds, keys },
    saveCreds: () => write(CREDS, stringify(creds)),
    async close() {
      isClosed = true;
      await writer.idle();
    },
  };
}

/** Puts new credentials into the folder; what was there before is gone. */
export async function replaceCredentials(folder: string, creds: AuthenticationCreds, { BufferJSON }: Library): Promise<void> {
  await clearCredentials(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await createWriter(folder).write(CREDS, JSON.stringify(creds, BufferJSON.replacer));
}

/** Removes what belongs to a login, and nothing else. False: there was none. */
export async function clearCredentials(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  const ours = names.filter((name) => name === CREDS || name === BACKUP || name === `${CREDS}.damaged` || KEY_FILE.test(name));
  for (const name of ours) await rm(join(folder, name), { force: true });
  return ours.length > 0;
}

/** The account that is linked, without loading the library. */
export async function readSelf(folder: string): Promise<{ readonly id?: string; readonly lid?: string; readonly name?: string } | undefined> {
  try {
    const { me } = JSON.parse(await readFile(join(folder, CREDS), "utf8")) as { me?: { id?: string; lid?: string; name?: string } };
    return me;
  } catch {
    return undefined;
  }
}

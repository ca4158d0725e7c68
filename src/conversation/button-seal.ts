/**
 * The mark of buttons that the gateway itself made. A pressed button without it is plain text of the person who pressed it, never a command: models
 * write buttons, too, and what stands behind one is not shown to those who press it.
 */
import { createHmac } from "node:crypto";
import { equalSecrets } from "../base/equal-secrets.ts";
import type { Random } from "../base/random.ts";
import type { Store } from "../store/index.ts";

export interface ButtonSealDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly random: Pick<Random, "bytes">;
}

export interface ButtonSeal {
  /** The payload with the mark behind every command of its buttons. For payloads of the gateway and of plugins' commands only. */
  seal<T extends Buttoned>(payload: T): Promise<T>;
  /** The command of a button that carries the mark; undefined for every other text. */
  open(text: string): Promise<string | undefined>;
}

interface Buttoned {
  readonly channelData?: Record<string, unknown> | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const KEY = "buttons.key";
const MARK_BYTES = 8;
const SEALED = /^(\/[^]{1,3000})#([\w-]{11})$/;
/** Bytes that the mark adds to a command. */
export const SEAL_BYTES = 12;
const VALUES = ["callback_data", "callbackData", "data", "value"];

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const isKey = (value: unknown): value is string => typeof value === "string" && value !== "";
const markOf = (key: string, command: string): string => createHmac("sha256", key).update(command).digest().subarray(0, MARK_BYTES).toString("base64url");

export function createButtonSeal({ store, random }: ButtonSealDeps): ButtonSeal {
  /** Persisted: buttons are pressed after restarts, too. */
  async function loadKey(): Promise<string> {
    const found = await store.read("meta.get", { key: KEY });
    if (isKey(found)) return found;
    const made = random.bytes(32).toString("base64url");
    // Another part of the gateway may be making one at this moment: all use the one that was there first.
    const first = await store.write("meta.add", { key: KEY, value: made });
    if (isKey(first)) return first;
    await store.write("meta.set", { key: KEY, value: made });
    return made;
  }

  function sealedButton(button: unknown, key: string): unknown {
    if (!isFields(button)) return button;
    const name = VALUES.find((candidate) => typeof button[candidate] === "string");
    const command = name === undefined ? undefined : button[name];
    return name !== undefined && typeof command === "string" && command.startsWith("/") ? { ...button, [name]: `${command}#${markOf(key, command)}` } : button;
  }

  const sealedRows = (rows: unknown, key: string): unknown =>
    Array.isArray(rows) ? rows.map((row: unknown) => (Array.isArray(row) ? row.map((button) => sealedButton(button, key)) : sealedButton(row, key))) : rows;

  return {
    async seal(payload) {
      const entries = Object.entries(payload.channelData ?? {});
      if (!entries.some(([, data]) => isFields(data) && data["buttons"] !== undefined)) return payload;
      const key = await loadKey();
      const sealed = entries.map(([channel, data]) => [channel, isFields(data) ? { ...data, buttons: sealedRows(data["buttons"], key) } : data] as const);
      return { ...payload, channelData: Object.fromEntries(sealed) };
    },
    async open(text) {
      const [, command, mark] = SEALED.exec(text) ?? [];
      if (command === undefined || mark === undefined) return undefined;
      return equalSecrets(mark, markOf(await loadKey(), command)) ? command : undefined;
    },
  };
}

const FILE_PARAM = /^(?:media|path|filePath|file|image|icon|attachment|attachments|mediaUrl|mediaUrls|thumbnail|message|caption|buffer|quoteText)$/i;

function unsealedText(text: string): string {
  // Platforms drop what cannot be seen, and would give back a value that carries the mark.
  const seen = text.replaceAll(/[^\u0021-\u007e]/g, "");
  if (/^[[{]/.test(seen) && seen.includes("#")) {
    try {
      return JSON.stringify(withoutSeals(JSON.parse(text)));
    } catch {
      return text;
    }
  }
  return /^\/.*#[\w-]{11}/.test(seen) ? text.slice(0, text.indexOf("#")) : text;
}

/** What a model hands to a channel, without marks that it may have read below a message of the gateway. */
export function withoutSeals<T>(value: T, name = ""): T {
  if (typeof value === "string") return FILE_PARAM.test(name) ? value : (unsealedText(value) as T);
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSeals(item, name)) as T;
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutSeals(item, key)])) as T;
}

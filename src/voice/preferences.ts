/** What people chose in chats and pages: `<state>/settings/tts.json`, which wins over the configuration. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileError, systemCode } from "../base/errors.ts";
import { ensureFolder, writeAtomic } from "../base/files.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import { isRecord } from "../base/records.ts";
import { AUTO_MODES, SPEAKERS, type AutoMode, type SpeakerId } from "./types.ts";

export interface Preferences {
  readonly auto?: AutoMode | undefined;
  readonly provider?: SpeakerId | undefined;
  /** Characters above which an answer is summed up before it is spoken. */
  readonly maxLength?: number | undefined;
  readonly summarize?: boolean | undefined;
}

export interface PreferencesFile {
  readonly path: () => string;
  read(): Preferences;
  /** What else stands in the file stays. */
  change(changed: Preferences): void;
}

function oneOf<T extends string>(known: readonly T[], value: unknown): T | undefined {
  return known.find((one) => one === value);
}

function preferencesIn(content: unknown): Preferences {
  const tts = isRecord(content) && isRecord(content["tts"]) ? content["tts"] : {};
  return {
    auto: oneOf(AUTO_MODES, tts["auto"]) ?? (typeof tts["enabled"] === "boolean" ? (tts["enabled"] ? "always" : "off") : undefined),
    provider: oneOf(SPEAKERS, tts["provider"]),
    maxLength: typeof tts["maxLength"] === "number" && tts["maxLength"] >= 1 ? Math.floor(tts["maxLength"]) : undefined,
    summarize: typeof tts["summarize"] === "boolean" ? tts["summarize"] : undefined,
  };
}

export function openPreferences(path: () => string, { ids, log }: { readonly ids: Pick<Ids, "hex">; readonly log: Pick<Logger, "warn"> }): PreferencesFile {
  let complainedAbout: string | undefined;

  function load(): unknown {
    const file = path();
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      if (systemCode(error) === "ENOENT") return {};
      throw fileError(file, "could not read the speech settings", error);
    }
    try {
      return JSON.parse(text);
    } catch {
      if (complainedAbout !== text) log.warn(`${file} is not JSON and is ignored; fix or delete it`);
      complainedAbout = text;
      return undefined;
    }
  }

  return {
    path,
    read: () => preferencesIn(load()),
    change(changed) {
      const file = path();
      const content = load();
      const before = isRecord(content) ? content : {};
      const tts = { ...(isRecord(before["tts"]) ? before["tts"] : {}), ...changed };
      ensureFolder(dirname(file));
      writeAtomic(file, `${JSON.stringify({ ...before, tts }, null, 2)}\n`, { mode: 0o600, temporary: `${file}.${ids.hex(4)}.tmp` });
    },
  };
}

/** Canvases on disk, so that a restart shows what was shown. */
import { isRecord } from "../../base/records.ts";
import type { A2uiMessage } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";
import type { CanvasTarget } from "./paths.ts";

/** What a session shows. */
export interface SavedCanvas {
  readonly visible: boolean;
  readonly target: CanvasTarget;
  readonly revision: number;
  readonly messages: readonly A2uiMessage[];
}

export interface SavedCanvases {
  load(sessionKey: string): Promise<SavedCanvas | undefined>;
  /** Resolves when it is on disk. */
  save(sessionKey: string, canvas: SavedCanvas): Promise<void>;
}

const INDEX = "canvas.sessions";
const MOST_SESSIONS = 100;
const nameOf = (sessionKey: string): string => `canvas.shown.${sessionKey}`;

function targetOf(value: unknown): CanvasTarget | undefined {
  if (!isRecord(value)) return undefined;
  if (value["kind"] === "a2ui") return { kind: "a2ui" };
  return value["kind"] === "file" && typeof value["path"] === "string" ? { kind: "file", path: value["path"] } : undefined;
}

/** The sessions that changed last are kept; of the others nothing is. */
export function createSavedCanvases(store: Pick<Store, "read" | "commit">): SavedCanvases {
  let last: Promise<unknown> = Promise.resolve();

  async function write(sessionKey: string, canvas: SavedCanvas): Promise<void> {
    const listed = await store.read("meta.get", { key: INDEX });
    const before = Array.isArray(listed) ? listed.filter((key): key is string => typeof key === "string" && key !== sessionKey) : [];
    const keys = [...before, sessionKey];
    const gone = keys.slice(0, Math.max(0, keys.length - MOST_SESSIONS));
    await store.commit([
      ["meta.set", { key: nameOf(sessionKey), value: canvas }],
      ["meta.set", { key: INDEX, value: keys.slice(gone.length) }],
      ...gone.map((key) => ["meta.set", { key: nameOf(key), value: null }] as const),
    ]);
  }

  return {
    async load(sessionKey) {
      const value = await store.read("meta.get", { key: nameOf(sessionKey) });
      const target = isRecord(value) ? targetOf(value["target"]) : undefined;
      if (!isRecord(value) || !target || !Array.isArray(value["messages"])) return undefined;
      const revision = typeof value["revision"] === "number" ? value["revision"] : 0;
      return { visible: value["visible"] === true, target, revision, messages: value["messages"] as readonly A2uiMessage[] };
    },
    save(sessionKey, canvas) {
      const saving = last.then(() => write(sessionKey, canvas));
      last = saving.catch(() => undefined);
      return saving;
    },
  };
}

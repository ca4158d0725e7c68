import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { parseDocument } from "../../config/index.ts";
import { readInventory, type InventoryOptions } from "./index.ts";

const SCHEMA = { type: "object", additionalProperties: false, properties: { port: { type: "number" }, key: { type: "string" } } };
/** The text of an entry file that must not be loaded. */
export const CANARY = `throw new Error("no code may be loaded");`;

/** A made-up installation. Every entry file would throw if it were loaded. */
export function fixture() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-inventory-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const places = {
    bundled: join(root, "bundled"),
    workspace: join(root, "work/.openclaw/extensions"),
    global: join(root, "state/extensions"),
    config: join(root, "more"),
  };
  const write = (path: string, content: unknown): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  return {
    root,
    places,
    write,
    /** A plugin with a manifest and an entry file. */
    plugin(origin: keyof typeof places, id: string, manifest: object = {}, folder = id): string {
      const path = join(places[origin].slice(root.length + 1), folder);
      write(join(path, "openclaw.plugin.json"), { id, configSchema: SCHEMA, ...manifest });
      write(join(path, "index.ts"), CANARY);
      return join(root, path);
    },
    read(config: unknown = {}, over: Partial<InventoryOptions> = {}) {
      const document = parseDocument(typeof config === "string" ? config : JSON.stringify(config), "openclaw.json");
      const locate: InventoryOptions["locate"] = (path) => {
        for (let length = path.length; ; length -= 1) {
          const position = document.locate(path.slice(0, length));
          if (position) return { file: "openclaw.json", ...position };
        }
      };
      return readInventory({
        config: document.value,
        stateDir: join(root, "state"),
        workspaceDir: join(root, "work"),
        bundledDir: places.bundled,
        env: {},
        home: root,
        cwd: root,
        uid: process.getuid?.(),
        locate,
        ...over,
      });
    },
  };
}

/** One line per plugin. */
export const states = (inventory: Awaited<ReturnType<typeof readInventory>>) =>
  inventory.entries.map(({ id, origin, enabled, reason }) => `${origin} ${id} ${enabled ? "on" : "off"}${reason === undefined ? "" : `: ${reason}`}`);
/** Diagnostics, of one code when it is given. */
export const remarks = (inventory: Awaited<ReturnType<typeof readInventory>>, code?: string) =>
  inventory.diagnostics.filter((diagnostic) => code === undefined || diagnostic.code === code);

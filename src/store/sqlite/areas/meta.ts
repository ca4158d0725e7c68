import { AppError } from "../../../base/errors.ts";
import type { ImportRow, MetaReads, MetaWrites } from "../../areas/meta.ts";
import { fromJson, shapeAll, toJson, type ReadHandlers, type WriteHandlers } from "../handlers.ts";

function checkName(key: string): void {
  if (key.startsWith("store.")) throw new AppError("INVALID_INPUT", `the name ${key} is the store's own; choose one that does not start with "store."`);
}

const READ = "SELECT value FROM meta WHERE key = ?";

export const metaWrites = {
  "meta.set"({ sql }, { key, value }) {
    checkName(key);
    const json = toJson(value);
    if (json === null) sql("DELETE FROM meta WHERE key = ?").run(key);
    else sql("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(key, json);
  },
  "meta.add"({ sql }, { key, value }) {
    checkName(key);
    sql("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING").run(key, toJson(value));
    return fromJson(sql(READ).get(key)?.["value"]);
  },
} satisfies WriteHandlers<MetaWrites>;

export const metaReads = {
  "meta.get": ({ sql }, { key }) => fromJson(sql(READ).get(key)?.["value"]),
  "imports.list": ({ sql }) => shapeAll<ImportRow>(sql("SELECT source, size, mtime, state, detail, at FROM imports ORDER BY source").all(), ["detail"]),
} satisfies ReadHandlers<MetaReads>;

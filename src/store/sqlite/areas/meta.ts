import { AppError } from "../../../base/errors.ts";
import type { ImportRow, MetaReads, MetaWrites } from "../../areas/meta.ts";
import { fromJson, shapeAll, toJson, type ReadHandlers, type WriteHandlers } from "../handlers.ts";

export const metaWrites = {
  "meta.set"({ sql }, { key, value }) {
    if (key.startsWith("store.")) throw new AppError("INVALID_INPUT", `the name ${key} is the store's own; choose one that does not start with "store."`);
    const json = toJson(value);
    if (json === null) sql("DELETE FROM meta WHERE key = ?").run(key);
    else sql("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(key, json);
  },
} satisfies WriteHandlers<MetaWrites>;

export const metaReads = {
  "meta.get": ({ sql }, { key }) => fromJson(sql("SELECT value FROM meta WHERE key = ?").get(key)?.["value"]),
  "imports.list": ({ sql }) => shapeAll<ImportRow>(sql("SELECT source, size, mtime, state, detail, at FROM imports ORDER BY source").all(), ["detail"]),
} satisfies ReadHandlers<MetaReads>;

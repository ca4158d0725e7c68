import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { METHODS } from "../../src/protocol/index.ts";
import { isAction } from "../../ui/src/link/actions.ts";
import { ROOT } from "../harness/gateway-process.ts";

/** They change something and are not sent again by themselves: they have keys or repeats of their own, hold secrets, or end with the connection. */
const ALONE = [
  "backup.restore",
  "canvas.action",
  "canvas.invoke",
  "chat.abort",
  "chat.send",
  "chat.steer",
  "device.token.rotate",
  "login.code",
  "node.invoke",
  "update.check",
  "update.restart",
  "web.login.start",
];

const effects = Object.entries(METHODS).flatMap(([name, { effect }]) => (effect ? [name] : []));

function requested(): ReadonlySet<string> {
  const folder = join(ROOT, "ui/src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts") && !/\.(?:test|fixture)\.ts$/.test(path));
  return new Set(files.flatMap((path) => [...readFileSync(join(folder, path), "utf8").matchAll(/request\(\s*"([\w.]+)"/g)].map(([, name]) => name!)));
}

test("whatever the page changes is sent again under its key when the connection is lost, but for what is listed here", () => {
  const asked = requested();
  expect(effects.filter((name) => asked.has(name) && !isAction(name)).toSorted()).toEqual(ALONE.toSorted());
});

test("nothing that only reads, or that the gateway does not know, is listed as a change", () => {
  const asked = requested();
  const reads = Object.keys(METHODS).filter((name) => isAction(name) && !effects.includes(name));
  expect(reads).toEqual([]);
  expect([...asked].filter((name) => isAction(name) && !Object.hasOwn(METHODS, name))).toEqual([]);
});

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { detach, isolate } from "./view.ts";

type Data = Record<string, unknown>;

/** Nested plain data, larger than what is copied eagerly. */
const data = () => fc.object({ maxDepth: 4, maxKeys: 12, withNullPrototype: true, withSparseArray: false }) as fc.Arbitrary<Data>;
const json = (value: unknown): string => JSON.stringify(value);

/** Changes everything reachable, in many ways. */
function ruin(value: unknown, depth = 0): void {
  if (typeof value !== "object" || value === null || depth > 8) return;
  for (const key of Object.keys(value)) ruin((value as Data)[key], depth + 1);
  if (Array.isArray(value)) {
    value.reverse();
    value.push("more");
    value.splice(0, 1, "other");
    value.length = Math.max(0, value.length - 1);
    return;
  }
  for (const key of Object.keys(value)) {
    if (key.length % 2 === 0) delete (value as Data)[key];
    else (value as Data)[key] = "changed";
  }
  Object.defineProperty(value, "defined", { value: 1, enumerable: true, configurable: true });
  Object.assign(value, { assigned: [1] });
}

test("changing a view never changes its source or other views", () => {
  fc.assert(
    fc.property(data(), (source) => {
      const before = json(source);
      const other = isolate(source);
      const mine = isolate(source);
      ruin(mine);
      expect(json(source)).toBe(before);
      expect(json(other)).toBe(before);
      Object.freeze(isolate(source));
      expect(json(source)).toBe(before);
    }),
  );
});

test("a view reads like its source: keys, spread, JSON, lists and their methods", () => {
  fc.assert(
    fc.property(data(), fc.array(data(), { maxLength: 20 }), (record, list) => {
      const view = isolate({ record, list });
      expect(Object.keys(view.record)).toEqual(Object.keys(record));
      expect({ ...view.record }).toEqual({ ...record });
      expect(Object.entries(view.record)).toEqual(Object.entries(record));
      expect(json(view)).toBe(json({ record, list }));
      expect(Array.isArray(view.list)).toBe(true);
      expect(view.list.length).toBe(list.length);
      expect([...view.list]).toEqual(list);
      const seen: unknown[] = [];
      for (const item of view.list) seen.push(item);
      expect(seen).toEqual(list);
      expect(view.list.map((item) => json(item))).toEqual(list.map((item) => json(item)));
      expect(view.list.slice(1)).toEqual(list.slice(1));
      expect(view.list.concat([{ end: 1 }])).toEqual(list.concat([{ end: 1 }]));
      expect(view.list.filter((_, index) => index % 2 === 0)).toEqual(list.filter((_, index) => index % 2 === 0));
      expect(0 in view.list).toBe(0 in list);
    }),
  );
});

test("a changed view behaves like a changed copy", () => {
  fc.assert(
    fc.property(fc.array(data(), { minLength: 1, maxLength: 20 }), fc.nat(19), (list, at) => {
      const copy = structuredClone(list);
      const view = isolate(list);
      for (const mine of [copy, view]) {
        const item = mine[at % mine.length]!;
        item["note"] = { by: "handler" };
        mine.push({ last: true });
        mine.splice(at % mine.length, 1);
        mine.unshift({ first: true });
        mine.sort((a, b) => json(a).length - json(b).length);
      }
      expect(json(view)).toBe(json(copy));
      expect(json(detach(view))).toBe(json(copy));
    }),
  );
});

test("what is assigned is what is read", () => {
  const view = isolate({ nested: { a: { b: 1 } }, list: [{ c: 1 }] });
  const own = { mine: true };
  (view.nested as Data)["own"] = own;
  (view.list as unknown[])[0] = own;
  expect((view.nested as Data)["own"]).toBe(own);
  expect(view.list[0]).toBe(own);
  expect(view.nested.a).toBe(view.nested.a);
  view.list.length = 0;
  expect([view.list[0], view.list.length]).toEqual([undefined, 0]);
});

test("an object that inherits from a view keeps its own changes", () => {
  const view = isolate({ nested: { a: { b: 1 } } });
  const child = Object.create(view.nested) as Data;
  child["added"] = 1;
  expect([Object.keys(child), "added" in view.nested]).toEqual([["added"], false]);
});

test("of a history of 10,000 messages only accessed parts are copied", () => {
  let touched = 0;
  const history = Array.from({ length: 10_000 }, (_, index) => {
    const text = `message ${index}`;
    return Object.defineProperty({ role: "user" } as { role: string; content: { text: string }[] }, "content", {
      enumerable: true,
      get: () => ((touched += 1), [{ text }]),
    });
  });
  const view = isolate({ history }).history;
  expect([view.length, touched]).toEqual([10_000, 0]);
  expect(view.at(-1)!.content[0]!.text).toBe("message 9999");
  expect(touched).toBeLessThan(5);
  view.push({ role: "user", content: [{ text: "mine" }] });
  const kept = detach(view);
  expect([kept.length, history.length]).toEqual([10_001, 10_000]);
  expect(kept[17]).toBe(history[17]);
  expect(touched).toBeLessThan(10);
});

test("instances, functions, buffers, dates and signals are passed unchanged", () => {
  class Thing {
    value = 1;
  }
  const values = {
    thing: new Thing(),
    call: () => 1,
    buffer: Buffer.from("x"),
    date: new Date(0),
    signal: new AbortController().signal,
    map: new Map(),
    error: new Error("x"),
  };
  const view = isolate({ values: { ...values, deep: { values } } });
  for (const key of Object.keys(values) as (keyof typeof values)[]) {
    expect(view.values[key], key).toBe(values[key]);
    expect(view.values.deep.values[key], key).toBe(values[key]);
  }
});

test("small flat data is copied eagerly, and can be cloned and posted", () => {
  const params = isolate({ query: "x", count: 1 });
  expect(structuredClone(params)).toEqual({ query: "x", count: 1 });
  expect(structuredClone(isolate(["a", "b"]))).toEqual(["a", "b"]);
});

test("a result is detached from its handler's objects", () => {
  const event = isolate({ message: { role: "user", content: [{ text: "a" }] } });
  event.message.content[0]!.text = "b";
  const mine = { list: [1] };
  const result = { message: event.message, untouched: isolate({ deep: { x: { y: 1 } } }), mine };
  const detached = detach(result);
  mine.list.push(2);
  event.message.content[0]!.text = "c";
  expect(detached).toEqual({ message: { role: "user", content: [{ text: "b" }] }, untouched: { deep: { x: { y: 1 } } }, mine: { list: [1] } });
  expect(structuredClone(detached)).toEqual(detached);
});

test("a cyclic result is refused", () => {
  const loop: Data = {};
  loop["loop"] = loop;
  expect(() => detach(loop)).toThrow("contains itself");
});

test("a key named __proto__ stays a key", () => {
  const source = JSON.parse('{"params":{"__proto__":{"polluted":true},"deep":{"x":1}}}') as { params: Data };
  const view = isolate(source);
  view.params["deep"] = 1;
  const detached = detach(view);
  expect(Object.keys(detached.params)).toEqual(["__proto__", "deep"]);
  expect((detached.params as { polluted?: unknown }).polluted).toBeUndefined();
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

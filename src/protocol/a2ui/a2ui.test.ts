import { describe, expect, test } from "vitest";
import { createA2uiModel, parseJsonl, parseMessage, readPath } from "./index.ts";

const jsonl = (...messages: readonly unknown[]): string => messages.map((message) => JSON.stringify(message)).join("\n");
const text = (id: string, shown: unknown, version: "0.8" | "0.9") =>
  version === "0.8" ? { id, component: { Text: { text: shown, usageHint: "h1" } } } : { id, component: "Text", text: shown, variant: "h1" };

const OLD = [
  { surfaceUpdate: { surfaceId: "s", components: [text("root", { path: "/title" }, "0.8")] } },
  {
    dataModelUpdate: {
      surfaceId: "s",
      contents: [
        { key: "title", valueString: "Hello" },
        { key: "deep", valueMap: [{ key: "on", valueBoolean: true }] },
      ],
    },
  },
  { beginRendering: { surfaceId: "s", root: "root", styles: { primaryColor: "#aa0000" } } },
];
const NEW = [
  { version: "v0.9", createSurface: { surfaceId: "s", catalogId: "basic", theme: { primaryColor: "#aa0000" } } },
  { version: "v0.9", updateComponents: { surfaceId: "s", components: [text("root", { path: "/title" }, "0.9")] } },
  { version: "v0.9", updateDataModel: { surfaceId: "s", value: { title: "Hello", deep: { on: true } } } },
];
const LATEST = [
  {
    version: "v1.0",
    createSurface: {
      surfaceId: "s",
      theme: { primaryColor: "#aa0000" },
      components: [text("root", { path: "/title" }, "0.9")],
      dataModel: { title: "Hello", deep: { on: true } },
    },
  },
];

function applied(...messages: readonly unknown[]) {
  const model = createA2uiModel();
  model.apply(parseJsonl(jsonl(...messages)));
  return model;
}

test.each([
  ["0.8", OLD],
  ["0.9", NEW],
  ["1.0", LATEST],
])("messages of %s make the same surface as those of the others", (_, messages) => {
  const surface = applied(...messages).surfaces.get("s")!;
  expect([surface.root, surface.color, surface.data]).toEqual(["root", "#aa0000", { title: "Hello", deep: { on: true } }]);
  expect(surface.components.get("root")).toEqual({ id: "root", type: "Text", properties: { text: { path: "/title" }, variant: "h1" } });
});

test("a model made of a model's messages is the same", () => {
  const model = applied(...OLD, { surfaceUpdate: { surfaceId: "other", components: [text("a", { literalString: "x" }, "0.8")] } });
  const again = createA2uiModel();
  again.apply(model.toMessages());
  expect([...again.surfaces.values()]).toEqual([...model.surfaces.values()]);
});

test("data is written, merged and removed by path, and an input's first value never replaces one that is there", () => {
  const field = (initial: string) => ({
    id: "f",
    component: { TextField: { label: { literalString: "F" }, text: { path: "/form/name", literalString: initial } } },
  });
  const model = applied({ surfaceUpdate: { surfaceId: "s", components: [field("Ada")] } });
  const data = (): unknown => model.surfaces.get("s")!.data;
  expect(data()).toEqual({ form: { name: "Ada" } });
  model.apply(parseMessage({ surfaceUpdate: { surfaceId: "s", components: [field("Grace")] } }));
  model.apply(parseMessage({ dataModelUpdate: { surfaceId: "s", path: "/form", contents: [{ key: "age", valueNumber: 7 }] } }));
  expect(data()).toEqual({ form: { name: "Ada", age: 7 } });
  model.apply(parseMessage({ updateDataModel: { surfaceId: "s", path: "/form/age" } }));
  model.write("s", "/list", ["a", "b"]);
  model.write("s", "/list/1", "c");
  expect(data()).toEqual({ form: { name: "Ada" }, list: ["a", "c"] });
  expect([readPath(data(), "/list/1"), readPath(data(), "/toString"), readPath(data(), "/list/length")]).toEqual(["c", undefined, 2]);
});

describe("what is wrong is named with its line, its place and what was expected", () => {
  test.each<readonly [string, readonly unknown[], string]>([
    ["no JSON", ["x"], "line 1: message: expected an object"],
    ["no message", [{ hello: {} }], "line 1: message: expected exactly one of beginRendering, surfaceUpdate"],
    ["two messages in one", [{ deleteSurface: { surfaceId: "s" }, beginRendering: {} }], "line 1: message: expected exactly one of"],
    ["a surface without an id", [OLD[0], { surfaceUpdate: { components: [] } }], "line 2: surfaceUpdate.surfaceId: expected a text, got nothing"],
    [
      "an unknown component",
      [{ surfaceUpdate: { surfaceId: "s", components: [{ id: "a", component: { Script: {} } }] } }],
      "components[0].component: expected one of Text, Image",
    ],
    [
      "a missing property",
      [{ surfaceUpdate: { surfaceId: "s", components: [{ id: "a", component: { Card: {} } }] } }],
      "components[0].child: expected what Card needs, got nothing",
    ],
    [
      "an unknown property",
      [{ updateComponents: { surfaceId: "s", components: [{ id: "a", component: "Text", text: "x", onclick: "x" }] } }],
      "components[0].onclick: expected a property of Text (text, variant)",
    ],
    [
      "a wrong choice",
      [{ updateComponents: { surfaceId: "s", components: [{ id: "a", component: "Text", text: "x", variant: "h9" }] } }],
      'expected one of h1, h2, h3, h4, h5, caption, body, got "h9"',
    ],
    [
      "a function",
      [{ updateComponents: { surfaceId: "s", components: [{ id: "a", component: "Text", text: { call: "now" } }] } }],
      "functions are not available here",
    ],
    ["an unknown version", [{ version: "v7", deleteSurface: { surfaceId: "s" } }], 'line 1: version: expected a version such as "v0.9", got "v7"'],
    [
      "a colour that is more",
      [{ beginRendering: { surfaceId: "s", root: "a", styles: { primaryColor: "red; background: url(//x)" } } }],
      "expected a colour such as #1a73e8",
    ],
    ["a prototype in data", [{ dataModelUpdate: { surfaceId: "s", contents: [{ key: "__proto__", valueMap: [] }] } }], "expected another name"],
    ["nothing", [], "expected at least one A2UI message"],
  ])("%s", (_, messages, expected) => {
    expect(() => parseJsonl(jsonl(...messages))).toThrow(expected);
  });

  test("a surface that was never created, a path into a prototype, and more than is held", () => {
    expect(() => applied({ updateDataModel: { surfaceId: "s", path: "/a", value: 1 } })).toThrow('there is no surface "s"; send createSurface first');
    expect(() => applied(...NEW, { updateDataModel: { surfaceId: "s", path: "/__proto__/polluted", value: 1 } })).toThrow("a path may not contain");
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const many = Array.from({ length: 60 }, (_, at) => ({ beginRendering: { surfaceId: `s${at}`, root: "r" } }));
    expect(() => applied(...many)).toThrow("there are already 50 surfaces, the maximum");
    expect(() => parseJsonl("x".repeat(1_000_001))).toThrow("expected at most 1000000 characters");
    expect(() => parseJsonl("{")).toThrow(/^line 1: expected one JSON object, got "\{"/);
  });
});

describe("more than a canvas holds is refused", () => {
  const texts = (from: number, count: number) => Array.from({ length: count }, (_, at) => text(`c${from + at}`, "x", "0.9"));
  const update = (from: number, count: number) => ({ updateComponents: { surfaceId: "s", components: texts(from, count) } });
  const nested = (levels: number): object => (levels === 0 ? { key: "k", valueString: "v" } : { key: "k", valueMap: [nested(levels - 1)] });

  test.each<readonly [string, readonly unknown[], string]>([
    ["components in one message", [update(0, 2001)], "expected at most 2000 components, got 2001"],
    ["components on one surface", [NEW[0], update(0, 2000), update(2000, 2000), update(4000, 1001)], "expected at most 5000 components on the surface s"],
    ["levels of data", [{ dataModelUpdate: { surfaceId: "s", contents: [nested(34)] } }], "expected at most 32 levels"],
    ["a name", [{ deleteSurface: { surfaceId: "s".repeat(201) } }], "expected at most 200 characters"],
  ])("%s", (_, messages, expected) => {
    expect(() => applied(...messages)).toThrow(expected);
  });

  test("lines of one push, and data of one surface over several pushes", () => {
    expect(() => parseJsonl("\n".repeat(5000))).toThrow("expected at most 5000 lines of A2UI messages, got 5001");
    const model = applied(NEW[0]);
    const half = (path: string) => parseMessage({ updateDataModel: { surfaceId: "s", path, value: "x".repeat(600_000) } });
    model.apply(half("/a"));
    expect(() => model.apply(half("/b"))).toThrow("expected at most 1000000 characters of data on the surface s");
    expect(Object.keys(model.surfaces.get("s")!.data as object)).toEqual(["a"]);
  });
});

describe("a tree", () => {
  const column = (id: string, ...children: string[]) => ({ id, component: "Column", children });
  const push = (...components: object[]) => {
    const model = createA2uiModel();
    model.apply(
      parseJsonl(jsonl({ version: "v0.9", createSurface: { surfaceId: "s" } }, { version: "v0.9", updateComponents: { surfaceId: "s", components } })),
    );
    return model;
  };

  test("of components that contain each other is refused, with the way around", () => {
    expect(() => push(column("root", "a"), column("a", "b"), column("b", "root"))).toThrow("components contain each other (root → a → b → root)");
    expect(() => push(column("root", "root"))).toThrow("contain each other (root → root)");
    const tabs = { id: "a", component: "Tabs", tabs: [{ title: "t", child: "card" }] };
    expect(() => push(tabs, { id: "card", component: "Card", child: "a" })).toThrow("contain each other");
    const list = { id: "l", component: "List", children: { componentId: "l", path: "/items" } };
    expect(() => push(list)).toThrow("contain each other");
  });

  test("that becomes a circle later changes nothing", () => {
    const model = push(column("root", "a"), column("a"));
    const later = parseJsonl(jsonl({ version: "v0.9", updateComponents: { surfaceId: "s", components: [column("a", "root")] } }));
    expect(() => model.apply(later)).toThrow("contain each other");
    expect(model.surfaces.get("s")?.components.get("a")?.properties["children"]).toEqual([]);
  });

  test("that is deeper or larger than anyone can draw is refused; a component that is shown twice is not", () => {
    const row = Array.from({ length: 70 }, (_, at) => column(`c${at}`, `c${at + 1}`));
    expect(() => push(...row)).toThrow("nested deeper than 60");
    expect(() => push(...row.toReversed())).toThrow("nested deeper than 60");
    const doubling = Array.from({ length: 40 }, (_, at) => column(`c${at}`, `c${at + 1}`, `c${at + 1}`));
    expect(() => push(...doubling)).toThrow("more than 20000 components");
    expect(push(column("root", "a", "a"), column("a")).surfaces.get("s")?.components.size).toBe(2);
  });
});

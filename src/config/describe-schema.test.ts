import { describe, expect, test } from "vitest";
import { describeSchema, type DescribedSections } from "./describe-schema.ts";

const VOICE = {
  type: "object",
  properties: {
    rate: { type: "number", description: "How fast." },
    pins: { type: "array", items: { type: "object", properties: { code: { type: "string" } } } },
  },
};
const sections: DescribedSections = {
  channels: {
    tree: {
      $ref: "#/definitions/node",
      definitions: { node: { type: "object", properties: { child: { $ref: "#/definitions/node" }, leaf: { type: "string" } } } },
    },
  },
  plugins: { "my.voice": VOICE },
  unchecked: { channels: { coded: { type: "object", properties: { song: { type: "string" } } }, off: { type: "object" } }, plugins: { silent: VOICE } },
  secrets: [["plugins", "entries", "my.voice", "config", "pins", "[]", "code"]],
  texts: [
    {
      kind: "plugins",
      id: "my.voice",
      label: "My voice",
      help: "Speaks.",
      hints: {
        rate: { label: "Rate of speech", placeholder: "1.5", order: 2, advanced: true, group: "Elsewhere", sensitive: "yes" },
        "pins[].code": { label: "", sensitive: false },
        pins: { itemTemplate: { code: "" } },
        wrong: "a text",
        unlisted: { label: "Not there" },
        "deep.sauce": { sensitive: true },
      },
    },
    { kind: "channels", id: "coded", label: "Coded" },
    { kind: "channels", id: "nobody", label: "Nobody", hints: { key: { sensitive: true } } },
  ],
};
const { schema, hints, hash } = await describeSchema(sections);

test("areas have a group and a place in it; keys of a plugin cannot choose theirs", () => {
  const groups = ["agents", "channels", "gateway", "wizard"].map((key) => hints[key]?.group);
  expect(groups).toEqual(["Answering", "Conversations", "Gateway", "Other"]);
  expect(hints["agents"]!.order!).toBeLessThan(hints["gateway"]!.order!);
  expect(hints["$schema"]).not.toHaveProperty("group");
  expect(hints["plugins.entries.my.voice.config.rate"]).not.toHaveProperty("group");
});

describe("a plugin's section", () => {
  test("is called by the plugin's name and stands among the plugins", () => {
    expect(hints["plugins.entries.my.voice"]).toMatchObject({ label: "My voice", help: "Speaks.", group: "Plugins" });
    expect(hints["plugins.entries.my.voice.config"]).toMatchObject({ label: "Settings" });
  });

  test("takes from its hints what has the right form", () => {
    expect(hints["plugins.entries.my.voice.config.rate"]).toEqual({ label: "Rate of speech", help: "How fast.", placeholder: "1.5", order: 2, advanced: true });
    expect(hints["plugins.entries.my.voice.config.pins"]).toMatchObject({ itemTemplate: { code: "" } });
    expect(hints).not.toHaveProperty(["plugins.entries.my.voice.config.wrong"]);
  });

  test("what is a secret stays one whatever a hint says", () => {
    expect(hints["plugins.entries.my.voice.config.pins[].code"]).toEqual({ label: "Code", sensitive: true });
  });

  test("a key that the schema does not list is there only to be hidden", () => {
    expect(hints).not.toHaveProperty(["plugins.entries.my.voice.config.unlisted"]);
    expect(hints["plugins.entries.my.voice.config.deep.sauce"]).toEqual({ label: "Sauce", sensitive: true });
  });

  test("is not there for a plugin that is off", () => {
    expect(Object.keys(hints).filter((path) => path.includes("silent") || path.startsWith("channels.off"))).toEqual([]);
  });
});

describe("a channel's section", () => {
  test("is there when only its code describes it, and has its name", () => {
    expect(schema.properties?.["channels"]).toMatchObject({ properties: { coded: { properties: { song: {} } } } });
    expect(hints["channels.coded"]).toMatchObject({ label: "Coded", group: "Channels" });
    expect(Object.keys(hints).filter((path) => path.startsWith("channels.nobody"))).toEqual([]);
  });

  test("is described through its references, one that holds itself as well", () => {
    expect(hints).toHaveProperty(["channels.tree.child.leaf"]);
    expect(Object.keys(hints).filter((path) => path.startsWith("channels.tree.")).length).toBeLessThan(10);
  });
});

test("a schema without end is described as far as anybody reads", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `n${at}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }]));
  const definitions = Object.fromEntries(names.map((name) => [name, { type: "object", properties }]));
  const { hints: many } = await describeSchema({ channels: { maze: { type: "object", properties, definitions } } });
  expect(Object.keys(many).length).toBeLessThanOrEqual(8000);
  expect(many).toHaveProperty(["store.url"]);
});

test("the hash is the same for the same, and another one for another text", async () => {
  expect((await describeSchema(sections)).hash).toBe(hash);
  const [first, ...rest] = sections.texts!;
  expect((await describeSchema({ ...sections, texts: [{ ...first!, label: "His voice" }, ...rest] })).hash).not.toBe(hash);
});

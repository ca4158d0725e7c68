import { describe as group, expect, test } from "vitest";
import { readJson5 } from "../model/json5.ts";
import type { Hints } from "../model/hints.ts";
import type { SchemaNode } from "../model/shape.ts";
import { describe } from "./describe.ts";
import { editFor } from "./insert.ts";
import type { KnownIds } from "./known-ids.ts";
import { placeAt } from "./position.ts";
import { suggestionsAt } from "./suggest.ts";
import { readTree } from "./tree.ts";

const text = (description = "") => ({ type: "string", description });
const flag = { type: "boolean" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, additionalProperties: false, ...more });
const secret = {
  anyOf: [
    { type: "string" },
    object({ source: { const: "env" }, id: text() }, { required: ["source", "id"] }),
    object({ source: { const: "file" }, path: text(), key: text() }, { required: ["source", "path"] }),
  ],
};
const model = { anyOf: [text(), object({ primary: text(), fallbacks: { type: "array", items: text() } })] };

const schema: SchemaNode = {
  definitions: { "channel-chirp": object({ nest: text("Where it sits."), mode: { enum: ["poll", "push"] } }) },
  ...object({
    gateway: object({
      port: { type: "integer", exclusiveMinimum: 0 },
      mode: { type: "string", enum: ["local", "remote"] },
      bind: { type: "string", enum: ["auto", "lan", "loopback"] },
      customBindHost: text(),
      trustedProxies: { type: "array", items: text() },
      auth: object({ token: secret }),
      controlUi: object({ enabled: flag }),
      reload: object({ mode: { type: "string", enum: ["off", "restart", "hot", "hybrid"] } }),
    }),
    agents: object({
      defaults: object({ model, models: { type: "object", additionalProperties: object({ alias: text() }) } }),
      list: { type: "array", items: object({ id: text(), model }) },
    }),
    bindings: { type: "array", items: object({ agentId: text(), match: object({ channel: text() }) }) },
    tools: object({ deny: { type: "array", items: text() } }),
    cron: object({ enabled: flag }),
    channels: object({ chirp: { $ref: "#/definitions/channel-chirp" } }, { additionalProperties: {} }),
    plugins: object({
      entries: { type: "object", properties: { weather: object({ enabled: flag, config: object({ city: { type: "string", default: "Oslo" } }) }) } },
    }),
  }),
};
const hints: Hints = {
  gateway: { label: "Gateway" },
  "gateway.port": { label: "Port", help: "Port it\n listens on." },
  "gateway.reload": { label: "Reload" },
  "gateway.auth": { label: "Auth" },
  "gateway.auth.token": { label: "Token", sensitive: true },
  channels: { label: "Channels" },
  "channels.chirp": { label: "Chirp" },
};
const facts = { schema, hints, used: { gateway: { port: 18789, mode: "remote", auth: { token: "x" } } }, base: { gateway: { mode: "remote" } } };
const ids: KnownIds = {
  agent: [{ id: "main", about: "Claw" }],
  model: [{ id: "acme/one", about: "Acme One" }],
  channel: [{ id: "chirp", about: "Chirp" }],
  tool: [{ id: "exec", about: "Runs a command." }],
};

function look(marked: string, over: Partial<typeof facts> = {}) {
  const offset = marked.indexOf("|");
  const written = marked.slice(0, offset) + marked.slice(offset + 1);
  const tree = readTree(written);
  const place = placeAt(written, tree, offset);
  const value = readJson5(marked.replace("|", "null"))?.value ?? {};
  const input = { ...facts, ...over, ids, value };
  const choices = place ? suggestionsAt(input, place) : [];
  const take = (label: string): string => {
    const suggestion = choices.find((one) => one.label === label);
    if (!suggestion || !place) throw new Error(`${label} is not among ${choices.map((one) => one.label).join(", ")}`);
    const edit = editFor(suggestion, place, written, { tree, schema: input.schema });
    const after = written.slice(0, edit.from) + edit.text + written.slice(edit.to);
    return `${after.slice(0, edit.cursor)}|${after.slice(edit.cursor)}`;
  };
  return { labels: choices.map(({ label }) => label), choices, take };
}

group("keys", () => {
  test("those that may stand there are offered with type, default and help; those that are there are left out", () => {
    const { labels, choices } = look('{ gateway: { bind: "lan", | } }');
    expect(labels).toContain("port");
    expect(labels).not.toContain("bind");
    expect(choices.find(({ label }) => label === "port")).toMatchObject({ detail: "whole number > 0", fallback: "18789", help: "Port it listens on." });
  });

  test("sections of channels and plugins come from their manifests", () => {
    expect(look("{ channels: { | } }").labels).toContain("chirp");
    expect(look("{ channels: { chirp: { | } } }").labels).toEqual(["nest", "mode"]);
    expect(look("{ plugins: { entries: { weather: { config: { | } } } } }").choices).toMatchObject([{ label: "city", fallback: '"Oslo"' }]);
  });

  test("what the file in use sets is no default, and neither is what is hidden", () => {
    const fallback = (key: string) => look("{ gateway: { | } }").choices.find(({ label }) => label === key)?.fallback;
    expect([fallback("port"), fallback("mode"), fallback("auth")]).toEqual(["18789", undefined, undefined]);
    expect(look("{ gateway: { mode: | } }").choices.map(({ detail }) => detail)).toEqual(["", ""]);
  });

  test("a word narrows them: beginnings first, then parts of a name", () => {
    expect(look("{ gateway: { po| } }").labels[0]).toBe("port");
    expect(look("{ gateway: { proxies| } }").labels).toEqual(["trustedProxies"]);
    expect(look("{ gateway: { nothinglikeit| } }").labels).toEqual([]);
  });

  test("what an object says already decides which of its alternatives it is", () => {
    expect(look('{ gateway: { auth: { token: { source: "env", | } } } }').labels).toEqual(["id"]);
    expect(look('{ gateway: { auth: { token: { source: "file", | } } } }').labels).toEqual(expect.arrayContaining(["path", "key"]));
  });

  test("a map by model offers the models that are known", () => {
    expect(look("{ agents: { defaults: { models: { | } } } }").labels).toContain("acme/one");
  });
});

group("values", () => {
  test("listed values, switches, and the default", () => {
    expect(look("{ gateway: { mode: | } }").labels).toEqual(['"local"', '"remote"']);
    expect(look("{ gateway: { controlUi: { enabled: | } } }").labels).toEqual(["true", "false"]);
    expect(look("{ gateway: { port: | } }").choices).toMatchObject([{ label: "18789", detail: "default" }]);
    expect(look('{ gateway: { bind: "l|" } }').labels).toEqual(['"lan"', '"loopback"']);
  });

  test("ids: of the gateway, and of the text itself", () => {
    expect(look('{ agents: { list: [{ id: "ops" }] }, bindings: [{ agentId: | }] }').labels).toEqual(['"ops"', '"main"']);
    expect(look("{ agents: { defaults: { model: { primary: | } } } }").labels).toContain('"acme/one"');
    expect(look("{ bindings: [{ match: { channel: | } }] }").labels).toContain('"chirp"');
    expect(look('{ tools: { deny: ["read", |] } }').labels).toContain('"exec"');
    expect(look('{ tools: { deny: ["exec", |] } }').labels).not.toContain('"exec"');
  });
});

group("what is put in", () => {
  test("has the commas, quotes and depth of the file", () => {
    expect(look("{\n  gateway: {\n    port: 1,\n    mo|\n  },\n}\n").take("mode")).toBe("{\n  gateway: {\n    port: 1,\n    mode: |,\n  },\n}\n");
    expect(look('{\n  "gateway": {\n    "port": 1\n    |\n  }\n}\n').take("mode")).toBe('{\n  "gateway": {\n    "port": 1,\n    "mode": |\n  }\n}\n');
    expect(look("{'gateway':{'port':1,|}}").take("mode")).toBe("{'gateway':{'port':1,'mode':|}}");
    expect(look("{\n  |\n  gateway: {},\n}\n").take("cron")).toBe("{\n  cron: {\n    |\n  },\n  gateway: {},\n}\n");
    expect(look("{\n\tgateway: {\n\t\t|\n\t},\n}\n").take("auth")).toBe("{\n\tgateway: {\n\t\tauth: {\n\t\t\t|\n\t\t},\n\t},\n}\n");
    expect(look("{ gateway: { | } }").take("auth")).toBe("{ gateway: { auth: {|} } }");
    expect(look("{ gateway: { | } }").take("trustedProxies")).toBe("{ gateway: { trustedProxies: [|] } }");
    expect(look("{ gateway: { | } }").take("customBindHost")).toBe('{ gateway: { customBindHost: "|" } }');
    expect(look("{ agents: { defaults: { models: { | } } } }").take("acme/one")).toBe('{ agents: { defaults: { models: { "acme/one": {|} } } } }');
  });

  test("a name that is there is replaced, with its value left alone", () => {
    expect(look("{ gateway: { pr|: 1, mode: 2 } }", {}).labels.length).toBeGreaterThan(0);
    expect(look("{ gateway: { por|: 1, mode: 2 } }").take("port")).toBe("{ gateway: { port|: 1, mode: 2 } }");
    expect(look('{ gateway: { "por|": 1 } }').take("port")).toBe('{ gateway: { "port"|: 1 } }');
  });

  test("values take the place of what is there, in the quotes of the file", () => {
    expect(look('{ gateway: { mode: "re|" } }').take('"remote"')).toBe('{ gateway: { mode: "remote"| } }');
    expect(look("{ gateway: { bind: 'lan', mode: | } }").take('"remote"')).toBe("{ gateway: { bind: 'lan', mode: 'remote'| } }");
    expect(look("{ gateway: { mode: | bind: 1 } }").take('"local"')).toBe('{ gateway: { mode: "local"|, bind: 1 } }');
    expect(look('{ tools: { deny: ["read" |] } }').take('"exec"')).toBe('{ tools: { deny: ["read", "exec"|] } }');
    expect(look("|").take("{}")).toBe("{\n  |\n}");
  });
});

test("a description has path, help, type, default, values and what restarts", () => {
  const changed: Hints = {
    ...hints,
    gateway: { ...hints["gateway"], change: { kind: "restart", does: "The gateway restarts." } },
    "gateway.reload": { ...hints["gateway.reload"], change: { kind: "none", does: "x" } },
    "channels.chirp": { ...hints["channels.chirp"], change: { kind: "hot", does: "The channel chirp reconnects." } },
  };
  const about = (...path: string[]) => describe({ ...facts, hints: changed }, path, false);
  expect(about("gateway", "port")).toMatchObject({
    path: "gateway.port",
    help: "Port it\n listens on.",
    type: "whole number > 0",
    fallback: "18789",
    change: "The gateway restarts.",
  });
  expect(about("gateway", "reload", "mode")).toMatchObject({
    values: ['"off"', '"restart"', '"hot"', '"hybrid"'],
    change: expect.stringMatching(/nothing restarts/),
  });
  expect(about("channels", "chirp", "nest")).toMatchObject({ help: "Where it sits.", change: "The channel chirp reconnects." });
  expect(about("gateway", "auth", "token")).toMatchObject({ secret: true, fallback: undefined });
  expect(about("nothing", "like", "it")).toBeUndefined();
});

test("a schema that holds itself, or never ends, is described all the same", () => {
  const endless: SchemaNode = {
    definitions: { loop: { type: "object", properties: { next: { $ref: "#/definitions/loop" } }, anyOf: [{ $ref: "#/definitions/loop" }] } },
    properties: { loop: { $ref: "#/definitions/loop" } },
  };
  expect(look("{ loop: { next: { next: { | } } } }", { schema: endless }).labels).toEqual(["next"]);
});

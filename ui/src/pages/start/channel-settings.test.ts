import { expect, test } from "vitest";
import { enteredIn, fieldsFor, gatewayAddress, stepsFor, valueOf } from "./channel-settings.ts";
import type { SetupStatus } from "./outcome.ts";

const isHttp = { path: "mode", is: "http" };
const isSocket = { path: "mode", is: "socket" };
const CHANNEL: SetupStatus["channels"][number] = {
  id: "slack",
  label: "Slack",
  configured: false,
  enabled: false,
  steps: [
    {
      text: "Paste it",
      copy: [
        { text: "socket", when: isSocket },
        { text: "{gateway}{webhookPath}", when: isHttp },
      ],
    },
    { text: "Copy the secret", when: isHttp },
  ],
  fields: [
    {
      path: "mode",
      label: "Delivery",
      secret: false,
      required: false,
      choices: [
        { value: "socket", label: "Socket" },
        { value: "http", label: "HTTP" },
      ],
    },
    { path: "appToken", label: "App token", secret: true, required: true, when: isSocket },
    { path: "signingSecret", label: "Signing secret", secret: true, required: true, when: isHttp },
    { path: "webhookPath", label: "Path", secret: false, required: false, placeholder: "/slack/events", when: isHttp },
  ],
};
const paths = (values: Record<string, string>, channel = CHANNEL) => fieldsFor(channel, values).map(({ path }) => path);

test("fields and steps follow the choice; what was entered for another one is not sent", () => {
  expect(paths({})).toEqual(["mode", "appToken"]);
  expect(paths({ mode: "http" })).toEqual(["mode", "signingSecret", "webhookPath"]);
  expect(enteredIn(CHANNEL, { mode: "http", appToken: "xapp-1", signingSecret: "s", webhookPath: " " })).toEqual({ mode: "http", signingSecret: "s" });
  expect(stepsFor(CHANNEL, {}, "https://x")).toEqual([{ text: "Paste it", copy: [{ text: "socket" }] }]);
});

test("what is set counts until something else is chosen", () => {
  const set = { ...CHANNEL, fields: CHANNEL.fields.map((field) => (field.path === "mode" ? { ...field, value: "http" } : field)) };
  expect([valueOf(set, {}, "mode"), valueOf(set, { mode: "socket" }, "mode"), valueOf(CHANNEL, {}, "mode")]).toEqual(["http", "socket", "socket"]);
  expect(paths({}, set)).toContain("signingSecret");
});

test("texts to paste have the entered path, and the page's own address where a platform can reach it", () => {
  const pasted = (values: Record<string, string>, address: string) => {
    const { protocol, hostname, origin } = new URL(address);
    return stepsFor(CHANNEL, { mode: "http", ...values }, gatewayAddress({ protocol, hostname, origin }))[0]!.copy![0]!.text;
  };
  expect(pasted({}, "https://claw.example.com/start")).toBe("https://claw.example.com/slack/events");
  expect(pasted({ webhookPath: "/hooks" }, "https://claw.example.com:8443")).toBe("https://claw.example.com:8443/hooks");
  for (const local of ["http://claw.example.com", "https://localhost:18789", "https://127.0.0.1", "https://mac.local"])
    expect(pasted({}, local)).toBe("https://gateway.example/slack/events");
});

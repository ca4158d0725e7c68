import { expect, test } from "vitest";
import { formatIssue, validateConfig } from "../index.ts";

const OPS = { channel: "telegram", to: "1" };
const found = (exec: object): string[] => validateConfig({ channels: { telegram: {} }, approvals: { exec } }).map(formatIssue);

test("approval forwarding without a recipient is reported as soon as it is enabled", () => {
  const none = "needs approvals.exec.targets: no chat is named, so";
  expect(found({ enabled: true, mode: "targets" })).toEqual([`approvals.exec.mode: "targets" ${none} none is asked`]);
  expect(found({ enabled: true, mode: "both", targets: [] })).toEqual([`approvals.exec.mode: "both" ${none} only the requesting chat is asked`]);
  expect(found({ enabled: true, mode: "targets", targets: [OPS, { channel: "slack", to: "2" }] })).toEqual([
    "approvals.exec.targets[1].channel: channels.slack is not configured: this chat is not asked",
  ]);
  for (const exec of [{ mode: "targets" }, { enabled: true }, { enabled: true, mode: "targets", targets: [OPS] }]) expect(found(exec)).toEqual([]);
});

test("a filter that is no regular expression is reported", () => {
  expect(found({ sessionFilter: [":direct:", "^agent:main:", "("] })).toEqual([
    'approvals.exec.sessionFilter[2]: "(" is not a regular expression; it only matches keys that contain exactly these characters',
  ]);
});

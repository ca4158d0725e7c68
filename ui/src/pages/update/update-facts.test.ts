import { expect, test } from "vitest";
import { availability, type UpdateStatus } from "./update-facts.ts";

const git = { branch: "main", commit: "abc", subject: "", dirty: false, upstream: "origin/main", behind: 0, ahead: 0, fetchedAtMs: 1, incoming: [] };
const status = (over: Partial<UpdateStatus>): UpdateStatus => ({
  version: "1.0.0",
  node: "26",
  startedAtMs: 1,
  install: "checkout",
  root: "/app",
  onDisk: "1.0.0",
  isStale: false,
  isService: false,
  git,
  changes: [],
  commands: [],
  restartCommand: "",
  problem: null,
  ...over,
});

test("what is not known is said to be not known", () => {
  expect(availability(status({ git: null, install: "package" })).text).toMatch(/not known/);
  expect(availability(status({ git: { ...git, upstream: null, behind: null } })).text).toMatch(/no upstream/);
  expect(availability(status({ git: { ...git, fetchedAtMs: null } })).text).toMatch(/^Not fetched yet/);
});

test("newer commits and newer builds are named, and nothing else is called up to date", () => {
  expect(availability(status({ git: { ...git, behind: 3 } })).text).toBe("3 newer commits are available.");
  expect(availability(status({ isStale: true })).tone).toBe("warn");
  expect(availability(status({}))).toEqual({ tone: "good", text: "Up to date with origin/main." });
});

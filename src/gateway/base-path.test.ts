import { expect, test } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { basePathOf, below, checkBasePath, restOf } from "./base-path.ts";

const at = (basePath?: string, enabled?: boolean): OpenClawConfig => ({
  gateway: { controlUi: { ...(basePath === undefined ? {} : { basePath }), ...(enabled === undefined ? {} : { enabled }) } },
});

test("the page is at the root unless the configuration says otherwise, however the slashes are written", () => {
  expect(basePathOf({})).toBe("/");
  for (const given of ["", "/", "//", " / "]) expect(basePathOf(at(given))).toBe("/");
  for (const given of ["claw", "/claw", "/claw/", " claw/ "]) expect(basePathOf(at(given))).toBe("/claw");
  expect(basePathOf(at("/a b/ż"))).toBe("/a b/ż");
  expect(basePathOf(at("/claw", false))).toBeUndefined();
});

test.each(["/a/../b", "/a//b", "/a?b", "/a#b", "/a%2fb", "/a\\b", "/v1", "/HOOKS/x", "/tools/", "/api", "/__openclaw__/x", "/health", "/\ud800", "/a\nb"])(
  "%j is no place for pages: the start is refused, and nothing is served there",
  (given) => {
    expect(() => checkBasePath(at(given))).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("basePath") }));
    expect(basePathOf(at(given))).toBeUndefined();
    expect(() => checkBasePath(at(given, false))).not.toThrow();
  },
);

test("what is asked for below the base", () => {
  expect([below("/", "x"), below("/claw", "x")]).toEqual(["/x", "/claw/x"]);
  expect(["/", "/chat", "/a/b"].map((path) => restOf("/", path))).toEqual(["", "chat", "a/b"]);
  expect(["/claw", "/claw/", "/claw/a", "/clawx", "/", "/other"].map((path) => restOf("/claw", path))).toEqual(["", "", "a", undefined, undefined, undefined]);
});

test.each(["/v1", "/V1/models", "/v1;x", "/v1.json", "/tools/x", "/hooks", "/api/x", "/HEALTH", "/healthz/", "/.well-known/x", "/slack/events"])(
  "%s belongs to programs, not to pages",
  (path) => {
    expect(restOf("/", path)).toBeUndefined();
  },
);

test.each(["/v1chat", "/toolshed", "/healthy", "/apix", "/hooks-page", "/api_x"])("%s is a page like any other", (path) => {
  expect(restOf("/", path)).toBe(path.slice(1));
});

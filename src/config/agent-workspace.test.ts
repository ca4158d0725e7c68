import { expect, test } from "vitest";
import { defaultAgentId } from "./index.ts";

test("the default agent is the one marked so, else the first, else main", () => {
  const of = (...list: readonly { readonly id: string; readonly default?: boolean }[]) => defaultAgentId({ agents: { list: [...list] } });
  expect(of({ id: "home" }, { id: "work", default: true })).toBe("work");
  expect(of({ id: "home" }, { id: "work", default: false })).toBe("home");
  expect([of(), defaultAgentId({}), defaultAgentId({ agents: {} })]).toEqual(["main", "main", "main"]);
  expect(of({ id: " Home " })).toBe("home");
});
